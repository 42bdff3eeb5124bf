//! Which of many literal texts a line holds, found in one pass over it.

use std::collections::HashSet;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::{Anchored, MatchKind, dfa, nfa};

/// Up to this sum of the literals' lengths the automaton is a full table (at most 1 KiB for
/// each byte), which reads each byte of a line with two look-ups however many literals there
/// are. Above it, the table would not fit into the caches, nor into a sensible amount of memory.
const TABLE_BYTES: usize = 16 * 1024;

/// A set of literals, found in any ASCII case, in time linear in the text, whatever its bytes.
#[derive(Debug)]
pub(in crate::policy) struct Literals {
    machine: Option<Machine>,
}

#[derive(Debug)]
enum Machine {
    Table(dfa::DFA),
    Compact(nfa::contiguous::NFA),
}

/// The literals found in a text; kept from text to text to reuse its memory.
#[derive(Debug, Default)]
pub(in crate::policy) struct Found {
    indices: Vec<usize>,
    states: HashSet<StateID>,
}

impl Found {
    /// The literals' indices, each once, in ascending order.
    pub(in crate::policy) fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl Literals {
    /// An automaton for `literals`, none of them empty. They are known by their index.
    pub(in crate::policy) fn new<L: AsRef<[u8]>>(literals: &[L]) -> Self {
        if literals.is_empty() {
            return Self { machine: None };
        }
        let bytes: usize = literals.iter().map(|literal| literal.as_ref().len()).sum();
        let literals = literals.iter().map(AsRef::as_ref);
        let table = (bytes <= TABLE_BYTES).then(|| {
            dfa::Builder::new()
                .match_kind(MatchKind::Standard)
                .ascii_case_insensitive(true)
                .prefilter(false)
                .build(literals.clone())
        });
        let machine = match table {
            Some(Ok(table)) => Machine::Table(table),
            _ => Machine::Compact(
                nfa::contiguous::Builder::new()
                    .match_kind(MatchKind::Standard)
                    .ascii_case_insensitive(true)
                    .prefilter(false)
                    .build(literals)
                    .expect(
                        "a policy file is far below the 2 GiB of literals that can be too many",
                    ),
            ),
        };
        Self { machine: Some(machine) }
    }

    /// Whether there is nothing to find.
    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.machine.is_none()
    }

    /// Finds every literal that `text` holds, also those that overlap.
    pub(in crate::policy) fn find(&self, text: &[u8], found: &mut Found) {
        found.indices.clear();
        match &self.machine {
            None => {}
            Some(Machine::Table(table)) => walk(table, text, found),
            Some(Machine::Compact(compact)) => walk(compact, text, found),
        }
    }
}

/// Each state is looked at once: literals that end within each other would otherwise cost
/// their number at every byte.
fn walk<A: Automaton>(automaton: &A, text: &[u8], found: &mut Found) {
    let Ok(mut state) = automaton.start_state(Anchored::No) else { return };
    let mut last = None;
    for &byte in text {
        state = automaton.next_state(Anchored::No, state, byte);
        if automaton.is_special(state) && automaton.is_match(state) && last != Some(state) {
            last = Some(state);
            if found.states.insert(state) {
                let ends_here = 0..automaton.match_len(state);
                found
                    .indices
                    .extend(ends_here.map(|i| automaton.match_pattern(state, i).as_usize()));
            }
        }
    }
    if last.is_some() {
        found.states.clear();
        found.indices.sort_unstable();
        found.indices.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(literals: &[&str], text: &[u8]) -> Vec<usize> {
        let mut found = Found::default();
        Literals::new(literals).find(text, &mut found);
        found.indices().to_vec()
    }

    #[test]
    fn finds_literals_in_any_ascii_case_and_among_any_bytes() {
        assert_eq!(find(&["password=", "api_key="], b"x PassWord=1"), [0]);
        assert_eq!(find(&["password="], b"\xff\xfe\xe9password=\xe9"), [0]);
        assert_eq!(find(&["password="], b"password ="), [] as [usize; 0]);
        assert_eq!(find(&["password="], b""), [] as [usize; 0]);
        assert_eq!(find(&[], b"password="), [] as [usize; 0]);
        assert_eq!(find(&["gr\u{fc}n"], "GR\u{fc}N".as_bytes()), [0]);
    }

    #[test]
    fn finds_literals_within_and_across_each_other() {
        assert_eq!(find(&["abcd", "bc", "c", "cde"], b"abcde"), [0, 1, 2, 3]);
        assert_eq!(find(&["key", "api_key", "KEY"], b"api_key"), [0, 1, 2]);
    }

    #[test]
    fn a_line_leaves_nothing_to_the_next() {
        let literals = Literals::new(&["secret"]);
        let mut found = Found::default();
        literals.find(b"a secret", &mut found);
        assert_eq!(found.indices(), [0]);
        literals.find(b"sec", &mut found);
        literals.find(b"ret", &mut found);
        assert_eq!(found.indices(), [] as [usize; 0]);
        literals.find(b"secret again", &mut found);
        assert_eq!(found.indices(), [0]);
    }

    #[test]
    fn many_nested_literals_stay_linear() {
        let nested: Vec<String> = (1..=400).map(|length| "a".repeat(length)).collect();
        let mut found = Found::default();
        let literals = Literals::new(&nested);
        assert!(matches!(literals.machine, Some(Machine::Compact(_))));
        literals.find(&b"a".repeat(2_000_000), &mut found);
        assert_eq!(found.indices().len(), 400);
    }

    /// Both automata find what a search for each literal alone finds.
    #[test]
    fn agrees_with_a_plain_search() {
        let mut seed = 1_u64;
        let mut random = move |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut text = |longest: u64| -> String {
            (0..=random(longest)).map(|_| ['a', 'B', 'b', '_'][random(4) as usize]).collect()
        };
        for round in 0..200 {
            let mut literals: Vec<String> = (0..12).map(|_| text(5)).collect();
            if round % 2 == 0 {
                literals.push("z".repeat(TABLE_BYTES + 1));
            }
            let line = text(60);
            let lower = line.to_ascii_lowercase();
            let expected: Vec<usize> = (0..literals.len())
                .filter(|&index| lower.contains(&literals[index].to_ascii_lowercase()))
                .collect();
            let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
            assert_eq!(find(&literals, line.as_bytes()), expected, "{literals:?} in {line:?}");
        }
    }
}
