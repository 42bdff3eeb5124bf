//! What all policies look for in changed lines, found together.
//!
//! One automaton goes over each line, for the literals and for the texts that a regular
//! expression needs to match; only the expressions whose text was found are run. Those that
//! need none are joined into one set.

use std::collections::HashMap;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::literals::{Found, Literals};
use super::regexes::Pattern;
use crate::policy::findings::excuses::Excuse;

/// The joined expressions compile to at most this, and their states take at most that, in
/// bytes. Above it each is run alone.
const LARGEST_SET: usize = 64 * 1024 * 1024;
const LARGEST_CACHE: usize = 16 * 1024 * 1024;

/// A pattern, under the name that a result shows.
#[derive(Debug)]
pub(in crate::policy) struct Sought {
    pub name: String,
    pub how: How,
}

#[derive(Debug)]
pub(in crate::policy) enum How {
    /// A text, in any ASCII case.
    Literal(String),
    Regex(Pattern),
}

/// The patterns found in a line, after the rule has looked at it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::policy) struct Weighed {
    pub counts: Vec<usize>,
    /// Those that are no findings, and why.
    pub excused: Vec<(usize, Excuse)>,
}

/// A pattern by the index of its policy and its own.
pub(in crate::policy) type Owner = (usize, usize);

/// The patterns of all policies.
#[derive(Debug)]
pub(in crate::policy) struct Content {
    literals: Literals,
    /// For each literal, the patterns that need it.
    needed_by: Vec<Vec<Owner>>,
    /// The expressions that need no literal, and whose each is.
    set: Option<RegexSet>,
    in_set: Vec<Owner>,
}

impl Content {
    /// Joins the patterns of the policies, given in their order.
    pub(in crate::policy) fn new<'a>(policies: impl Iterator<Item = &'a [Sought]>) -> Self {
        let mut literals: Vec<Vec<u8>> = Vec::new();
        let mut needed_by: Vec<Vec<Owner>> = Vec::new();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut add = |literal: Vec<u8>, owner: Owner| {
            let index = *known.entry(literal).or_insert_with_key(|literal| {
                literals.push(literal.clone());
                needed_by.push(Vec::new());
                literals.len() - 1
            });
            needed_by[index].push(owner);
        };
        let (mut regexes, mut in_set) = (Vec::new(), Vec::new());
        for (policy, patterns) in policies.enumerate() {
            for (index, sought) in patterns.iter().enumerate() {
                match &sought.how {
                    How::Literal(text) => {
                        add(text.to_ascii_lowercase().into_bytes(), (policy, index));
                    }
                    How::Regex(Pattern { literals: Some(needed), .. }) => {
                        needed.iter().for_each(|text| add(text.clone(), (policy, index)));
                    }
                    How::Regex(pattern) => {
                        regexes.push(pattern.regex.as_str());
                        in_set.push((policy, index));
                    }
                }
            }
        }
        let set = (regexes.len() > 1)
            .then(|| {
                RegexSetBuilder::new(regexes)
                    .unicode(false)
                    .size_limit(LARGEST_SET)
                    .dfa_size_limit(LARGEST_CACHE)
                    .build()
                    .ok()
            })
            .flatten();
        Self { literals: Literals::new(&literals), needed_by, set, in_set }
    }

    /// Whether there is nothing to find.
    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.literals.is_empty() && self.in_set.is_empty()
    }

    /// The patterns that `text` may hold, each once and in order: of an expression only the
    /// literals that it needs were found.
    pub(in crate::policy) fn candidates(
        &self,
        text: &[u8],
        found: &mut Found,
        candidates: &mut Vec<Owner>,
    ) {
        candidates.clear();
        self.literals.find(text, found);
        for &literal in found.indices() {
            candidates.extend(&self.needed_by[literal]);
        }
        match &self.set {
            None => candidates.extend(&self.in_set),
            Some(set) if set.is_match(text) => {
                candidates.extend(set.matches(text).into_iter().map(|index| self.in_set[index]));
            }
            Some(_) => {}
        }
        candidates.sort_unstable();
        candidates.dedup();
    }
}

impl Sought {
    /// Whether a line in which it is a candidate holds it.
    pub(in crate::policy) fn is_in(&self, text: &[u8]) -> bool {
        match &self.how {
            How::Literal(_) => true,
            How::Regex(pattern) => pattern.regex.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(name: &str) -> Sought {
        Sought { name: name.to_owned(), how: How::Regex(Pattern::new(name).unwrap()) }
    }

    fn literal(name: &str) -> Sought {
        Sought { name: name.to_owned(), how: How::Literal(name.to_owned()) }
    }

    #[test]
    fn patterns_of_all_kinds_are_found_together() {
        let policies = [
            vec![literal("password="), regex(r"\bak[0-9]+"), regex("key-[a-z]{3}")],
            vec![regex("[0-9]{8}"), literal("PASSWORD="), regex("^#")],
        ];
        let content = Content::new(policies.iter().map(Vec::as_slice));
        let (mut found, mut candidates) = (Found::default(), Vec::new());
        let mut find = |text: &str| {
            content.candidates(text.as_bytes(), &mut found, &mut candidates);
            candidates.retain(|&(policy, index)| policies[policy][index].is_in(text.as_bytes()));
            candidates.clone()
        };
        assert_eq!(find("nothing"), []);
        assert_eq!(find("PassWord=1"), [(0, 0), (1, 1)]);
        assert_eq!(find("key-ab key-abc"), [(0, 2)]);
        assert_eq!(find("key-ab"), []);
        assert_eq!(find("# ak1 12345678"), [(0, 1), (1, 0), (1, 2)]);
    }
}
