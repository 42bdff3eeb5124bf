//! Agent names and the type that a name tells.

use crate::domain::value::AgentType;

/// Names that give their own type, by the word at the start of an agent's name.
const TYPED: [(&str, AgentType); 6] = [
    ("claude", AgentType::Claude),
    ("codex", AgentType::Codex),
    ("cursor", AgentType::Cursor),
    ("cline", AgentType::Cline),
    ("aider", AgentType::Aider),
    ("other", AgentType::Other),
];

/// Further coding agents: known not to be people, without a type of their own.
const OTHER_AGENTS: [&str; 8] =
    ["gemini", "copilot", "opencode", "qwen", "windsurf", "devin", "amp", "goose"];

/// Every word that stands for a coding agent, with its type.
pub fn known() -> impl Iterator<Item = (&'static str, AgentType)> {
    let others = OTHER_AGENTS.into_iter().map(|word| (word, AgentType::Other));
    TYPED.into_iter().chain(others)
}

/// The type that the name of an agent tells: the word at its start, in any case, alone or
/// followed by a non-letter. Every name that starts with no known word is a person's.
pub fn infer_type(name: &str) -> AgentType {
    let first_word: String = name
        .trim()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    let typed = TYPED.iter().find(|(word, _)| *word == first_word).map(|(_, agent)| *agent);
    match typed {
        Some(agent) => agent,
        None if OTHER_AGENTS.contains(&first_word.as_str()) => AgentType::Other,
        None => AgentType::Human,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_gives_the_type() {
        let cases = [
            ("claude", AgentType::Claude),
            ("Claude Code", AgentType::Claude),
            ("  CLAUDE-opus ", AgentType::Claude),
            ("codex-reviewer", AgentType::Codex),
            ("codex2", AgentType::Codex),
            ("Cursor", AgentType::Cursor),
            ("cline_bot", AgentType::Cline),
            ("aider/gpt", AgentType::Aider),
            ("other", AgentType::Other),
            ("Gemini CLI", AgentType::Other),
            ("amp", AgentType::Other),
            ("claudette", AgentType::Human),
            ("amplify", AgentType::Human),
            ("Alice", AgentType::Human),
            ("my claude", AgentType::Human),
            ("42", AgentType::Human),
            ("Клод", AgentType::Human),
        ];
        for (name, expected) in cases {
            assert_eq!(infer_type(name), expected, "{name}");
        }
    }
}
