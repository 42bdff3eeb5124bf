//! What a caller names by an id, or a verb by an id or a name: found, or refused in the same
//! words.

use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::refusals::{forbidden, not_found};
use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::{Agent, Project, User};
use crate::domain::excerpt::quoted;
use crate::error::{Error, Result};
use crate::store::company::tasks::TaskName;
use crate::store::company::{agents, people, projects};
use crate::store::engine::Connection;

/// Reads a parameter that may be absent, null or a value: `None`, `Some(None)`, `Some(Some(_))`.
pub fn given<'de, T, D>(deserializer: D) -> std::result::Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// The id that a parameter holds.
///
/// # Errors
///
/// 400 for a text that is none.
pub fn id(parameter: &str, text: &str) -> Result<Uuid> {
    Uuid::try_parse(text.trim()).map_err(|_error| {
        Error::invalid(format!(
            "`{parameter}` is {}, which is no id: it takes a UUID.",
            quoted(text)
        ))
    })
}

/// The ids that a parameter holds, each once, in order.
///
/// # Errors
///
/// 400 for a text that is none.
pub fn ids(parameter: &str, texts: &[String]) -> Result<Vec<Uuid>> {
    let mut ids = texts.iter().map(|text| id(parameter, text)).collect::<Result<Vec<_>>>()?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The task that a parameter names: by id, or by identifier such as ACME-12.
///
/// # Errors
///
/// 400 for a text that is neither.
pub fn task(parameter: &str, text: &str) -> Result<TaskName> {
    let text = text.trim();
    if let Ok(id) = Uuid::try_parse(text) {
        return Ok(TaskName::Id(id));
    }
    let is_identifier = text.rsplit_once('-').is_some_and(|(prefix, number)| {
        !prefix.is_empty()
            && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_identifier {
        return Ok(TaskName::Identifier(text.to_ascii_uppercase()));
    }
    Err(Error::invalid(format!(
        "`{parameter}` is {}, which names no task: it takes a UUID or an identifier such as \
         ACME-12.",
        quoted(text)
    )))
}

/// The project of that id, which is to be written to or linked.
///
/// # Errors
///
/// 404 for one that the company does not have, 403 for one outside the scope.
pub async fn project(
    connection: &mut Connection,
    scope: &Scope,
    parameter: &str,
    text: &str,
) -> Result<Project> {
    let id = id(parameter, text)?;
    let found = projects::in_company(connection, scope, id).await?;
    let found = found.ok_or_else(|| not_found(parameter, "project", text))?;
    within(scope, Some(id), parameter, text)?;
    Ok(found)
}

/// Refuses what is to be written to or linked, and belongs to a project outside the scope.
///
/// # Errors
///
/// 403.
pub fn within(scope: &Scope, project: Option<Uuid>, parameter: &str, text: &str) -> Result<()> {
    match scope.holds(project) {
        true => Ok(()),
        false => {
            Err(forbidden(format!("`{parameter}`: {} is outside your projects.", quoted(text))))
        }
    }
}

/// The active member of that id.
///
/// # Errors
///
/// 404 for who is none.
pub async fn member(
    connection: &mut Connection,
    scope: &Scope,
    parameter: &str,
    text: &str,
) -> Result<User> {
    let found = people::member(connection, scope, id(parameter, text)?).await?;
    found.ok_or_else(|| not_found(parameter, "active member", text))
}

/// The member that a verb names, by id or by name.
///
/// # Errors
///
/// 404 for who is none, 400 for a name that several have.
pub async fn user(connection: &mut Connection, scope: &Scope, text: &str) -> Result<User> {
    let text = text.trim();
    if let Ok(id) = Uuid::try_parse(text)
        && let Some(found) = people::member(connection, scope, id).await?
    {
        return Ok(found);
    }
    let found = people::members_named(connection, scope, text).await?;
    only(found, "USER", "member", text)
}

/// The agent that a verb names, by id or by name.
///
/// # Errors
///
/// As [`user`].
pub async fn agent(connection: &mut Connection, scope: &Scope, text: &str) -> Result<Agent> {
    let text = text.trim();
    if let Ok(id) = Uuid::try_parse(text)
        && let Some(found) = agents::in_company(connection, scope, id).await?
    {
        return Ok(found);
    }
    only(agents::named(connection, scope, text).await?, "AGENT", "agent", text)
}

/// The projects that a verb names, each by id or by name.
///
/// # Errors
///
/// 404 for one that is none.
pub async fn projects_of_verb(
    connection: &mut Connection,
    scope: &Scope,
    texts: &[String],
) -> Result<Vec<Uuid>> {
    let mut ids = Vec::new();
    for text in texts.iter().map(|text| text.trim()) {
        let mut found = projects::named(connection, scope, text).await?;
        if let (None, Ok(id)) = (&found, Uuid::try_parse(text)) {
            found = projects::in_company(connection, scope, id).await?;
        }
        ids.push(found.ok_or_else(|| not_found("--project", "project", text))?.id);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

fn only<T>(mut found: Vec<T>, parameter: &str, what: &str, text: &str) -> Result<T> {
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(not_found(parameter, what, text)),
        (Some(_), false) => Err(Error::invalid(format!(
            "Several are called {}: name the {what} by its id.",
            quoted(text)
        ))),
    }
}
