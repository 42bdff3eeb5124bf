//! What is hashed: the columns of an event, and the rows that it vouches for.

/// The columns of an event, in the order in which they are hashed.
pub const EVENT_COLUMNS: [&str; 8] = [
    "id",
    "project_id",
    "entity_type",
    "entity_id",
    "event_type",
    "actor_agent_id",
    "payload_json",
    "created_at",
];

/// The form of the links that are made now. A link of an earlier form vouches for what it did
/// when it was made.
pub const FORM: i64 = 2;

/// A table with rows that events vouch for, and its columns in the order in which they are
/// hashed: those that nothing changes without an event. The first is the key.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    /// The forms of links that hash these columns.
    forms: &'static [i64],
}

impl Table {
    /// A table whose columns links of these forms hash.
    pub(super) const fn new(
        name: &'static str,
        columns: &'static [&'static str],
        forms: &'static [i64],
    ) -> Self {
        Self { name, columns, forms }
    }

    /// The table of the ledger of that name as links of that form hash it.
    pub(super) fn find(name: &str, form: i64) -> Option<&'static Self> {
        TABLES.into_iter().find(|table| table.name == name && table.forms.contains(&form))
    }
}

/// The form before there were others: without the status.
pub static EARLIER_TASKS: Table = Table {
    name: "tasks",
    columns: &[
        "id",
        "display_id",
        "project_id",
        "title",
        "description",
        "risk_level",
        "created_by_agent_id",
        "created_at",
    ],
    forms: &[1],
};
pub static TASKS: Table = Table {
    name: "tasks",
    columns: &[
        "id",
        "display_id",
        "project_id",
        "title",
        "description",
        "risk_level",
        "status",
        "created_by_agent_id",
        "created_at",
        "updated_at",
    ],
    forms: &[2],
};
/// With the tasks and decisions in it.
pub static PROJECTS: Table = Table {
    name: "projects",
    columns: &["id", "name", "root_path", "default_branch", "created_at", "updated_at"],
    forms: &[2],
};
pub static DECISIONS: Table = Table {
    name: "decisions",
    columns: &[
        "id",
        "display_id",
        "project_id",
        "task_id",
        "author_agent_id",
        "title",
        "summary",
        "rationale",
        "risk_level",
        "human_approval_required",
        "created_at",
    ],
    forms: &[1, 2],
};
pub static GIT_CHANGES: Table = Table {
    name: "git_changes",
    columns: &[
        "id",
        "decision_id",
        "repo_path",
        "branch_name",
        "commit_hash",
        "parent_commit_hash",
        "diff_hash",
        "files_changed_json",
        "insertions",
        "deletions",
        "created_at",
    ],
    forms: &[1, 2],
};
pub static REVIEWS: Table = Table {
    name: "reviews",
    columns: &[
        "id",
        "display_id",
        "decision_id",
        "reviewer_agent_id",
        "status",
        "summary",
        "created_at",
    ],
    forms: &[1, 2],
};
pub static FINDINGS: Table = Table {
    name: "findings",
    columns: &[
        "id",
        "review_id",
        "severity",
        "category",
        "file_path",
        "line_start",
        "line_end",
        "message",
        "recommendation",
    ],
    forms: &[1, 2],
};
pub static POLICY_RESULTS: Table = Table {
    name: "policy_results",
    columns: &[
        "id",
        "decision_id",
        "policy_id",
        "status",
        "message",
        "evidence_json",
        "created_at",
    ],
    forms: &[1, 2],
};
pub static POLICY_RESULT_RUNS: Table = Table {
    name: "policy_result_runs",
    columns: &["policy_result_id", "event_id", "config_hash"],
    forms: &[1, 2],
};
/// The form before there were others: without how it was settled.
pub static EARLIER_DISAGREEMENTS: Table = Table {
    name: "disagreements",
    columns: &[
        "id",
        "decision_id",
        "topic",
        "author_position",
        "reviewer_position",
        "risk_summary",
        "requires_human_decision",
        "created_at",
    ],
    forms: &[1],
};
pub static DISAGREEMENTS: Table = Table {
    name: "disagreements",
    columns: &[
        "id",
        "decision_id",
        "topic",
        "author_position",
        "reviewer_position",
        "risk_summary",
        "requires_human_decision",
        "resolution",
        "resolved_by_agent_id",
        "resolved_at",
        "created_at",
    ],
    forms: &[2],
};
pub static APPROVALS: Table = Table {
    name: "approvals",
    columns: &["id", "decision_id", "approver_agent_id", "status", "comment", "created_at"],
    forms: &[1, 2],
};

/// Every table with rows that events vouch for, in every form.
static TABLES: [&Table; 12] = [
    &EARLIER_TASKS,
    &TASKS,
    &PROJECTS,
    &DECISIONS,
    &GIT_CHANGES,
    &REVIEWS,
    &FINDINGS,
    &POLICY_RESULTS,
    &POLICY_RESULT_RUNS,
    &EARLIER_DISAGREEMENTS,
    &DISAGREEMENTS,
    &APPROVALS,
];

/// The columns of a policy, which a run digests as it leaves them.
pub const POLICY_COLUMNS: [&str; 7] =
    ["id", "name", "description", "enabled", "severity", "config_json", "created_at"];

/// What an event vouches for.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    strum::EnumIter,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum RecordKind {
    /// The task with its project.
    Task,
    /// The decision with its project.
    Decision,
    GitChange,
    /// The review with its findings.
    Review,
    /// The results of one run.
    PolicyRun,
    Disagreement,
    Approval,
}

impl RecordKind {
    /// What an event of that type vouches for; `None` if nothing but itself.
    pub fn of_event(event_type: &str) -> Option<Self> {
        Some(match event_type {
            "task.created" => Self::Task,
            "decision.created" => Self::Decision,
            "decision.git_attached" => Self::GitChange,
            "decision.policy_evaluated" => Self::PolicyRun,
            "review.submitted" => Self::Review,
            "disagreement.recorded" => Self::Disagreement,
            "decision.approved" | "decision.rejected" | "decision.needs_changes" => Self::Approval,
            _ => return None,
        })
    }

    /// The name in the ledger and in an export.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
