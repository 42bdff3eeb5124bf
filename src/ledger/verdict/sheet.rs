//! The sheet that a person reads before they sign, in parts: each surface that asks for a verdict
//! shows all of them, in its own way.

use std::fmt;

use super::question::{LastReview, OpenDisagreement, OpenFinding, PolicyStanding, Question};
use crate::domain::names::hidden::is_hidden;
use crate::domain::value::PolicyResultStatus;
use crate::ledger::reading::context::GitChangeShown;

/// How many files, findings or other entries of one list are shown.
const SHOWN: usize = 10;

/// How many characters are shown of a text that an agent wrote in a line.
const LENGTH: usize = 200;

/// How many are shown of what it wrote at length: a summary, a rationale, a position.
const LONG: usize = 800;

/// A part of the sheet. What agents wrote stands on one line, shortened and in quotation marks, so
/// that it cannot pass for the sheet itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub title: String,
    /// What is told in a line.
    pub text: Option<String>,
    pub weight: Weight,
    pub entries: Vec<Entry>,
    /// How many entries more there are.
    pub left_out: usize,
}

/// How much a part matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// What all of it is about.
    Title,
    Plain,
    /// It speaks against an approval.
    Objection,
}

/// An entry of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub text: String,
    /// What belongs to it, each in a line.
    pub details: Vec<String>,
}

impl Part {
    fn line(title: &str, text: impl Into<String>) -> Self {
        Self {
            title: title.to_owned(),
            text: Some(text.into()),
            weight: Weight::Plain,
            entries: Vec::new(),
            left_out: 0,
        }
    }

    /// The first of the entries, of which there are `total`.
    fn list(title: &str, entries: impl Iterator<Item = Entry>, total: usize) -> Self {
        Self { text: None, ..Self::line(title, "") }.with(entries, total)
    }

    fn with(self, entries: impl Iterator<Item = Entry>, total: usize) -> Self {
        let entries: Vec<Entry> = entries.take(SHOWN).collect();
        Self { left_out: total.saturating_sub(entries.len()), entries, ..self }
    }

    fn objecting(self) -> Self {
        Self { weight: Weight::Objection, ..self }
    }
}

impl Entry {
    fn of(text: String) -> Self {
        Self { text, details: Vec::new() }
    }
}

impl Question {
    /// What a person has to have read.
    pub fn sheet(&self) -> Vec<Part> {
        let title = Part::line(&self.decision_id, quoted(&self.title));
        let told = |title: &str, text: Option<&String>| {
            Part::line(title, text.map_or_else(|| "none is given.".to_owned(), |text| long(text)))
        };
        let mut parts = vec![
            Part { weight: Weight::Title, ..title },
            Part::line("Author", quoted(&self.author)),
            Part::line("Risk", format!("{}. Status: {}.", self.risk_level, self.status)),
            told("Summary", self.summary.as_ref()),
            told("Rationale", self.rationale.as_ref()),
        ];
        parts.extend(change(self.change.as_ref()));
        parts.extend(self.policy_parts());
        parts.push(match self.reviews.is_empty() {
            true => Part::line("Reviews", "none."),
            false => Part::list("Reviews", self.reviews.iter().map(review), self.reviews.len()),
        });
        parts.push(match self.findings.is_empty() {
            true => Part::line("Findings", "none."),
            false => {
                let findings = self.findings.iter().map(finding);
                Part::list("Findings", findings, self.findings.len()).objecting()
            }
        });
        parts.push(match self.disagreements.is_empty() {
            true => Part::line("Disagreements", "none is open."),
            false => {
                let open = self.disagreements.iter().map(disagreement);
                Part::list("Open disagreements", open, self.disagreements.len()).objecting()
            }
        });
        let id = &self.decision_id;
        let lines = self.change.as_ref().map(|_| format!("; the lines: `govforge diff {id}`"));
        let lines = lines.unwrap_or_default();
        parts.push(Part::line("All of it", format!("`govforge show {id}`{lines}.")));
        parts
    }

