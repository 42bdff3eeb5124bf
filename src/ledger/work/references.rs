//! From what a caller names to the record that is meant.

use crate::domain::entity::{Decision, Project, Review, Task};
use crate::domain::excerpt::quoted;
use crate::domain::id::{DisplayId, Kind, Reference};
use crate::domain::names::nearest;
use crate::error::{Audience, Code, Error, Fault, Result};
use crate::ledger::Service;
use crate::store;
use crate::store::engine::Connection;
use crate::store::ledger::records::Record;

/// Among how many of the newest records the ones nearest by name are looked for.
const CANDIDATES: u32 = 200;

/// How many of them a refusal names.
const SUGGESTIONS: usize = 3;

impl Service {
    /// The task that `task_id` names.
    pub(in crate::ledger) async fn task(
        &self,
        connection: &mut Connection,
        task_id: &str,
    ) -> Result<Task> {
        // A display ID is nearly always one row's, which then needs no second look.
        if let Some(id) = display_id(Kind::Task, task_id)
            && let Ok(Some(task)) = store::ledger::tasks::only(connection, id).await
        {
            return Ok(task);
        }
        let record = self.record(connection, Kind::Task, "task_id", task_id).await?;
        store::ledger::tasks::by_id(connection, record.id).await?.ok_or_else(vanished)
    }

    /// The decision that `decision_id` names.
    pub(in crate::ledger) async fn decision(
        &self,
        connection: &mut Connection,
        decision_id: &str,
    ) -> Result<Decision> {
        if let Some(id) = display_id(Kind::Decision, decision_id)
            && let Ok(Some(decision)) = store::ledger::decisions::only(connection, id).await
        {
            return Ok(decision);
        }
        let record = self.record(connection, Kind::Decision, "decision_id", decision_id).await?;
        store::ledger::decisions::by_id(connection, record.id).await?.ok_or_else(vanished)
    }

    /// The review that `review_id` names.
    pub(in crate::ledger) async fn review(
        &self,
        connection: &mut Connection,
        review_id: &str,
    ) -> Result<Review> {
        let record = self.record(connection, Kind::Review, "review_id", review_id).await?;
        store::ledger::reviews::by_id(connection, record.id).await?.ok_or_else(vanished)
    }

    /// The record that `text`, the value of `parameter`, names: a UUID, a display ID in the
    /// current project or else in the whole ledger, or one in a project named before it.
    async fn record(
        &self,
        connection: &mut Connection,
        kind: Kind,
        parameter: &str,
        text: &str,
    ) -> Result<Record> {
        let (found, project) = match Reference::read(kind, text) {
            Some(Reference::Uuid(id)) => (
                store::ledger::records::by_id(connection, kind, id).await?.into_iter().collect(),
                None,
            ),
            Some(Reference::Display { project, id }) => {
                (store::ledger::records::find(connection, id).await?, project)
            }
            None => (Vec::new(), None),
        };
        let found = match &project {
            Some(name) => in_project_named(connection, found, name).await?,
            None => found,
        };
        match found.len() {
            0 => Err(self.unknown(connection, kind, parameter, text).await?),
            1 => found.into_iter().next().ok_or_else(vanished),
            _ => self.in_current_project(connection, found, parameter, text).await,
        }
    }

    /// Of several records with the same display ID, the one in the current project.
    async fn in_current_project(
        &self,
        connection: &mut Connection,
        found: Vec<Record>,
        parameter: &str,
        text: &str,
    ) -> Result<Record> {
        if let Some(current) = self.current_project(connection).await?
            && let Some(record) = found.iter().find(|record| record.project_id == current.id)
        {
            return Ok(record.clone());
        }
        let mut choices = Vec::new();
        for record in &found {
            let project = project_of(connection, record).await?;
            choices.push((project, record));
        }
        let unique =
            |name: &str| choices.iter().filter(|(other, _)| other.name == name).count() == 1;
        let list: Vec<String> = choices
            .iter()
            .map(|(project, record)| {
                let name = if unique(&project.name) {
                    format!("{}/{}", project.name, record.display_id)
                } else {
                    record.id.to_string()
                };
                format!(
                    "\"{name}\" for the one in {} ({})",
                    project.root_path,
                    quoted(&record.title)
                )
            })
            .collect();
        Err(Error::refused_by_audience(Code::AmbiguousId, |to| {
            format!(
                "{}{} exists in {} projects of the ledger {}. {} {}.",
                to.parameter(parameter),
                quoted(text.trim()),
                list.len(),
                self.ledger.path().display(),
                to.pick("Send", "Name"),
                list.join(", or ")
            )
        }))
    }

