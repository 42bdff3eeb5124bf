//! People, agents, and their keys.

use clap::Subcommand;
use serde_json::json;

use super::{Told, operator};
use crate::cli::arguments;
use crate::company::Service;
use crate::company::set_up::agents::NewAgent;
use crate::company::set_up::keys::NewKey;
use crate::company::set_up::people::NewMember;
use crate::domain::company::value::{AgentRole, Role};
use crate::error::Result;

#[derive(Debug, Subcommand)]
pub enum User {
    /// Add a person, or give one another role
    Add {
        /// The company's id or name
        company: String,
        /// What the person is called
        name: String,
        /// founder, team_lead or team_member
        #[arg(long, default_value = "team_member", value_parser = arguments::value::<Role>)]
        role: Role,
        /// A project in which the role holds, by id or name; may be given several times
        #[arg(long = "project", value_name = "PROJECT")]
        projects: Vec<String>,
    },
}

impl User {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        match self {
            Self::Add { company, name, role, projects } => {
                let caller = operator(service, company).await?;
                let new = NewMember { name: name.clone(), role: *role, projects: projects.clone() };
                let id = service.add_member(&caller, new).await?;
                Ok(Told::new(json!({ "id": id }), [format!("{id}  {name}  {role}")]))
            }
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Add an agent, or assign one to further projects
    Add {
        /// The company's id or name
        company: String,
        /// What the agent is called
        name: String,
        /// cxo, lead or general
        #[arg(long, default_value = "general", value_parser = arguments::value::<AgentRole>)]
        role: AgentRole,
        /// A project that it works in, by id or name; may be given several times
        #[arg(long = "project", value_name = "PROJECT")]
        projects: Vec<String>,
    },
    /// Make a key of an agent; it is shown once
    Key {
        /// The company's id or name
        company: String,
        /// The agent's id or name
        agent: String,
    },
}

impl Agent {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        match self {
            Self::Add { company, name, role, projects } => {
                let caller = operator(service, company).await?;
                let new = NewAgent { name: name.clone(), role: *role, projects: projects.clone() };
                let id = service.add_agent(&caller, new).await?;
                Ok(Told::new(json!({ "id": id }), [format!("{id}  {name}  {role}")]))
            }
            Self::Key { company, agent } => {
                let caller = operator(service, company).await?;
                let (id, key) = service.create_agent_key(&caller, agent).await?;
                Ok(shown_once(id, key.reveal()))
            }
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key; it is shown once
    Create {
        /// The company's id or name
        company: String,
        /// What the key is called
        name: String,
        /// Its owner, by id or name: the key acts as this person
        #[arg(long)]
        user: String,
        /// At most this role: founder, team_lead or team_member
        #[arg(long, value_parser = arguments::value::<Role>)]
        role: Option<Role>,
        /// Only this project of the owner's, by id or name; may be given several times
        #[arg(long = "project", value_name = "PROJECT")]
        projects: Vec<String>,
    },
}

impl Key {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        match self {
            Self::Create { company, name, user, role, projects } => {
                let caller = operator(service, company).await?;
                let new = NewKey {
                    name: name.clone(),
                    user: user.clone(),
                    role: *role,
                    projects: projects.clone(),
                };
                let (id, key) = service.create_key(&caller, new).await?;
                Ok(shown_once(id, key.reveal()))
            }
        }
    }
}

fn shown_once(id: uuid::Uuid, key: &str) -> Told {
    let lines = [key.to_owned(), String::new(), "It is shown only now.".to_owned()];
    Told::new(json!({ "id": id, "key": key }), lines)
}
