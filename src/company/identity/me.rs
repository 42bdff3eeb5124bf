//! `me`: who the caller is.

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoEnumIterator as _;
use uuid::Uuid;

use super::caller::Caller;
use crate::company::Service;
use crate::domain::company::value::{Actor, Permission, Role};
use crate::error::Result;
use crate::store::company::projects;

/// Who the caller is, and what they may do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// How you come: mcp, board, agent or commander.
    pub actor: Actor,
    pub company_id: Uuid,
    pub company_name: String,
    /// The person that you are, or whose key you hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// The agent that you are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Uuid>,
    /// The run that you are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Uuid>,
    pub name: String,
    /// The highest role; none for an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What you may do beside what the role says.
    pub permissions: Vec<Permission>,
    /// Whether you see the whole company, also what belongs to no project.
    pub sees_company: bool,
    /// The projects that you see, and your role in each.
    pub projects: Vec<MyProject>,
}

/// A project that the caller sees.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyProject {
    pub id: Uuid,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

impl Service {
    /// Who the caller is.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn me(&self, caller: &Caller) -> Result<Me> {
        let mut read = self.read().await?;
        let standing = caller.standing();
        let projects = projects::all(&mut read, caller.scope()).await?;
        let mine = |project: crate::domain::company::entity::Project| MyProject {
            role: standing.role_in(Some(project.id)),
            id: project.id,
            name: project.name,
        };
        Ok(Me {
            actor: caller.actor(),
            company_id: caller.company().id,
            company_name: caller.company().name.clone(),
            user_id: caller.principal().user(),
            agent_id: caller.principal().agent(),
            run_id: caller.run_id(),
            name: caller.name().to_owned(),
            role: standing.role(),
            permissions: Permission::iter().filter(|one| standing.has(*one)).collect(),
            sees_company: caller.scope().projects().is_none(),
            projects: projects.into_iter().map(mine).collect(),
        })
    }
}