    /// The refusal of a name that no record has.
    async fn unknown(
        &self,
        connection: &mut Connection,
        kind: Kind,
        parameter: &str,
        text: &str,
    ) -> Result<Error> {
        let text = text.trim();
        let shown = quoted(text);
        let (code, example) = match kind {
            Kind::Task => (Code::TaskNotFound, "TASK-001"),
            Kind::Decision => (Code::DecisionNotFound, "DEC-001"),
            Kind::Review => (Code::ReviewNotFound, "REV-001"),
        };
        let noun = kind.noun();
        let ledger = self.ledger.path().display();
        let is_id = Reference::read(kind, text).is_some();
        let what = |to: Audience| match (to, is_id) {
            (Audience::Agent, true) => format!(
                "`{parameter}` is {shown}, and no {noun} in the ledger {ledger} has that id."
            ),
            (Audience::Agent, false) => format!(
                "`{parameter}` is {shown}, which is no id of a {noun}: send one such as {example}, \
                 <project name>/{example} or a UUID. The ledger is {ledger}."
            ),
            (Audience::Person, true) => {
                format!("No {noun} in the ledger {ledger} has the id {shown}.")
            }
            (Audience::Person, false) => format!(
                "{shown} is no id of a {noun}: name one such as {example}, <project \
                 name>/{example} or a UUID. The ledger is {ledger}."
            ),
        };
        let known = store::ledger::records::newest(connection, kind, CANDIDATES).await?;
        if known.is_empty() {
            return Ok(Error::refused_by_audience(code, |to| {
                let make = match kind {
                    Kind::Task => to.pick("create_task opens", "an agent opens"),
                    Kind::Decision => to.pick("record_decision makes", "an agent records"),
                    Kind::Review => to.pick("submit_review makes", "an agent submits"),
                };
                format!("{} It holds no {noun} yet: {make} one.", what(to))
            }));
        }
        let projects = store::ledger::projects::all(connection).await?;
        let mut known: Vec<(f64, String, String)> = known
            .into_iter()
            .map(|record| {
                let id = qualified(&projects, &record);
                (nearest::likeness(text, &id), id, record.title)
            })
            .collect();
        known.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let names: Vec<String> = known
            .iter()
            .take(SUGGESTIONS)
            .map(|(_, id, title)| format!("{id} ({})", quoted(title)))
            .collect();
        Ok(Error::refused_by_audience(code, |to| {
            format!("{} The nearest there: {}.", what(to), names.join(", "))
        }))
    }
}

/// The display ID that `text` is, with no project before it.
fn display_id(kind: Kind, text: &str) -> Option<DisplayId> {
    match Reference::read(kind, text) {
        Some(Reference::Display { project: None, id }) => Some(id),
        _ => None,
    }
}

/// Of the records found, those in a project of that name, in any case.
async fn in_project_named(
    connection: &mut Connection,
    found: Vec<Record>,
    name: &str,
) -> Result<Vec<Record>> {
    let folded = name.to_lowercase();
    let mut matching = Vec::new();
    for record in found {
        let project = project_of(connection, &record).await?;
        if project.name.to_lowercase() == folded {
            matching.push((project.name == name, record));
        }
    }
    // Two projects may differ in case alone: the exact name wins.
    let exact = matching.iter().any(|(exact, _)| *exact);
    Ok(matching.into_iter().filter(|(e, _)| *e || !exact).map(|(_, record)| record).collect())
}

/// What names a record in a ledger of several projects: `<project name>/DEC-001`.
pub(in crate::ledger) fn qualified(projects: &[Project], record: &Record) -> String {
    let project = projects.iter().find(|project| project.id == record.project_id);
    match project {
        Some(project) if projects.len() > 1 => format!("{}/{}", project.name, record.display_id),
        _ => record.display_id.clone(),
    }
}

async fn project_of(connection: &mut Connection, record: &Record) -> Result<Project> {
    store::ledger::projects::by_id(connection, record.project_id).await?.ok_or_else(vanished)
}

/// Only a ledger whose foreign keys were violated by another program leads here.
pub(in crate::ledger) fn vanished() -> Error {
    Fault::new("the ledger holds a record whose counterpart is missing").into()
}
