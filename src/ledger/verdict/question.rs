//! What a person is shown at the human gate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::json;

use super::gate::{are_checked, author_of, check_approver, check_ready, open_topics};
use crate::domain::access::UseCase;
use crate::domain::digest;
use crate::domain::entity::{Decision, Finding};
use crate::domain::names::hidden::is_hidden;
use crate::domain::value::{
    ApprovalStatus, DecisionStatus, PolicyResultStatus, ReviewStatus, RiskLevel,
};
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::reading::context::GitChangeShown;
use crate::ledger::settings::config::Confirm;
use crate::ledger::verdict::approvals::ApproveDecision;
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::work::references::vanished;
use crate::store;
use crate::store::engine::Connection;

/// How many files, findings or other entries of one list are shown.
const SHOWN: usize = 10;

/// How many characters of a text that an agent wrote are shown.
const LENGTH: usize = 200;

/// What a person must know to give a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Whether the settings of the project let the person be asked.
    pub confirm: Confirm,
    /// What the verdict is about, in short: it changes with whatever is shown and with each
    /// verdict, so that an answer counts for what was shown, and once.
    pub fingerprint: String,
    /// Display ID of the decision.
    pub decision_id: String,
    pub title: String,
    pub status: DecisionStatus,
    pub risk_level: RiskLevel,
    /// The name of the decision's author.
    pub author: String,
    /// The change attached now.
    pub change: Option<GitChangeShown>,
    /// The policies that block it, each with its message: the project's own first.
    pub blocked: Vec<(String, String)>,
    /// Whether the policies have not been run for this change.
    pub unchecked: bool,
    /// The newest review of each reviewer: those of this change first, objections before the others.
    pub reviews: Vec<LastReview>,
    /// The findings of its reviews, each with the review and whether that saw another change:
    /// those about this change first, the gravest before the others.
    pub findings: Vec<OpenFinding>,
    /// The topics of the disagreements that nobody has settled.
    pub disagreements: Vec<String>,
}

/// What a reviewer said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastReview {
    /// Display ID of the review.
    pub review: String,
    /// Name of the reviewer.
    pub reviewer: String,
    pub outcome: ReviewStatus,
    /// Whether it is about another change than the one attached now.
    pub stale: bool,
}

/// A finding as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFinding {
    /// Display ID of the review.
    pub review: String,
    pub stale: bool,
    pub finding: Finding,
}

impl Service {
    /// What to ask a person for a verdict that an agent brings; refuses what would be refused
    /// whatever the person answers.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, a mistake in the settings, and an approver who may not
    /// judge it.
    pub async fn verdict_question(&self, input: &ApproveDecision) -> Result<Question> {
        let mut read = self.ledger.read(UseCase::ApproveDecision).await?;
        let decision = self.decision(&mut read, &input.decision_id).await?;
        let (settings, rules) = self.approval_settings(&mut read, &decision).await?;
        check_approver(&mut read, &decision, &input.approver).await?;
        if input.status == ApprovalStatus::Approved {
            check_ready(&mut read, &decision, &settings, &rules).await?;
        }
        question(&mut read, &decision, settings.confirm, &rules).await
    }
}

/// What a person would be shown now.
pub(in crate::ledger) async fn question(
    connection: &mut Connection,
    decision: &Decision,
    confirm: Confirm,
    rules: &Current,
) -> Result<Question> {
    let author = author_of(connection, decision).await?;
    let dossier = store::ledger::dossier::of_decision(connection, decision.id).await?;
    let changes = AttachedChanges::from(dossier.marks);
    let mut newest = BTreeMap::new();
    for result in dossier.policy_results {
        if changes.is_stale(result.recorded) {
            continue;
        }
        let by_other_rules =
            result.run.as_ref().is_some_and(|run| !rules.is(run.config_hash.as_deref()));
        let blocks = result.status == PolicyResultStatus::Blocked;
        let message = blocks.then(|| result.message.unwrap_or_default());
        // Rules that an agent chose with config_path neither take a block back nor cover it.
        if !by_other_rules {
            newest.insert(result.policy, (by_other_rules, message));
        } else if blocks {
            let known = newest.entry(result.policy).or_insert((by_other_rules, None));
            if known.1.is_none() {
                *known = (by_other_rules, message);
            }
        }
    }
    let mut blocked: Vec<_> = newest
        .into_iter()
        .filter_map(|(policy, (by_other_rules, why))| Some((by_other_rules, policy, why?)))
        .collect();
    blocked.sort_by_key(|(by_other_rules, ..)| *by_other_rules);
    let blocked = blocked.into_iter().map(|(_, policy, why)| (policy, why)).collect();
    let names = store::ledger::agents::names(connection).await?;
    let mut last = Vec::new();
    let mut heard = BTreeSet::new();
    for review in dossier.reviews.iter().rev() {
        if heard.insert(review.reviewer_agent_id) {
            last.push(LastReview {
                review: review.display_id.clone(),
                reviewer: names.get(&review.reviewer_agent_id).ok_or_else(vanished)?.clone(),
                outcome: review.status,
                stale: changes.is_stale(review.recorded),
            });
        }
    }
    // Nobody can push what matters out of sight: neither an objection with a heap of praise, nor
    // a grave finding with a heap of small ones.
    let objects =
        |outcome| matches!(outcome, ReviewStatus::Rejected | ReviewStatus::ChangesRequested);
    last.sort_by_key(|last| (last.stale, !objects(last.outcome)));
    let mut findings: Vec<OpenFinding> = dossier
        .findings
        .into_iter()
        .filter_map(|(review_id, finding)| {
            let review = dossier.reviews.iter().find(|review| review.id == review_id)?;
            Some(OpenFinding {
                review: review.display_id.clone(),
                stale: changes.is_stale(review.recorded),
                finding,
            })
        })
        .collect();
    findings.sort_by_key(|open| (open.stale, Reverse(open.finding.severity)));
    let verdict = dossier.approvals.last();
    let mut question = Question {
        confirm,
        fingerprint: String::new(),
        unchecked: !are_checked(connection, decision, &changes, rules).await?,
        decision_id: decision.display_id.clone(),
        title: decision.title.clone(),
        status: decision.status,
        risk_level: decision.risk_level,
        author,
        change: dossier.change.map(GitChangeShown::from),
        blocked,
        reviews: last,
        findings,
        disagreements: open_topics(dossier.disagreements, verdict),
    };
    let about = json!([decision.id, question.to_string(), verdict.map(|one| one.id)]);
    question.fingerprint = digest::of(about.to_string());
    Ok(question)
}

