//! What is hashed of the companies: the columns of their events, and the rows that these vouch
//! for.
//!
//! The rows of a company change: a task is given away, a key is revoked. Each event vouches for
//! its record as it left it, so the last word on each record must be what stands there now.

use strum::IntoEnumIterator as _;

use super::tables::Table;
use crate::domain::company::record::Record;

/// The form of the links that stand for events of companies.
pub const COMPANY_FORM: i64 = 100;

/// The columns of an event, in the order in which they are hashed: the first eight stand for what
/// those of a ledger's own event stand for.
pub const COMPANY_EVENT_COLUMNS: [&str; 13] = [
    "id",
    "company_id",
    "entity_type",
    "entity_id",
    "event_type",
    "agent_id",
    "payload_json",
    "created_at",
    "actor",
    "user_id",
    "key_id",
    "session_id",
    "run_id",
];

/// Rows that belong to a record: a table, and the column that names the record.
#[derive(Debug)]
pub struct Part {
    pub table: Table,
    /// The column that holds the record's id.
    pub key: &'static str,
    /// The columns by which several rows of one record are in order; none where there is one.
    pub order: &'static str,
}

const fn part(
    name: &'static str,
    key: &'static str,
    order: &'static str,
    columns: &'static [&'static str],
) -> Part {
    Part { table: Table::new(name, columns, &[COMPANY_FORM]), key, order }
}

static COMPANY: [Part; 1] = [part(
    "aoa_companies",
    "id",
    "",
    &["id", "name", "status", "prefix", "mcp_enabled", "created_at", "updated_at"],
)];
// The password of somebody who is in several companies is no matter of one of them.
static MEMBER: [Part; 4] = [
    part("aoa_members", "user_id", "", &["company_id", "user_id", "status", "created_at"]),
    part(
        "aoa_user_roles",
        "user_id",
        "id",
        &["id", "company_id", "user_id", "role", "project_id", "created_at"],
    ),
    part("aoa_grants", "user_id", "id", GRANT),
    part("aoa_users", "id", "", &["id", "name", "created_at"]),
];
static AGENT: [Part; 3] = [
    part(
        "aoa_agents",
        "id",
        "",
        &[
            "id",
            "company_id",
            "name",
            "role",
            "title",
            "status",
            "reports_to",
            "created_at",
            "updated_at",
        ],
    ),
    part("aoa_agent_projects", "agent_id", "project_id", &["agent_id", "project_id", "company_id"]),
    part("aoa_grants", "agent_id", "id", GRANT),
];
const GRANT: &[&str] = &["id", "company_id", "user_id", "agent_id", "permission", "created_at"];
static PROJECT: [Part; 1] = [part(
    "aoa_projects",
    "id",
    "",
    &[
        "id",
        "company_id",
        "name",
        "description",
        "type",
        "status",
        "lead_user_id",
        "ledger_project_id",
        "created_at",
        "updated_at",
    ],
)];
static GOAL: [Part; 2] = [
    part(
        "aoa_goals",
        "id",
        "",
        &[
            "id",
            "company_id",
            "title",
            "description",
            "level",
            "status",
            "parent_id",
            "created_at",
            "updated_at",
        ],
    ),
    part("aoa_project_goals", "goal_id", "project_id", &["project_id", "goal_id", "company_id"]),
];
static LABEL: [Part; 1] =
    [part("aoa_labels", "id", "", &["id", "company_id", "name", "created_at"])];
