//! Whether a name can stand for a person at the human gate.
//!
//! A name is no proof: this catches who says what it is, in any spelling, and no one who bears
//! a person's name. The rule, over the words of the name (parted at blanks, punctuation and
//! capitals inside a word) as they look (case, accents, full width and look-alike letters do
//! not matter):
//!
//! 1. A name that begins with a coding agent's ([`agent::known`]) is that agent's, as in the
//!    original, also when the letters are spaced out.
//! 2. A name with a word that no person bears is an agent's: [`TELLING`].
//! 3. A word that is also somebody's name or an everyday one ([`AMBIGUOUS`]) tells an agent only
//!    where every other word is a number or one that describes ([`DESCRIBING`]): `the bot` and
//!    `AI reviewer` are agents, Ben Bot and Ai Weiwei are not.
//! 4. A part with a number is none of a person's either ([`NUMBERED`]): `reviewer-1`.
//!
//! Signs and digits are read as the letters that they are written for, too (`(laude`, `cl4ude`).

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::agent::{self, infer_type};
use crate::domain::names::hidden::is_hidden;
use crate::domain::names::lookalike::{
    bare_letters, begins_with, looks, read_the_same, signs_as_letters, spellings,
};
use crate::domain::value::AgentType;

/// Words that no person bears: of agents, of the makers of models, and of what they are.
const TELLING: &str = "\
    agent agentic agents aider anthropic antigravity assistant autogpt autopilot chatbot chatglm \
    chatgpt circleci clawdbot codeassist codebuff codecov codeium codellama coderabbit \
    coderabbitai codestral codewhisperer codex copilot crewai cronjob cursor deepseek dependabot \
    devstral doubao droid gpt greptile grok hunyuan kilocode langchain langgraph llm magistral \
    mergify minimax ministral mixtral moltbot nemotron ollama openai openclaw opencode openhands \
    phind pixtral plandex qodo qwen renovatebot replit robot rovodev sonarcloud sonarqube \
    starcoder subagent tabnine webhook windsurf zencoder";

/// Words for agents and models that are also names of people, or everyday words.
const AMBIGUOUS: &str = "\
    actions ai amp auggie augment auto automated automatic automation autonomous bard bolt bot \
    cascade ci claude cline composer crush daemon devin gemini goose haiku jules junie kilo kimi \
    kiro llama lovable machine manus mistral model o1 o3 o4 opus perplexity pipeline q renovate \
    roo rovo script snyk sonnet system trae warp workflow";

/// Words that describe an agent and name nobody.
const DESCRIBING: &str = "\
    admin alibaba amazon and api app approval approver author aws based beta build by bytedance \
    chat cli code coder coding deploy desktop dev developer devops engineer experimental factory \
    flash for from generated github gitlab google helper human ide instance jetbrains language \
    large latest lead lite main merge meta microsoft mini moonshot my nano nvidia of our person \
    plugin powered preview pro programmer qa quality real release review reviewer runner sdk \
    security senior server service session software super team test tester the thinking this tool \
    turbo user version virtual web with worker xai your zhipu";

/// Of these, what is one of several where it has a number: `reviewer-1`.
const NUMBERED: &str = "\
    approver author coder helper instance reviewer runner server service session tester worker";

/// What a word of a name says about who bears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Telling(AgentType),
    Ambiguous,
    /// Describing, and one of several with a number.
    Role,
    Describing,
    /// Anything else: it may well be a person's name.
    Name,
}

/// The kind of coding agent that a name reads like; `None` for a person's. Stricter than
/// [`infer_type`], which names the rows of the ledger and is fixed by the original.
pub fn reads_as_agent(name: &str) -> Option<AgentType> {
    let plain = infer_type(name);
    if plain != AgentType::Human {
        return Some(plain);
    }
    let letters = signs_as_letters(name);
    reads_so(name).or_else(|| letters.iter().find_map(|name| reads_so(name)))
}

/// Whether two names may be one person's: they read the same once numbers at the end of a word,
/// and words that name nobody, are left out (`eric2`, `eric (human)`), and signs are read as the
/// letters that they are written for (`er1c`).
pub fn may_be_one(a: &str, b: &str) -> bool {
    let (a_cores, b_cores) = (cores(a), cores(b));
    read_the_same(a, b)
        || a_cores.iter().any(|core| b_cores.iter().any(|other| read_the_same(core, other)))
}

/// What of a name tells who it is, in each reading; none where nothing does.
fn cores(name: &str) -> Vec<String> {
    let digit = |c: char| c.is_ascii_digit();
    let core = |name: &str| -> String {
        let words = words(name);
        let texts = words.iter().map(|word| word.text.trim_end_matches(digit));
        let names_nobody = |text: &str| {
            !text.contains(char::is_alphabetic)
                || matches!(known(text), Some(Said::Describing | Said::Role))
        };
        texts.filter(|text| !names_nobody(text)).collect()
    };
    let numberless: Vec<&str> =
        name.split_whitespace().map(|word| word.trim_end_matches(digit)).collect();
    let readings = signs_as_letters(&numberless.join(" "));
    let cores = readings.iter().map(|reading| core(reading)).chain([core(name)]);
    cores.filter(|core| !core.is_empty()).collect()
}

