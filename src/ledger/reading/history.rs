//! The whole record of a project, read piece by piece in one consistent state of the ledger.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::{Project, Task};
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::reading::named::{EventSigned, NamedRecord, signed};
use crate::ledger::verdict::vouched;
use crate::store;
use crate::store::engine::Connection;
use crate::store::ledger::history::{After, Placed};

/// A reader of the record. What it holds in memory does not grow with the record.
pub struct Record {
    read: Connection,
    names: HashMap<Uuid, String>,
    /// The projects of the record, by name.
    pub projects: Vec<Project>,
    /// How many events are in the chain of the ledger, and the hash of the last.
    pub head: (i64, String),
}

/// How far the record of one project is read.
pub struct Reading {
    project: Project,
    rules: Current,
    tasks: After,
    decisions: After,
    /// The last place in the chain; `None` once the events of the chain are read.
    place: Option<i64>,
    events: After,
}

/// A task of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRecorded {
    /// Who asked for it; `None` where nobody was named.
    pub by: Option<String>,
    pub task: Task,
}

/// An event of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecorded {
    /// Its place in the chain of the ledger; `None` if it is not in the chain.
    pub place: Option<i64>,
    pub signed: EventSigned,
}

impl Service {
    /// Begins to read the record of the current project, or of all outside any.
    ///
    /// # Errors
    ///
    /// Refuses a `GOVFORGE_PROJECT` that names no project.
    pub async fn audit_record(&self) -> Result<Record> {
        let mut read = self.ledger.read(UseCase::Export).await?;
        let projects = match self.current_project(&mut read).await? {
            Some(project) => vec![project],
            None => store::ledger::projects::all(&mut read).await?,
        };
        let names = store::ledger::agents::names(&mut read).await?;
        let head = store::chain::head(&mut read).await?;
        Ok(Record { read, names, projects, head })
    }

    /// Begins to read the record of one of its projects.
    ///
    /// # Errors
    ///
    /// A fault of the machine alone.
    pub async fn reading(&self, project: &Project) -> Result<Reading> {
        Ok(Reading {
            project: project.clone(),
            rules: Current::of(project),
            tasks: After::default(),
            decisions: After::default(),
            place: Some(0),
            events: After::default(),
        })
    }
}

impl Record {
    /// The next tasks, oldest first; none at the end.
    ///
    /// # Errors
    ///
    /// Faults on a damaged row.
    pub async fn tasks(&mut self, reading: &mut Reading) -> Result<Vec<TaskRecorded>> {
        let tasks =
            store::ledger::history::tasks(&mut self.read, &reading.project, &mut reading.tasks)
                .await?;
        let by = |task: &Task| self.names.get(&task.created_by_agent_id?).cloned();
        Ok(tasks.into_iter().map(|task| TaskRecorded { by: by(&task), task }).collect())
    }

    /// The next decisions, oldest first, without their events and without a look at the
    /// repository; none at the end.
    ///
    /// # Errors
    ///
    /// Faults on a damaged row.
    pub async fn decisions(&mut self, reading: &mut Reading) -> Result<Vec<NamedRecord>> {
        let Reading { project, rules, decisions, .. } = reading;
        let mut records = Vec::new();
        for decision in
            store::ledger::history::decisions(&mut self.read, project, decisions).await?
        {
            let task = match decision.task_id {
                Some(id) => store::ledger::tasks::by_id(&mut self.read, id).await?,
                None => None,
            };
            let dossier = store::ledger::dossier::of_decision(&mut self.read, decision.id).await?;
            let names = &self.names;
            records.push(NamedRecord::new(decision, dossier, task, &project.name, rules, names));
        }
        Ok(records)
    }

    /// The next events: those in the chain in its order, then the others, oldest first; none at
    /// the end. Each comes once.
    ///
    /// # Errors
    ///
    /// Faults on a damaged row.
    pub async fn events(&mut self, reading: &mut Reading) -> Result<Vec<EventRecorded>> {
        let Reading { project, place, events, .. } = reading;
        let mut found = Vec::new();
        if let Some(before) = *place {
            found = store::ledger::history::chained(&mut self.read, project, before).await?;
            *place = found.last().and_then(|last| last.place);
        }
        if found.is_empty() {
            found = store::ledger::history::unchained(&mut self.read, project, events).await?;
        }
        let vouched =
            vouched::events_among(&mut self.read, found.iter().map(|placed| &placed.told)).await?;
        let recorded = |placed: Placed| EventRecorded {
            place: placed.place,
            signed: signed(&self.names, placed.told, placed.about, &vouched),
        };
        Ok(found.into_iter().map(recorded).collect())
    }
}
