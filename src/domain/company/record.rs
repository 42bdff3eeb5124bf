//! What stands on the record of a company: an event tells what was done to which record, by whom,
//! and under which key or run.

use serde_json::Value as Json;
use uuid::Uuid;

use crate::domain::time::Timestamp;

/// What an event is about: a row with what belongs to it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::EnumIter,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum Record {
    Company,
    /// What a person is in the company.
    Member,
    Agent,
    Project,
    Goal,
    Label,
    McpKey,
    AgentKey,
    Session,
    Task,
    Comment,
    Artifact,
    Version,
    Run,
    Question,
    Approval,
    ApprovalComment,
    Memory,
    Debrief,
    Skill,
}

impl Record {
    /// The name in an event, such as `mcp_key`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Who did it, how they had come, and under what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By {
    /// The actor on the wire, or `terminal` for a verb.
    pub actor: &'static str,
    pub user_id: Option<Uuid>,
    pub agent_id: Option<Uuid>,
    pub key_id: Option<Uuid>,
    pub session_id: Option<Uuid>,
    pub run_id: Option<Uuid>,
}

/// One entry of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: Uuid,
    pub company_id: Uuid,
    pub record: Record,
    pub record_id: Uuid,
    /// Such as `task.created`.
    pub event_type: String,
    pub by: By,
    pub payload: Json,
    pub created_at: Timestamp,
}
