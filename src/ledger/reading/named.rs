//! A decision as a person wants to read it: the record in full, with everybody's name.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value as Json;
use uuid::Uuid;

use super::context::{
    ApprovalShown, DecisionShown, DisagreementInFull, EventShown, GitChangeShown,
    PolicyResultInFull, ReviewInFull, record,
};
use crate::domain::access::UseCase;
use crate::domain::entity::{self, Finding};
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::git::FileCounts;
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::verdict::vouched;
use crate::store;
use crate::store::events::EventTold;
use crate::store::ledger::dossier::Dossier;

/// Everything that the ledger holds about one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedRecord {
    #[serde(skip)]
    pub uuid: Uuid,
    /// The name of the project.
    pub project: String,
    /// The task that it belongs to.
    pub task: Option<TaskNamed>,
    /// The name of the author.
    pub author: String,
    pub created_at: Timestamp,
    pub decision: DecisionShown,
    /// The newest change attached to it.
    pub git_change: Option<GitChangeShown>,
    /// The lines of each file of the change; `None` if the repository cannot be read now.
    pub files: Option<Vec<FileCounts>>,
    pub reviews: Vec<Signed<ReviewInFull>>,
    pub policy_results: Vec<PolicyResultInFull>,
    pub disagreements: Vec<DisagreementInFull>,
    pub approvals: Vec<Signed<ApprovalShown>>,
    /// Oldest first.
    pub events: Vec<EventSigned>,
}

/// A task by its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskNamed {
    pub id: String,
    pub title: String,
}

/// A record, by whom and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signed<T> {
    /// Who reviewed or gave the verdict.
    pub by: String,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub what: T,
}

/// An event with the name of whoever acted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventSigned {
    /// `None` where nobody was named.
    pub actor: Option<String>,
    /// The display ID of the task or decision that it is about; of a review, its own in the
    /// record of a project, else its decision's. `None` where that is gone.
    pub about: Option<String>,
    /// Who was asked for a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    #[serde(flatten)]
    pub event: EventShown,
}

impl NamedRecord {
    /// Everything about a decision that the ledger tells without its events.
    pub(in crate::ledger) fn new(
        decision: entity::Decision,
        dossier: Dossier,
        task: Option<entity::Task>,
        project: &str,
        rules: &Current,
        names: &HashMap<Uuid, String>,
    ) -> Self {
        let by = |id, at| (name(names, id), at);
        let reviewers: Vec<_> =
            dossier.reviews.iter().map(|row| by(row.reviewer_agent_id, row.created_at)).collect();
        let approvers: Vec<_> = dossier
            .verdicts
            .iter()
            .map(|one| (one.approver().to_owned(), one.created_at()))
            .collect();
        let (author, created_at) = by(decision.author_agent_id, decision.created_at);
        let record = record(decision, dossier, rules);
        Self {
            uuid: record.uuid,
            project: project.to_owned(),
            task: task.map(|task| TaskNamed { id: task.display_id, title: task.title }),
            author,
            created_at,
            decision: record.decision,
            git_change: record.git_change,
            files: None,
            reviews: signed_by(reviewers, record.reviews),
            policy_results: record.policy_results,
            disagreements: record.disagreements,
            approvals: signed_by(approvers, record.approvals),
            events: Vec::new(),
        }
    }

    /// The results of the last policy run; of the original's runs, which are not told apart, the
    /// newest of each policy.
    pub fn newest_results(&self) -> Vec<&PolicyResultInFull> {
        let run = self.policy_results.last().and_then(|full| full.result.run_id);
        let mut newest: Vec<&PolicyResultInFull> = Vec::new();
        for full in self.policy_results.iter().filter(|full| full.result.run_id == run) {
            newest.retain(|known| known.result.policy_id != full.result.policy_id);
            newest.push(full);
        }
        newest
    }

    /// Rewrites every text in it that an agent or a person wrote.
    pub fn rewrite(&mut self, rewrite: &mut dyn FnMut(&str) -> String) {
        let decision = &mut self.decision;
        let mut texts = vec![Some(&mut decision.title)];
        texts.extend([decision.summary.as_mut(), decision.rationale.as_mut()]);
        texts.push(self.task.as_mut().map(|task| &mut task.title));
        for signed in &mut self.reviews {
            let ReviewInFull { review, findings } = &mut signed.what;
            texts.push(review.summary.as_mut());
            for finding in findings {
                texts.extend([Some(&mut finding.message), finding.recommendation.as_mut()]);
            }
        }
        for full in &mut self.disagreements {
            let of_it = &mut full.disagreement;
            texts.extend([Some(&mut of_it.topic), of_it.resolution.as_mut()]);
            texts.extend([full.author_position.as_mut(), full.reviewer_position.as_mut()]);
            texts.push(full.risk_summary.as_mut());
        }
        texts.extend(self.approvals.iter_mut().map(|signed| signed.what.comment.as_mut()));
        texts.into_iter().flatten().for_each(|text| *text = rewrite(text));
        self.events.iter_mut().for_each(|signed| each_text(&mut signed.event.payload, rewrite));
    }