/// The question as a person reads it. Whatever agents wrote stands on one line, shortened and
/// in quotation marks, so that it cannot pass for the form itself.
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.decision_id, quoted(&self.title))?;
        writeln!(f, "Author: {}", quoted(&self.author))?;
        writeln!(f, "Risk: {}. Status: {}.", self.risk_level, self.status)?;
        match &self.change {
            None => writeln!(f, "Change: none is attached.")?,
            Some(change) => {
                let total = change.files_changed_total.unwrap_or(change.files_changed.len());
                writeln!(
                    f,
                    "Change: commit {}, {total} file(s), +{} -{}",
                    change.commit_hash, change.insertions, change.deletions
                )?;
                writeln!(f, "Diff hash: {}", change.diff_hash.as_deref().unwrap_or("none"))?;
                let files = change.files_changed.iter().map(|file| quoted(file));
                list(f, files, total)?;
            }
        }
        if self.unchecked {
            writeln!(f, "Policies: not run for this change by the project's rules.")?;
        } else if self.blocked.is_empty() {
            writeln!(f, "Policies: none blocks.")?;
        }
        if !self.blocked.is_empty() {
            writeln!(f, "Blocked by policies:")?;
            let blocked =
                self.blocked.iter().map(|(policy, why)| format!("{policy}: {}", quoted(why)));
            list(f, blocked, self.blocked.len())?;
        }
        if self.reviews.is_empty() {
            writeln!(f, "Reviews: none.")?;
        } else {
            writeln!(f, "Reviews:")?;
            let reviews = self.reviews.iter().map(|last| {
                let old = if last.stale { ", about another change" } else { "" };
                format!("{} by {}: {}{old}", last.review, quoted(&last.reviewer), last.outcome)
            });
            list(f, reviews, self.reviews.len())?;
        }
        if self.findings.is_empty() {
            writeln!(f, "Findings: none.")?;
        } else {
            writeln!(f, "Findings:")?;
            let findings = self.findings.iter().map(|open| {
                let old = if open.stale { ", about another change" } else { "" };
                let finding = &open.finding;
                let place = finding.place().map(|place| quoted(&place) + " ").unwrap_or_default();
                let message = quoted(&finding.message);
                format!("{} ({}{old}) {place}{message}", finding.severity, open.review)
            });
            list(f, findings, self.findings.len())?;
        }
        if self.disagreements.is_empty() {
            writeln!(f, "Disagreements: none is open.")
        } else {
            writeln!(f, "Open disagreements:")?;
            let topics = self.disagreements.iter().map(|topic| quoted(topic));
            list(f, topics, self.disagreements.len())
        }
    }
}

fn list(
    f: &mut fmt::Formatter<'_>,
    entries: impl Iterator<Item = String>,
    total: usize,
) -> fmt::Result {
    for entry in entries.take(SHOWN) {
        writeln!(f, "- {entry}")?;
    }
    match total.saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(f, "- and {more} more"),
    }
}

/// A text of an agent on one line, of at most 200 characters. What is not seen, or changes the
/// direction of what follows, is taken out.
pub fn quoted(text: &str) -> String {
    let mut line: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !is_hidden(*c))
        .map(|c| if c == '"' { '\'' } else { c })
        .collect();
    if let Some((end, _)) = line.char_indices().nth(LENGTH) {
        line.truncate(end);
        line.push('…');
    }
    format!("\"{line}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_stays_on_its_line() {
        assert_eq!(quoted("a\nVerdict: \"approved\"\u{202e}"), "\"a Verdict: 'approved'\"");
        assert_eq!(quoted(&"x".repeat(300)).chars().count(), LENGTH + 3);
    }
}
