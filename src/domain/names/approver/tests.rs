use super::*;

/// What agents call themselves, and what people bear.
const AGENTS: &str = "\
    AI, A.I., AI agent, AIAgent, aibot, AI-Reviewer, assistant, agent, agent 7, bot, the bot, Bot-2, \
    review-bot, reviewbot, github-actions[bot], dependabot, chatbot, claude, CLAUDE, The claude, \
    my Claude, Claude (Anthropic), claude-opus-4-1, ClaudeCode, claudecode, Claude Monet, Opus \
    4, sonnet-4.5, code review assistant, codex cli, openai codex, GPT Codex, copilot-agent, \
    GitHub Copilot, co pilot, CopilotAgent, gpt-5, GPT5, gpt4o, gpt-4o-mini, ChatGPT, chat gpt, \
    g p t 5, OpenAI, open ai, o3, O4-mini, gemini-2.5-pro, Google Gemini, llm, L.L.M., my local \
    LLM, llama 3, Llama-3.3-70b, mistral-large, qwen3, deepseek-r1, DeepSeek, grok-4, Robin \
    Agent, acme-agent, subagent, backend_agent, Robot, windsurf, Cursor Agent, the cline, the \
    devin, autopilot, system, CI, anthropic, c l a u d e, The c l a u d e, cla ude code, \
    @claude, Other";

const PEOPLE: &str = "\
    maintainer, alice, dev 1, jsmith42, Augusta Codexson, Ai Weiwei, Ai Sato, A. I. Smith, Ben \
    Bot, J. Bot, Patsy Cline, Jean-Claude Juncker, Monet Claude, Gabriela Mistral, Max \
    Mustermann, Jules Verne, Kimi Raikkonen, Cody, Gemma, Talbot, Abbot, Cimini, Oland, Ted Cabot, Ian Botham, \
    Ampère, Amplify, Goosens, Anna Goose, O. Henry, O'Neill, Ola, Ole, A. Gent, G. P. T. Huang, \
    Dévai Gábor, Claudette, Robin, Robin A., 李雷, 山田 愛, Мария Иванова, Клод, Nguyễn Văn A, Björk, \
    José Ángel de la Cruz, Müller-Lüdenscheidt, Şükrü Özgür, Ó Súilleabháin, 김민준, \
    علی\u{200c}رضا, María José (finance), Devina, Aidan, Aiden Cole, Systermans, Mary Haiku, \
    Thomas Model, Alder, Reviewer, QA team lead, Grigori Grokowski";

#[test]
fn who_says_what_it_is_is_known_and_a_persons_name_is_not_taken_for_it() {
    for name in AGENTS.split(", ") {
        assert!(reads_as_agent(name).is_some(), "{name:?} passes for a person");
    }
    for name in PEOPLE.split(", ") {
        assert_eq!(reads_as_agent(name), None, "{name:?}");
    }
}

#[test]
fn an_agent_is_known_in_any_spelling() {
    for name in [
        "\u{441}laude",
        "CIaude",
        "c1aude",
        "\u{ff43}laude",
        "cl\u{e0}ude",
        "cla\u{200b}ude",
        "c\u{3bf}dex-reviewer",
        "C0dex",
        "\u{430}mp",
        "\u{3f2}laude",
        "\u{3f9}LAUDE",
        "\u{1d5c0}\u{1d5c9}\u{1d5cd}-5",
        "the \u{441}laude",
        "the c|aude",
        "assist\u{430}nt",
        "\u{430}g\u{435}nt",
    ] {
        assert!(reads_as_agent(name).is_some(), "{name:?}");
    }
}

/// Every way of writing that reads the same: what is known stays known, and nobody becomes an
/// agent by it.
#[test]
fn the_way_of_writing_does_not_matter() {
    let full_width = |c: char| match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
        other => other,
    };
    let cyrillic = |c: char| match c {
        'a' => '\u{430}',
        'c' => '\u{441}',
        'e' => '\u{435}',
        'o' => '\u{43e}',
        'p' => '\u{440}',
        'i' => '\u{456}',
        's' => '\u{455}',
        other => other,
    };
    let accented = |c: char| match c.is_ascii_alphabetic() {
        true => format!("{c}\u{301}"),
        false => c.to_string(),
    };
    type Writing<'a> = (&'a str, &'a dyn Fn(&str) -> String);
    let writings: [Writing; 8] = [
        ("capitals", &str::to_uppercase),
        ("small letters", &str::to_lowercase),
        ("full width", &|name| name.chars().map(full_width).collect()),
        ("Cyrillic", &|name| name.to_lowercase().chars().map(cyrillic).collect()),
        ("accents", &|name| name.chars().map(accented).collect()),
        ("blanks", &|name| format!("  {}\t", name.replace(' ', "   "))),
        ("punctuation", &|name| format!("<{}>", name.replace(' ', "_"))),
        ("invisible", &|name| name.replace(' ', " \u{200b}\u{2060}")),
    ];
    for (writing, write) in writings {
        for name in AGENTS.split(", ") {
            let written = write(name);
            assert!(reads_as_agent(&written).is_some(), "{writing}: {written:?}");
        }
        for name in PEOPLE.split(", ") {
            let written = write(name);
            assert_eq!(reads_as_agent(&written), None, "{writing}: {written:?}");
        }
    }
}

/// A word that tells is found beside any person's name, and a person's name stays one beside a
/// word that may be a name.
#[test]
fn telling_words_tell_beside_any_name() {
    for person in PEOPLE.split(", ").step_by(7) {
        for word in TELLING.split_whitespace() {
            for name in [
                format!("{person} {word}"),
                format!("{word} {person}"),
                format!("{person}-{word}2"),
            ] {
                assert!(reads_as_agent(&name).is_some(), "{name:?}");
            }
        }
    }
    for word in AMBIGUOUS.split_whitespace() {
        let name = format!("Alice {word}");
        assert_eq!(reads_as_agent(&name), None, "{name:?}");
        assert!(reads_as_agent(word).is_some(), "{word}");
        assert!(reads_as_agent(&format!("the {word} 2")).is_some(), "{word}");
    }
}

#[test]
fn a_long_name_is_read_quickly_and_no_name_upsets_the_rule() {
    for name in ["", " ", "★", "42", "🤖", "\u{301}", "\u{202e}"] {
        assert_eq!(reads_as_agent(name), None, "{name:?}");
    }
    let long = "Aa".repeat(128);
    assert_eq!(reads_as_agent(&long), None);
}