fn reads_so(name: &str) -> Option<AgentType> {
    let words = words(name);
    // `open ai` is one; an initial may belong to a name, as in A. Gent.
    let no_initial =
        words.first().is_some_and(|first| !first.spaced && first.text.chars().count() > 1);
    let spelled = spellings(name);
    let begins = |(known, _): &&([String; 5], Start)| {
        spelled.iter().any(|spelling| begins_with(spelling, known))
    };
    let started = STARTS.iter().filter(begins).find_map(|(_, start)| match start {
        Start::Agent(kind) => Some(*kind),
        Start::Telling => no_initial.then_some(AgentType::Other),
    });
    // A sign may look like a letter, as in `c|aude`.
    started.or_else(|| judge(&words)).or_else(|| judge(&self::words(&looks(name))))
}

/// What a name may begin with, in pieces.
enum Start {
    Agent(AgentType),
    Telling,
}

/// Each with its own spellings: a letter may look like two (`m` like `rn`).
static STARTS: LazyLock<Vec<([String; 5], Start)>> = LazyLock::new(|| {
    let agents = agent::known().map(|(word, kind)| (spellings(word), Start::Agent(kind)));
    let telling = TELLING.split_whitespace().map(|word| (spellings(word), Start::Telling));
    agents.chain(telling).collect()
});

fn judge(words: &[Word]) -> Option<AgentType> {
    let said: Vec<Said> = words.iter().map(Word::read).collect();
    let told = said.iter().find_map(|said| match said {
        Said::Telling(kind) => Some(*kind),
        _ => None,
    });
    let has_number = words.iter().any(|word| word.text.contains(|c: char| c.is_ascii_digit()));
    let is_part = said.contains(&Said::Role) && has_number;
    let only_described =
        !said.contains(&Said::Name) && (said.contains(&Said::Ambiguous) || is_part);
    told.or(only_described.then_some(AgentType::Other))
}

/// A word of a name, without accents and in the case that it is written in.
struct Word {
    text: String,
    /// Written as letters that stand alone, which may be initials.
    spaced: bool,
}

fn words(name: &str) -> Vec<Word> {
    let bare = bare_letters(name);
    let bare: String = bare.nfkd().filter(|c| !is_combining_mark(*c) && !is_hidden(*c)).collect();
    let mut words: Vec<Word> = Vec::new();
    let mut alone_before = false;
    for text in bare.split(|c: char| !c.is_alphanumeric()).filter(|text| !text.is_empty()) {
        let alone = text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
        match words.last_mut() {
            Some(last) if alone && alone_before => {
                last.text.push_str(text);
                last.spaced = true;
            }
            _ => words.push(Word { text: text.to_owned(), spaced: false }),
        }
        alone_before = alone;
    }
    words
}

impl Word {
    fn read(&self) -> Said {
        match read(&self.text) {
            Said::Telling(_) if self.spaced => Said::Ambiguous,
            said => said,
        }
    }
}

fn read(word: &str) -> Said {
    let digit = |c: char| c.is_ascii_digit();
    // `gpt4o`, `codex2`, `c0dex2`: what stands before the number.
    let before = word.find(digit).map_or(word, |at| &word[..at]);
    let whole = [word, before, word.trim_end_matches(digit)].into_iter().find_map(known);
    if let Some(said) = whole {
        return said;
    }
    // A number, or a version as in `v2` and `20b`.
    if word.contains(digit) && word.chars().filter(|c| c.is_alphabetic()).count() < 3 {
        return Said::Describing;
    }
    parts(word).unwrap_or(Said::Name)
}

/// What a word says that is written together from two known ones: `reviewbot`, `GPTAgent`.
fn parts(word: &str) -> Option<Said> {
    const LONGEST: usize = 32;
    let ends = word.char_indices().map(|(at, _)| at).take(LONGEST).skip(2);
    ends.map(|at| word.split_at(at)).find_map(|(first, second)| {
        // `Dévai` is no `dev-ai`; with a capital it would be.
        let capital = second.starts_with(char::is_uppercase) && first.ends_with(char::is_lowercase);
        if !capital && second.chars().count() < 3 {
            return None;
        }
        let (start, end) = (known(first)?, known(second)?);
        // A surname may end like that behind two letters: Cimini, Cipro, Oland.
        if !capital && first.chars().count() < 3 && matches!(end, Said::Describing | Said::Role) {
            return None;
        }
        Some(match (start, end) {
            (telling @ Said::Telling(_), _) | (_, telling @ Said::Telling(_)) => telling,
            (Said::Ambiguous, _) | (_, Said::Ambiguous) => Said::Ambiguous,
            (Said::Role, _) | (_, Said::Role) => Said::Role,
            _ => Said::Describing,
        })
    })
}

/// What a word of the lists says, in any spelling.
fn known(word: &str) -> Option<Said> {
    static KNOWN: LazyLock<HashMap<String, Said>> = LazyLock::new(|| {
        let telling = TELLING.split_whitespace().map(|word| match infer_type(word) {
            AgentType::Human => (word, Said::Telling(AgentType::Other)),
            kind => (word, Said::Telling(kind)),
        });
        let ambiguous = AMBIGUOUS.split_whitespace().map(|word| (word, Said::Ambiguous));
        let describing = DESCRIBING.split_whitespace().map(|word| (word, Said::Describing));
        let roles = NUMBERED.split_whitespace().map(|word| (word, Said::Role));
        describing
            .chain(roles)
            .chain(ambiguous)
            .chain(telling)
            .flat_map(|(word, said)| spellings(word).into_iter().map(move |look| (look, said)))
            .collect()
    });
    spellings(word).iter().find_map(|spelling| KNOWN.get(spelling)).copied()
}

#[cfg(test)]
mod tests;