    /// The findings of all reviews, the most severe first.
    pub fn findings(&self) -> Vec<(&Signed<ReviewInFull>, &Finding)> {
        let mut findings: Vec<_> = self
            .reviews
            .iter()
            .flat_map(|review| review.what.findings.iter().map(move |finding| (review, finding)))
            .collect();
        findings.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
        findings
    }
}

impl Service {
    /// Everything about a decision, with the lines of each file of its change as the repository
    /// has it now.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision.
    pub async fn named_record_with_files(&self, decision_id: &str) -> Result<NamedRecord> {
        let mut record = self.named_record(decision_id).await?;
        if record.git_change.is_some() {
            let attached = self.attached(&record.uuid.to_string()).await?;
            record.files = attached
                .file_counts()
                .inspect_err(|error| tracing::info!(%error, "the change cannot be read"))
                .ok();
        }
        Ok(record)
    }

    /// Everything that the ledger alone tells about a decision.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision.
    pub async fn named_record(&self, decision_id: &str) -> Result<NamedRecord> {
        let mut read = self.ledger.read(UseCase::DecisionRecord).await?;
        let decision = self.decision(&mut read, decision_id).await?;
        let project = self.project_of(&mut read, decision.project_id).await?;
        let names = store::ledger::agents::names_around(&mut read, decision.id).await?;
        let task = match decision.task_id {
            Some(id) => store::ledger::tasks::by_id(&mut read, id).await?,
            None => None,
        };
        let (dossier, rules) = self.dossier_of(&mut read, &decision).await?;
        let events = dossier.events()?;
        let vouched = vouched::events(dossier.verdicts.iter());
        let mut record = NamedRecord::new(decision, dossier, task, &project.name, &rules, &names);
        let about = record.decision.id.clone();
        record.events = events
            .into_iter()
            .map(|told| signed(&names, told, Some(about.clone()), &vouched))
            .collect();
        Ok(record)
    }

    /// The events of a task and of everything linked to it, with everybody's name; and the
    /// task's title.
    ///
    /// # Errors
    ///
    /// Refuses an unknown task.
    pub async fn task_history(&self, task_id: &str) -> Result<(TaskNamed, Vec<EventSigned>)> {
        let mut read = self.ledger.read(UseCase::TaskTimeline).await?;
        let task = self.task(&mut read, task_id).await?;
        let names = store::ledger::agents::names(&mut read).await?;
        let events = store::events::of_task(&mut read, task.id).await?;
        let decisions = store::ledger::tasks::decisions_around(&mut read, task.id).await?;
        let vouched = vouched::events_among(&mut read, &events).await?;
        let about = |event: &entity::Event| match event.entity_id == task.id {
            true => Some(task.display_id.clone()),
            false => decisions.get(&event.entity_id).cloned(),
        };
        let events = events.into_iter().map(|told| {
            let about = about(&told.event);
            signed(&names, told, about, &vouched)
        });
        let events = events.collect();
        Ok((TaskNamed { id: task.display_id, title: task.title }, events))
    }
}

fn each_text(json: &mut Json, rewrite: &mut dyn FnMut(&str) -> String) {
    match json {
        Json::String(text) => *text = rewrite(text),
        Json::Array(items) => items.iter_mut().for_each(|item| each_text(item, rewrite)),
        Json::Object(fields) => fields.values_mut().for_each(|field| each_text(field, rewrite)),
        _ => {}
    }
}

fn signed_by<T>(who: Vec<(String, Timestamp)>, what: Vec<T>) -> Vec<Signed<T>> {
    let pairs = who.into_iter().zip(what);
    pairs.map(|((by, created_at), what)| Signed { by, created_at, what }).collect()
}

pub(in crate::ledger) fn signed(
    names: &HashMap<Uuid, String>,
    told: EventTold,
    about: Option<String>,
    vouched: &HashSet<Uuid>,
) -> EventSigned {
    let named = |id| names.get(&id).cloned();
    let actor = told.event.actor_agent_id.and_then(named);
    let event = EventShown::new(told, vouched);
    let asked = event.payload["reviewer_agent_id"].as_str();
    let reviewer = asked.and_then(|id| Uuid::parse_str(id).ok()).and_then(named);
    EventSigned { actor, about, reviewer, event }
}

pub(in crate::ledger) fn name(names: &HashMap<Uuid, String>, id: Uuid) -> String {
    names.get(&id).cloned().unwrap_or_else(|| "unknown".to_owned())
}
