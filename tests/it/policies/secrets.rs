//! How many leaks the policies of a fresh `govforge init` find, and how many false alarms they
//! raise, over the labelled lines of `tests/corpus/`.

use govforge::domain::value::{PolicyResultStatus, RiskLevel};
use govforge::policy::{Line, PolicySet, Subject};

/// The lines by which the patterns were made, and those that were written before and kept apart.
const CORPORA: [(&str, &str); 2] = [
    ("secrets.tsv", include_str!("../../corpus/secrets.tsv")),
    ("held_out.tsv", include_str!("../../corpus/held_out.tsv")),
];
const POLICIES: &str = include_str!("../../../policies.example.toml");
const GUIDE: &str = include_str!("../../../docs/policies.md");

/// A line of the corpus.
struct Labelled {
    is_leak: bool,
    /// The pattern that finds it, if one does.
    pattern: Option<&'static str>,
    path: &'static str,
    text: String,
}

fn labelled(corpus: &'static str) -> Vec<Labelled> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let labelled = lines.map(|line| {
        let mut fields = line.splitn(4, '\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("four fields: {line}"));
        let (label, pattern, path, text) = (next(), next(), next(), next());
        assert!(matches!(label, "leak" | "clean"), "{line}");
        Labelled {
            is_leak: label == "leak",
            pattern: Some(pattern).filter(|name| *name != "-"),
            path,
            text: text.replace("{+}", ""),
        }
    });
    labelled.collect()
}

/// The names of the patterns that a line is blocked for.
fn found(set: &PolicySet, labelled: &Labelled) -> Vec<String> {
    let paths = [labelled.path.to_owned()];
    let mut evaluation = set.evaluate(Subject {
        risk_level: RiskLevel::Medium,
        author: None,
        files_changed: &paths,
        insertions: 1,
        deletions: 0,
    });
    let text = labelled.text.as_bytes();
    evaluation.line(Line { path: labelled.path, number: 1, added: true, binary: false, text });
    let verdicts = evaluation.finish();
    let secrets = verdicts.iter().find(|verdict| verdict.policy == "secret_pattern_detection");
    let secrets = secrets.expect("the policy is active");
    let patterns = &secrets.evidence["lines"][0]["patterns"];
    let names: Vec<String> = patterns
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    assert_eq!(secrets.status == PolicyResultStatus::Blocked, !names.is_empty());
    names
}

/// The figures of the guide are those of the corpus, and a leak that a pattern is meant to find
/// is found by that pattern.
#[test]
fn leaks_are_found_and_false_alarms_are_few() {
    let set = PolicySet::parse(POLICIES.as_bytes()).expect("the example is valid");
    for (name, corpus) in CORPORA {
        let (mut hits, mut missed, mut alarms, mut quiet) = (0, Vec::new(), Vec::new(), 0);
        for labelled in labelled(corpus) {
            let names = found(&set, &labelled);
            if let Some(pattern) = labelled.pattern {
                assert!(names.iter().any(|name| name == pattern), "{pattern}: {}", labelled.text);
            }
            match (labelled.is_leak, names.is_empty()) {
                (true, false) => hits += 1,
                (true, true) => missed.push(labelled.text),
                (false, false) => alarms.push((names, labelled.text)),
                (false, true) => quiet += 1,
            }
        }
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
        let told = format!(
            "| `{name}` | govforge | {} | {} | {hits} | {} | {} | {:.1} % | {:.1} % |",
            hits + missed.len(),
            alarms.len() + quiet,
            missed.len(),
            alarms.len(),
            percent(hits, hits + alarms.len()),
            percent(hits, hits + missed.len()),
        );
        assert!(
            GUIDE.contains(&told),
            "docs/policies.md should say\n{told}\n{missed:#?}\n{alarms:#?}"
        );
    }
}

/// Nothing of a line gets into a result, whichever pattern finds it.
#[test]
fn no_result_holds_what_was_found() {
    let set = PolicySet::parse(POLICIES.as_bytes()).expect("the example is valid");
    let leaks = CORPORA.iter().flat_map(|(_, corpus)| labelled(corpus));
    for labelled in leaks.filter(|labelled| labelled.is_leak) {
        let names = found(&set, &labelled).join(" ");
        let words = labelled.text.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words.filter(|word| word.len() >= 12) {
            assert!(!names.contains(word), "{word} in {names}");
        }
    }
}

/// The file itself must not look like a leak to anyone's scanner.
#[test]
fn the_corpus_holds_no_whole_key() {
    let set = PolicySet::parse(POLICIES.as_bytes()).expect("the example is valid");
    let lines = CORPORA.iter().flat_map(|(_, corpus)| corpus.lines());
    for line in lines.filter(|line| !line.starts_with('#')) {
        let text = line.to_owned();
        let as_it_is = Labelled { is_leak: false, pattern: None, path: "secrets.tsv", text };
        let mut names = found(&set, &as_it_is);
        names.retain(|name| !name.ends_with('=') && !name.contains("_KEY"));
        assert!(names.is_empty(), "{names:?}: {line}");
    }
}
