//! Agents: adding and terminating them, and their keys.

use serde_json::json;
use uuid::Uuid;

use super::companies::name_of;
use crate::company::identity::caller::Caller;
use crate::company::identity::keyring::{AGENT_MARK, new_key};
use crate::company::refusals::conflict;
use crate::company::{Service, named};
use crate::domain::company::entity::{Agent, AgentKey};
use crate::domain::company::record::Record;
use crate::domain::company::value::{AgentRole, AgentStatus};
use crate::domain::excerpt::quoted;
use crate::domain::secret::Secret;
use crate::error::Result;
use crate::store::company::agents;

/// An agent that is to be added.
#[derive(Debug, Clone)]
pub struct NewAgent {
    pub name: String,
    pub role: AgentRole,
    /// By id or name.
    pub projects: Vec<String>,
}

impl Service {
    /// Adds an agent that is assigned to projects, or assigns the one of that name to them.
    ///
    /// # Errors
    ///
    /// Refuses a blank name and a project that there is not.
    pub async fn add_agent(&self, caller: &Caller, new: NewAgent) -> Result<Uuid> {
        let name = name_of("agent", &new.name)?;
        let mut write = self.write(caller).await?;
        let (connection, scope) = write.scoped();
        let projects = named::projects_of_verb(connection, scope, &new.projects).await?;
        let known = agents::named(connection, scope, &name).await?.into_iter().next();
        let is_new = known.is_none();
        let id = match known {
            Some(known) => known.id,
            None => {
                let agent = Agent {
                    id: write.id(),
                    company_id: caller.company().id,
                    name: name.clone(),
                    role: new.role,
                    title: None,
                    status: AgentStatus::Idle,
                    reports_to: None,
                    created_at: write.now,
                    updated_at: write.now,
                };
                agents::insert(write.connection(), &agent).await?;
                agent.id
            }
        };
        let mut assigned = Vec::new();
        for project in projects {
            let (connection, scope) = write.scoped();
            if agents::assign(connection, scope, id, project).await? {
                assigned.push(project);
            }
        }
        if !is_new && assigned.is_empty() {
            return Ok(id);
        }
        let event = if is_new { "agent.added" } else { "agent.assigned" };
        let told = json!({ "name": name, "role": new.role, "projectIds": assigned });
        write.event(Record::Agent, id, event, told).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Makes a key of an agent; it is given out here and kept nowhere.
    ///
    /// # Errors
    ///
    /// Refuses an agent that there is not, or that may not act.
    pub async fn create_agent_key(&self, caller: &Caller, agent: &str) -> Result<(Uuid, Secret)> {
        let secret = new_key(AGENT_MARK)?;
        let mut write = self.write(caller).await?;
        let (connection, scope) = write.scoped();
        let agent = named::agent(connection, scope, agent).await?;
        if !agent.status.is_alive() {
            return Err(conflict(format!(
                "The agent {} is {} and gets no key.",
                quoted(&agent.name),
                agent.status
            )));
        }
        let key = AgentKey {
            id: write.id(),
            company_id: agent.company_id,
            agent_id: agent.id,
            hash: secret.hash(),
            created_at: write.now,
            revoked_at: None,
        };
        agents::insert_key(write.connection(), &key).await?;
        let told = json!({ "agentId": agent.id });
        write.event(Record::AgentKey, key.id, "agent_key.created", told).await?;
        write.commit().await?;
        Ok((key.id, secret))
    }
}
