//! The active policies, as they are read from a policy file.

use serde_json::Value;

use super::file::mistake::{Lines, Mistake, Mistakes};
use super::file::raw::{self, Known};
use super::file::section::Section;
use super::patterns::content::Content;
use super::rules::built_in::BUILT_IN;
use super::rules::own;
use super::rules::rule::{ReadsLines, Rule};
use crate::domain::value::FindingSeverity;

/// A policy file has at most so many sections: each is asked about every changed path.
const MOST_SECTIONS: usize = 500;

/// The active policies, in order of evaluation.
#[derive(Debug)]
pub struct PolicySet {
    pub(super) active: Vec<Active>,
    off: Vec<Off>,
    /// What they look for in changed lines.
    pub(super) content: Content,
}

/// A policy that a file switches off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    /// Its name.
    pub name: String,
    /// The line of its section, from 1.
    pub line: usize,
}

/// A policy that will run.
#[derive(Debug)]
pub(super) struct Active {
    pub name: String,
    severity: FindingSeverity,
    pub rule: Box<dyn Rule>,
    lines: Vec<(&'static str, usize)>,
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
    /// The keys that the policy file sets, each with its line, from 1. The others have their
    /// defaults.
    pub lines: Vec<(&'static str, usize)>,
}

/// A section that was read: its policy, or none where it is switched off.
enum Read {
    Active(Active),
    Off,
    Wrong,
}

impl PolicySet {
    /// The policy file that `govforge init` writes: the defaults, every key explained, and
    /// expressions for the secrets that really leak.
    pub const EXAMPLE: &str = include_str!("../../policies.example.toml");

    /// What runs without a policy file: every built-in policy with its defaults.
    pub fn defaults() -> Self {
        let sections = BUILT_IN.iter().map(|built_in| Section::empty(built_in.name));
        let active = sections.filter_map(|mut section| match read(&mut section) {
            Read::Active(active) => Some(active),
            _ => None,
        });
        Self::new(active.collect(), Vec::new())
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
        let (sections, mut mistakes) = raw::sections(text, &known());
        let place = Lines::new(text);
        let (mut active, mut off) = (Vec::new(), Vec::new());
        let mut meaning = Mistakes::default();
        for mut section in sections {
            match read(&mut section) {
                Read::Active(policy) => {
                    let places = section.places().iter();
                    let lines = places.map(|(key, at)| (*key, place.line(*at))).collect();
                    active.push(Active { lines, ..policy });
                }
                Read::Off => {
                    let line = place.line(section.at());
                    off.push(Off { name: section.name().to_owned(), line });
                }
                Read::Wrong => {}
            }
            if active.len() + off.len() > MOST_SECTIONS {
                let message = format!("A policy file has at most {MOST_SECTIONS} sections.");
                section.mistake(section.at(), message);
                meaning.append(section.finish());
                break;
            }
            meaning.append(section.finish());
        }
        meaning.drop_lines_of(&mistakes, text);
        mistakes.append(meaning);
        if mistakes.is_empty() {
            Ok(Self::new(active, off))
        } else {
            Err(mistakes.into_placed(text))
        }
    }

    /// The active policies, in order of evaluation.
    pub fn policies(&self) -> impl Iterator<Item = PolicyInfo> {
        self.active.iter().map(|active| PolicyInfo {
            name: active.name.clone(),
            description: active.rule.description().to_owned(),
            severity: active.severity,
            config: active.rule.config(),
            lines: active.lines.clone(),
        })
    }

    /// The policies that the file switches off, in its order.
    pub fn off(&self) -> &[Off] {
        &self.off
    }

    fn new(active: Vec<Active>, off: Vec<Off>) -> Self {
        let lines = active.iter().map(|active| active.rule.lines());
        let content = Content::new(lines.map(|lines| lines.map_or(&[][..], ReadsLines::sought)));
        Self { active, off, content }
    }
}

/// Reads a section.
fn read(section: &mut Section<'_>) -> Read {
    let name = section.name().to_owned();
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name);
    let reader = match built_in {
        Some(built_in) => built_in.read,
        None => match own::kind(section) {
            Some(read) => read,
            None => return Read::Wrong,
        },
    };
    let enabled = section.boolean("enabled", true);
    let severity = section.value("severity", FindingSeverity::Medium);
    let rule = reader(section);
    if enabled {
        Read::Active(Active { name, severity, rule, lines: Vec::new() })
    } else {
        Read::Off
    }
}

/// Every name and key that a policy file may have.
pub(super) fn known() -> Known {
    let keys = |mut section: Section<'_>| {
        read(&mut section);
        section.asked().to_vec()
    };
    Known {
        policies: BUILT_IN
            .iter()
            .map(|built_in| (built_in.name, keys(Section::empty(built_in.name))))
            .collect(),
        kinds: own::KINDS.iter().map(|(kind, _)| (*kind, keys(Section::of_kind(kind)))).collect(),
    }
}
