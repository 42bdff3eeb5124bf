//! The records of a company. Each mirrors one table; what belongs to one company carries its id.

use uuid::Uuid;

use super::value::{
    AgentRole, AgentStatus, CompanyStatus, GoalLevel, GoalStatus, ProjectStatus, ProjectType, Role,
    RunStatus,
};
use crate::domain::time::Timestamp;

/// Somebody in a company: a person or an agent. Who is assigned, asks, writes or decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Principal {
    User(Uuid),
    Agent(Uuid),
}

impl Principal {
    /// The id, if it is a person.
    pub fn user(self) -> Option<Uuid> {
        match self {
            Self::User(id) => Some(id),
            Self::Agent(_) => None,
        }
    }

    /// The id, if it is an agent.
    pub fn agent(self) -> Option<Uuid> {
        match self {
            Self::Agent(id) => Some(id),
            Self::User(_) => None,
        }
    }

    /// The one that is there; an agent where both are.
    pub fn of(agent: Option<Uuid>, user: Option<Uuid>) -> Option<Self> {
        agent.map(Self::Agent).or(user.map(Self::User))
    }
}

/// A company: what every other record belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    pub id: Uuid,
    /// Unique in a ledger.
    pub name: String,
    pub status: CompanyStatus,
    /// The letters before the number of a task, such as `ACME` in `ACME-12`. Unique in a ledger.
    pub prefix: String,
    /// Whether keys for MCP clients are accepted.
    pub mcp_enabled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: Uuid,
    pub name: String,
    pub created_at: Timestamp,
}

/// What a person is in a company, or in one of its projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRole {
    pub id: Uuid,
    pub company_id: Uuid,
    pub user_id: Uuid,
    pub role: Role,
    /// `None` for the whole company.
    pub project_id: Option<Uuid>,
    pub created_at: Timestamp,
}

/// A program that works in a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: Uuid,
    pub company_id: Uuid,
    /// Unique among the agents of a company that are not terminated.
    pub name: String,
    pub role: AgentRole,
    pub title: Option<String>,
    pub status: AgentStatus,
    /// The agent above it.
    pub reports_to: Option<Uuid>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A project, or a department.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: Uuid,
    pub company_id: Uuid,
    /// Unique in a company.
    pub name: String,
    pub description: Option<String>,
    pub kind: ProjectType,
    pub status: ProjectStatus,
    pub lead_user_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What a company is after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    pub id: Uuid,
    pub company_id: Uuid,
    pub title: String,
    pub level: GoalLevel,
    pub status: GoalStatus,
    pub parent_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A word that tasks are marked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub id: Uuid,
    pub company_id: Uuid,
    /// Unique in a company.
    pub name: String,
    pub created_at: Timestamp,
}

/// A key of a person, for MCP clients. The key itself is kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpKey {
    pub id: Uuid,
    pub company_id: Uuid,
    /// The owner: the key acts with what they are, or less.
    pub user_id: Uuid,
    pub name: String,
    /// SHA-256, 64 hex digits.
    pub hash: String,
    /// At most this role.
    pub role: Option<Role>,
    /// Only these projects.
    pub projects: Option<Vec<Uuid>>,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A key of an agent. The key itself is kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentKey {
    pub id: Uuid,
    pub company_id: Uuid,
    pub agent_id: Uuid,
    /// SHA-256, 64 hex digits.
    pub hash: String,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// A piece of work of an agent, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: Uuid,
    pub company_id: Uuid,
    pub agent_id: Uuid,
    pub task_id: Option<Uuid>,
    pub status: RunStatus,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// When a call was last made under it.
    pub heard_at: Option<Timestamp>,
    pub created_at: Timestamp,
}
