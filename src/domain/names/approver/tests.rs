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
    @claude, Other, Jules, Jules (Google), Roo, Roo Code, roo-cline, Kiro, kiro-cli, Junie, \
    Junie by JetBrains, droid, Factory Droid, kimi, kimi-k2, Kimi (Moonshot), Antigravity, \
    OpenClaw, Kilo Code, CodeRabbit, Amazon Q, Q Developer, Augment Code, Trae, Warp, Zencoder, \
    reviewer-1, Reviewer 2, approver3, code reviewer 7, auto-approver, Auto Reviewer, \
    automated approval, approver-bot, ci-bot, GitLab CI, GitHub Actions, webhook, worker 12";

const PEOPLE: &str = "\
    maintainer, alice, dev 1, jsmith42, Augusta Codexson, Ai Weiwei, Ai Sato, A. I. Smith, Ben \
    Bot, J. Bot, Patsy Cline, Jean-Claude Juncker, Monet Claude, Gabriela Mistral, Max \
    Mustermann, Jules Verne, Kimi Raikkonen, Cody, Gemma, Talbot, Abbot, Cimini, Oland, Ted Cabot, Ian Botham, \
    Ampère, Amplify, Goosens, Anna Goose, O. Henry, O'Neill, Ola, Ole, A. Gent, G. P. T. Huang, \
    Dévai Gábor, Claudette, Robin, Robin A., 李雷, 山田 愛, Мария Иванова, Клод, Nguyễn Văn A, Björk, \
    José Ángel de la Cruz, Müller-Lüdenscheidt, Şükrü Özgür, Ó Súilleabháin, 김민준, \
    علی\u{200c}رضا, María José (finance), Devina, Aidan, Aiden Cole, Systermans, Mary Haiku, \
    Thomas Model, Alder, Reviewer, QA team lead, Grigori Grokowski, Jules Feiffer, Kiro \
    Gligorov, Junie Hoang, Trae Young, Usain Bolt, Manus Boyle, Roo Panes, Q. Zhang, Otto, \
    Adroidi, Ericsson, eric2, er1c, eric (human), maintainer 2, Ali (lead), robin@example.com, \
    1042 Jo, Zoë [they], ＪＯ";

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
        "\u{1d04}\u{29f}\u{1d00}\u{1d1c}\u{1d05}\u{1d07}",
        "the \u{1d04}\u{29f}\u{1d00}\u{1d1c}\u{1d05}\u{1d07}",
        "\u{1f172}laude",
        "\u{1f172}\u{1f17b}\u{1f170}\u{1f184}\u{1f173}\u{1f174}",
        "\u{24d2}laude",
        "\u{1f132}laude",
        "\u{1f152}laude",
        "\u{249e}laude",
        "the \u{249e}laude",
        "\u{1f1e8}laude",
        "(laude",
        "<laude",
        "\u{a9}laude",
        "the (laude",
        "c!aude",
        "cl4ude",
        "cl@ud3",
        "4gent",
        "@ssist@nt",
        "b0t",
        "ju1es",
        "r00",
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

#[test]
fn the_author_is_known_in_another_spelling_and_no_one_else_is_taken_for_them() {
    for (author, approver) in [
        ("eric", "er1c"),
        ("eric", "er!c"),
        ("eric", "eric2"),
        ("eric", "Eric 2"),
        ("eric", "er1c3"),
        ("eric", "eric (human)"),
        ("eric", "the real eric"),
        ("eric", "Eric - reviewer"),
        ("eric1", "eric2"),
        ("eric (author)", "eric (approver)"),
        ("\u{1d07}\u{280}\u{26a}\u{1d04}", "Eric"),
        ("nova", "n0va"),
        ("Alice", " A l i c e "),
    ] {
        assert!(may_be_one(author, approver), "{author:?} {approver:?}");
        assert!(may_be_one(approver, author), "{author:?} {approver:?}");
    }
    for (author, approver) in [
        ("eric", "erica"),
        ("eric", "Eric Smith"),
        ("eric", "Derrick"),
        ("dev 1", "dev 2"),
        ("developer", "reviewer"),
        ("dev1", "qa1"),
        ("Jo", "Joan"),
        ("claude", "Robin"),
        ("42", "43"),
    ] {
        assert!(!may_be_one(author, approver), "{author:?} {approver:?}");
    }
}

/// The frequent names of people, alone and in pairs, but for two that are coding agents' too.
#[test]
fn the_frequent_names_of_people_pass() {
    let names = include_str!("../../../../tests/corpus/names.txt");
    let lines: Vec<&str> = names.lines().filter(|line| !line.starts_with('#')).collect();
    let mut lists = lines.split(|line| line.is_empty());
    let mut list = || -> Vec<&str> {
        lists.next().unwrap().iter().flat_map(|line| line.split_whitespace()).collect()
    };
    let (first, last) = (list(), list());
    assert!(first.len() > 500 && last.len() == 1000);
    let alone: Vec<&str> =
        first.iter().chain(&last).copied().filter(|name| reads_as_agent(name).is_some()).collect();
    assert_eq!(alone, ["Claude", "Cline"]);
    let first = first.iter().filter(|first| **first != "Claude").cycle();
    for (first, last) in first.zip(&last) {
        let name = format!("{first} {last}");
        assert_eq!(reads_as_agent(&name), None, "{name}");
    }
}
