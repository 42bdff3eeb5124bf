//! The policy engine: TOML -> sections as written -> a validated [`PolicySet`] ->
//! verdicts on a change. Pure: it reads no file and knows no git.

pub mod evaluation;
pub mod mistake;

mod evidence;
mod literals;
mod path_patterns;
mod raw;
mod rules;
mod section;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

use self::evaluation::{Evaluation, Subject};
use self::literals::Literals;
use self::mistake::{Mistake, Mistakes};
use self::rules::{BUILT_IN, BuiltIn, Rule};
use self::section::Section;
use crate::domain::value::FindingSeverity;

/// The active policies, in order of evaluation.
#[derive(Debug)]
pub struct PolicySet {
    active: Vec<Active>,
    /// The literals that any policy looks for in added lines, each once.
    content: Literals,
    /// For each of them, who looks for it: the index of the policy, and of its pattern.
    owners: Vec<Vec<(usize, usize)>>,
}

/// A policy that will run.
#[derive(Debug)]
struct Active {
    name: String,
    severity: FindingSeverity,
    rule: Box<dyn Rule>,
}

/// An active policy as it is shown to a reader and stored in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyInfo {
    /// The name, which is also its section's.
    pub name: String,
    /// What it checks, in a sentence or two.
    pub description: String,
    /// How strictly it is meant.
    pub severity: FindingSeverity,
    /// An object of the values in effect, without `enabled` and `severity`.
    pub config: Value,
}

impl PolicySet {
    /// What runs without a policy file: every built-in policy with its defaults.
    pub fn defaults() -> Self {
        let sections = BUILT_IN.iter().map(|built_in| Section::empty(built_in.name));
        Self::new(sections.filter_map(|mut section| read(&mut section)).collect())
    }

    /// Reads a policy file: its sections run, in its order, except those with
    /// `enabled = false`. A file without sections is valid, and nothing runs.
    ///
    /// # Errors
    ///
    /// Every mistake of the file, in its order: see `docs/policies.md`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<Mistake>> {
        let text =
            raw::text(bytes).map_err(|(mistakes, readable)| mistakes.into_placed(readable))?;
        let (sections, mut mistakes) = raw::sections(text, &keys());
        let mut active = Vec::new();
        let mut meaning = Mistakes::default();
        for mut section in sections {
            active.extend(read(&mut section));
            meaning.append(section.finish());
        }
        meaning.drop_lines_of(&mistakes, text);
        mistakes.append(meaning);
        if mistakes.is_empty() { Ok(Self::new(active)) } else { Err(mistakes.into_placed(text)) }
    }

    /// The active policies, in order of evaluation.
    pub fn policies(&self) -> impl Iterator<Item = PolicyInfo> {
        self.active.iter().map(|active| PolicyInfo {
            name: active.name.clone(),
            description: active.rule.description().to_owned(),
            severity: active.severity,
            config: active.rule.config(),
        })
    }

    /// Begins the evaluation of a change.
    pub fn evaluate<'a>(&'a self, subject: Subject<'a>) -> Evaluation<'a> {
        Evaluation::new(self, subject)
    }

    fn new(active: Vec<Active>) -> Self {
        let mut literals: Vec<String> = Vec::new();
        let mut owners: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (policy, Active { rule, .. }) in active.iter().enumerate() {
            for (pattern, text) in rule.content_patterns().iter().enumerate() {
                let literal = *known.entry(text.to_ascii_lowercase()).or_insert_with_key(|lower| {
                    literals.push(lower.clone());
                    owners.push(Vec::new());
                    literals.len() - 1
                });
                owners[literal].push((policy, pattern));
            }
        }
        Self { active, content: Literals::new(&literals), owners }
    }
}

/// Reads a section: its policy, unless it is switched off. A section of another name has none.
fn read(section: &mut Section<'_>) -> Option<Active> {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == section.name())?;
    let enabled = section.boolean("enabled", true);
    let severity = section.severity("severity", FindingSeverity::Medium);
    let rule = (built_in.read)(section);
    enabled.then(|| Active { name: built_in.name.to_owned(), severity, rule })
}

/// The name and the keys of each built-in policy.
fn keys() -> Vec<(&'static str, Vec<&'static str>)> {
    let keys = |built_in: &BuiltIn| {
        let mut section = Section::empty(built_in.name);
        read(&mut section);
        (built_in.name, section.asked().to_vec())
    };
    BUILT_IN.iter().map(keys).collect()
}
