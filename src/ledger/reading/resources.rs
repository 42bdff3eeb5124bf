//! What the resources show, and the list of concrete ones.

use serde::Serialize;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::Finding;
use crate::domain::id::Kind;
use crate::domain::time::Timestamp;
use crate::domain::value::{FindingSeverity, ReviewStatus};
use crate::error::{Error, Result};
use crate::ledger::Service;
use crate::ledger::reading::context::EventShown;
use crate::ledger::verdict::vouched;
use crate::ledger::work::references::{qualified, vanished};
use crate::store;
use crate::store::engine::Connection;
use crate::store::ledger::records::{Position, Record};

/// How many records a page of the list holds.
const PAGE: u32 = 100;

/// `govforge://project/{project_id}/policies`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectPolicies {
    pub project_id: Uuid,
    /// The policies that a run would evaluate now, by name.
    pub policies: Vec<PolicyShown>,
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyShown {
    pub name: String,
    pub description: String,
    pub severity: FindingSeverity,
    pub config: Json,
}

/// `govforge://project/{project_id}/conventions`, a placeholder as in the original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectConventions {
    pub project_id: Uuid,
    pub conventions: Vec<String>,
}

/// `govforge://task/{task_id}/timeline`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// Display ID of the task.
    pub task_id: String,
    /// Oldest first.
    pub events: Vec<EventShown>,
}

/// `govforge://review/{review_id}`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewRecord {
    /// Display ID of the review.
    pub id: String,
    /// Display ID of the decision.
    pub decision_id: String,
    pub status: ReviewStatus,
    pub summary: Option<String>,
    pub findings: Vec<Finding>,
}

/// A concrete resource of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A project, which has two resources.
    Project { id: Uuid, name: String },
    /// A task, decision or review.
    Record {
        kind: Kind,
        /// What names it: the display ID, or the UUID where that alone is unambiguous.
        reference: String,
        /// What a person calls it: the display ID, with the project where there are several.
        shown_id: String,
        title: String,
        status: String,
    },
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub resources: Vec<Listed>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

impl Service {
    /// The policies that a run would evaluate now for a project.
    ///
    /// # Errors
    ///
    /// Refuses an unknown project, and one whose policy file is wrong.
    pub async fn project_policies(&self, project_id: &str) -> Result<ProjectPolicies> {
        let mut read = self.ledger.read(UseCase::ProjectPolicies).await?;
        let project = self.project_by_id(&mut read, project_id).await?;
        drop(read);
        let rules = self.rules_of(&project).await?;
        let mut policies: Vec<PolicyShown> = rules
            .set
            .policies()
            .map(|policy| PolicyShown {
                name: policy.name.to_string(),
                description: policy.description.to_string(),
                severity: policy.severity,
                config: policy.config,
            })
            .collect();
        policies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(ProjectPolicies { project_id: project.id, policies })
    }

    /// The conventions of a project: none are kept yet.
    ///
    /// # Errors
    ///
    /// Refuses an unknown project.
    pub async fn project_conventions(&self, project_id: &str) -> Result<ProjectConventions> {
        let mut read = self.ledger.read(UseCase::ProjectConventions).await?;
        let project = self.project_by_id(&mut read, project_id).await?;
        Ok(ProjectConventions { project_id: project.id, conventions: Vec::new() })
    }

    /// The events of a task and of everything linked to it.
    ///
    /// # Errors
    ///
    /// Refuses an unknown task.
    pub async fn task_timeline(&self, task_id: &str) -> Result<Timeline> {
        let mut read = self.ledger.read(UseCase::TaskTimeline).await?;
        let task = self.task(&mut read, task_id).await?;
        let events = store::events::of_task(&mut read, task.id).await?;
        let vouched = vouched::events_among(&mut read, &events).await?;
        let events = events.into_iter().map(|told| EventShown::new(told, &vouched)).collect();
        Ok(Timeline { task_id: task.display_id, events })
    }

    /// A review with its findings.
    ///
    /// # Errors
    ///
    /// Refuses an unknown review.
    pub async fn review_record(&self, review_id: &str) -> Result<ReviewRecord> {
        let mut read = self.ledger.read(UseCase::ReviewRecord).await?;
        let review = self.review(&mut read, review_id).await?;
        let decision = store::ledger::decisions::by_id(&mut read, review.decision_id)
            .await?
            .ok_or_else(vanished)?;
        let findings = store::ledger::reviews::findings_of_decision(&mut read, decision.id).await?;
        let findings = findings
            .into_iter()
            .filter_map(|(review_id, finding)| (review_id == review.id).then_some(finding))
            .collect();
        Ok(ReviewRecord {
            id: review.display_id,
            decision_id: decision.display_id,
            status: review.status,
            summary: review.summary,
            findings,
        })
    }

    /// A page of the concrete resources: the projects first, then the open tasks, decisions
    /// and reviews, newest first.
    ///
    /// # Errors
    ///
    /// Refuses a cursor that this server did not give.
    pub async fn list_resources(&self, cursor: Option<&str>) -> Result<Page> {
        let before = cursor.map(read_cursor).transpose()?;
        let mut read = self.ledger.read(UseCase::ListResources).await?;
        let projects = store::ledger::projects::all(&mut read).await?;
        let mut records = Vec::new();
        for kind in [Kind::Task, Kind::Decision, Kind::Review] {
            let open =
                store::ledger::records::open_before(&mut read, kind, before.as_ref(), PAGE + 1)
                    .await?;
            records.extend(open.into_iter().map(|record| (kind, record)));
        }
        records.sort_by(|(_, a), (_, b)| b.position.cmp(&a.position));
        let more = records.len() > PAGE as usize;
        records.truncate(PAGE as usize);
        let next = records.last().filter(|_| more).map(|(_, last)| write_cursor(last));
        let current = match projects.as_slice() {
            [only] => Some(only.id),
            _ => self.current_project_id(&mut read).await?,
        };
        let mut resources: Vec<Listed> = records
            .into_iter()
            .map(|(kind, record)| Listed::Record {
                kind,
                // In another project the display ID could mean one of this project's.
                reference: match current == Some(record.project_id) {
                    true => record.display_id.clone(),
                    false => record.id.to_string(),
                },
                shown_id: qualified(&projects, &record),
                title: record.title,
                status: record.status,
            })
            .collect();
        if before.is_none() {
            let listed = projects.into_iter();
            let listed =
                listed.map(|project| Listed::Project { id: project.id, name: project.name });
            resources.splice(..0, listed);
        }
        Ok(Page { resources, next })
    }

    /// The current project; a wrong `GOVFORGE_PROJECT` is no reason to refuse a list.
    async fn current_project_id(&self, connection: &mut Connection) -> Result<Option<Uuid>> {
        match self.current_project(connection).await {
            Ok(project) => Ok(project.map(|project| project.id)),
            Err(Error::Refused(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// A cursor is the time and the id of the last record of the page before.
fn write_cursor(last: &Record) -> String {
    let (time, id) = &last.position;
    format!("{time}~{id}")
}

fn read_cursor(cursor: &str) -> Result<Position> {
    let is_one =
        |(time, id): &(&str, &str)| Timestamp::read(time).is_some() && Uuid::try_parse(id).is_ok();
    cursor
        .split_once('~')
        .filter(is_one)
        .map(|(time, id)| (time.to_owned(), id.to_owned()))
        .ok_or_else(|| {
            Error::invalid(
                "cursor is none that this server gave. Leave it out to start from the first page.",
            )
        })
}