// When it was last used decides nothing.
static MCP_KEY: [Part; 1] = [part(
    "aoa_mcp_keys",
    "id",
    "",
    &[
        "id",
        "company_id",
        "user_id",
        "name",
        "hash",
        "role",
        "project_ids",
        "created_at",
        "revoked_at",
    ],
)];
static AGENT_KEY: [Part; 1] = [part(
    "aoa_agent_keys",
    "id",
    "",
    &["id", "company_id", "agent_id", "hash", "created_at", "revoked_at"],
)];
static SESSION: [Part; 1] = [part(
    "aoa_sessions",
    "id",
    "",
    &["id", "user_id", "hash", "created_at", "expires_at", "ended_at"],
)];
static TASK: [Part; 2] = [
    part(
        "aoa_tasks",
        "id",
        "",
        &[
            "id",
            "company_id",
            "identifier",
            "title",
            "description",
            "status",
            "priority",
            "project_id",
            "goal_id",
            "parent_id",
            "assignee_agent_id",
            "assignee_user_id",
            "responsible_user_id",
            "reviewer_user_id",
            "artifact_id",
            "checkout_run_id",
            "source",
            "created_by_user_id",
            "created_by_agent_id",
            "started_at",
            "completed_at",
            "cancelled_at",
            "created_at",
            "updated_at",
        ],
    ),
    part("aoa_task_labels", "task_id", "label_id", &["task_id", "label_id", "company_id"]),
];
static COMMENT: [Part; 1] = [part(
    "aoa_comments",
    "id",
    "",
    &[
        "id",
        "company_id",
        "task_id",
        "author_user_id",
        "author_agent_id",
        "run_id",
        "body",
        "created_at",
    ],
)];
static ARTIFACT: [Part; 1] = [part(
    "aoa_artifacts",
    "id",
    "",
    &[
        "id",
        "company_id",
        "title",
        "type",
        "status",
        "created_by_user_id",
        "created_by_agent_id",
        "created_at",
        "updated_at",
    ],
)];
static VERSION: [Part; 1] = [part(
    "aoa_artifact_versions",
    "id",
    "",
    &[
        "id",
        "company_id",
        "artifact_id",
        "version_number",
        "content",
        "file_url",
        "source",
        "source_detail",
        "changelog",
        "parent_version_id",
        "sha256",
        "created_by_user_id",
        "created_by_agent_id",
        "created_at",
    ],
)];
// When a run was last heard of changes with every call of it.
static RUN: [Part; 1] = [part(
    "aoa_runs",
    "id",
    "",
    &[
        "id",
        "company_id",
        "agent_id",
        "task_id",
        "status",
        "started_at",
        "finished_at",
        "created_at",
    ],
)];
static QUESTION: [Part; 1] = [part(
    "aoa_questions",
    "id",
    "",
    &[
        "id",
        "company_id",
        "run_id",
        "task_id",
        "agent_id",
        "recipient_user_id",
        "question",
        "context",
        "options_json",
        "digest",
        "status",
        "answer",
        "answered_by_user_id",
        "answered_at",
        "created_at",
    ],
)];
static APPROVAL: [Part; 2] = [
    part(
        "aoa_approvals",
        "id",
        "",
        &[
            "id",
            "company_id",
            "type",
            "payload_json",
            "status",
            "requested_by_user_id",
            "requested_by_agent_id",
            "decided_by_user_id",
            "decision_note",
            "decided_at",
            "decision_id",
            "created_at",
            "updated_at",
        ],
    ),
    part("aoa_task_approvals", "approval_id", "task_id", &["task_id", "approval_id", "company_id"]),
];
static APPROVAL_COMMENT: [Part; 1] = [part(
    "aoa_approval_comments",
    "id",
    "",
    &["id", "company_id", "approval_id", "author_user_id", "author_agent_id", "body", "created_at"],
)];
static MEMORY: [Part; 1] = [part(
    "aoa_memory_items",
    "id",
    "",
    &[
        "id",
        "company_id",
        "title",
        "content",
        "category",
        "layer",
        "status",
        "source",
        "source_context",
        "tags_json",
        "department_id",
        "project_id",
        "goal_id",
        "task_id",
        "agent_id",
        "visibility",
        "priority",
        "trust",
        "supersedes_id",
        "expires_at",
        "created_by_user_id",
        "created_by_agent_id",
        "decided_by_user_id",
        "decided_at",
        "created_at",
        "updated_at",
    ],
)];
static DEBRIEF: [Part; 2] = [
    part(
        "aoa_debriefs",
        "id",
        "",
        &[
            "id",
            "company_id",
            "title",
            "raw_content",
            "status",
            "source_json",
            "department_id",
            "project_id",
            "created_by_user_id",
            "created_by_agent_id",
            "created_at",
            "updated_at",
        ],
    ),
    part(
        "aoa_debrief_items",
        "debrief_id",
        "id",
        &[
            "id",
            "company_id",
            "debrief_id",
            "kind",
            "status",
            "title",
            "content",
            "task_id",
            "memory_item_id",
            "created_at",
            "updated_at",
        ],
    ),
];
static SKILL: [Part; 1] = [part(
    "aoa_skills",
    "id",
    "",
    &["id", "company_id", "key", "name", "description", "markdown", "created_at", "updated_at"],
)];

/// The rows that an event about a record vouches for, the record's own first.
pub fn parts(record: Record) -> &'static [Part] {
    match record {
        Record::Company => &COMPANY,
        Record::Member => &MEMBER,
        Record::Agent => &AGENT,
        Record::Project => &PROJECT,
        Record::Goal => &GOAL,
        Record::Label => &LABEL,
        Record::McpKey => &MCP_KEY,
        Record::AgentKey => &AGENT_KEY,
        Record::Session => &SESSION,
        Record::Task => &TASK,
        Record::Comment => &COMMENT,
        Record::Artifact => &ARTIFACT,
        Record::Version => &VERSION,
        Record::Run => &RUN,
        Record::Question => &QUESTION,
        Record::Approval => &APPROVAL,
        Record::ApprovalComment => &APPROVAL_COMMENT,
        Record::Memory => &MEMORY,
        Record::Debrief => &DEBRIEF,
        Record::Skill => &SKILL,
    }
}

/// The table of that name, if rows of it are hashed.
pub(super) fn find(name: &str) -> Option<&'static Table> {
    let mut tables = Record::iter().flat_map(parts).map(|part| &part.table);
    tables.find(|table| table.name == name)
}