    fn policy_parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.unchecked {
            let text = "not run for this change by the project's rules.";
            parts.push(Part::line("Policies", text).objecting());
        }
        let of = |status| self.policies.iter().filter(move |one| one.status == status);
        let told = |one: &PolicyStanding| {
            let message = quoted(one.message.as_deref().unwrap_or_default());
            Entry::of(format!("{}: {message}", policy_name(&one.policy)))
        };
        for (status, title) in [
            (PolicyResultStatus::Blocked, "Blocked by policies"),
            (PolicyResultStatus::Warning, "Policies that warn"),
        ] {
            let total = of(status).count();
            if total > 0 {
                parts.push(Part::list(title, of(status).map(told), total).objecting());
            }
        }
        let passed = of(PolicyResultStatus::Passed).map(|one| policy_name(&one.policy));
        let passed: Vec<String> = passed.collect();
        match (passed.len(), parts.is_empty()) {
            (0, true) => parts.push(Part::line("Policies", "none applies.")),
            (0, false) => {}
            (count, _) => {
                let more = if count > SHOWN { ", ..." } else { "" };
                let names = passed[..count.min(SHOWN)].join(", ");
                parts.push(Part::line("Policies passed", format!("{count} ({names}{more}).")));
            }
        }
        parts
    }
}

/// Another program may have written any name.
fn policy_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

fn change(change: Option<&GitChangeShown>) -> Vec<Part> {
    let Some(change) = change else { return vec![Part::line("Change", "none is attached.")] };
    let total = change.files_changed_total.unwrap_or(change.files_changed.len());
    let counts = format!(
        "commit {}, {total} file(s), +{} -{}",
        change.commit_hash, change.insertions, change.deletions
    );
    let hash = change.diff_hash.as_deref().unwrap_or("none");
    let files = change.files_changed.iter().map(|file| Entry::of(quoted(file)));
    vec![Part::line("Change", counts), Part::line("Diff hash", hash).with(files, total)]
}

fn review(last: &LastReview) -> Entry {
    let LastReview { review, reviewer, outcome, summary, stale } = last;
    let text = format!("{review} by {}: {outcome}{}", quoted(reviewer), aside(*stale));
    Entry { text, details: summary.iter().map(|summary| quoted(summary)).collect() }
}

fn finding(open: &OpenFinding) -> Entry {
    let OpenFinding { review, stale, finding } = open;
    let place = finding.place().map(|place| quoted(&place) + " ").unwrap_or_default();
    let (severity, message) = (finding.severity, quoted(&finding.message));
    let advice = finding.recommendation.as_ref();
    Entry {
        text: format!("{severity} ({review}{}) {place}{message}", aside(*stale)),
        details: advice
            .map(|advice| format!("Recommended: {}", quoted(advice)))
            .into_iter()
            .collect(),
    }
}

fn disagreement(open: &OpenDisagreement) -> Entry {
    let told = |who: &str, text: &Option<String>| {
        format!("{who}: {}", text.as_ref().map_or_else(|| "not told".to_owned(), |text| long(text)))
    };
    let mut details = vec![
        told("The author", &open.author_position),
        told("The reviewer", &open.reviewer_position),
    ];
    details.extend(open.risk_summary.as_ref().map(|risk| format!("The risk: {}", long(risk))));
    Entry { text: quoted(&open.topic), details }
}

fn aside(stale: bool) -> &'static str {
    if stale { ", about another change" } else { "" }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sheet().iter().try_for_each(|part| write!(f, "{part}"))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading())?;
        for entry in &self.entries {
            writeln!(f, "- {}", entry.text)?;
            for detail in &entry.details {
                writeln!(f, "  {detail}")?;
            }
        }
        match self.left_out {
            0 => Ok(()),
            more => writeln!(f, "- and {more} more"),
        }
    }
}

impl Part {
    /// The title, with what is told in a line.
    pub fn heading(&self) -> String {
        match &self.text {
            Some(text) => format!("{}: {text}", self.title),
            None => format!("{}:", self.title),
        }
    }
}

/// A text of an agent on one line, of at most 200 characters, and how many there are where that is
/// not all. What is not seen, or changes the direction of what follows, is taken out.
pub fn quoted(text: &str) -> String {
    cut(text, LENGTH)
}

fn long(text: &str) -> String {
    cut(text, LONG)
}

fn cut(text: &str, length: usize) -> String {
    let mut line: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !is_hidden(*c))
        .map(|c| if c == '"' { '\'' } else { c })
        .collect();
    match line.char_indices().nth(length) {
        Some((end, _)) => {
            let total = line.chars().count();
            line.truncate(end);
            format!("\"{line}…\" ({length} of {total} characters)")
        }
        None => format!("\"{line}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_stays_on_its_line() {
        assert_eq!(quoted("a\nVerdict: \"approved\"\u{202e}"), "\"a Verdict: 'approved'\"");
        let long = quoted(&"x".repeat(300));
        assert_eq!(long, format!("\"{}…\" (200 of 300 characters)", "x".repeat(LENGTH)));
    }
}
