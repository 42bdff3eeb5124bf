//! The records of the ledger. Each mirrors one table; JSON columns are held parsed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

use super::chain::order::Recorded;
use super::time::Timestamp;
use super::value::{
    AgentType, ApprovalStatus, DecisionStatus, EntityType, FindingCategory, FindingSeverity,
    PolicyResultStatus, ReviewStatus, RiskLevel, TaskStatus,
};

/// A repository whose work the ledger records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: Uuid,
    /// The name of the root directory, unless another was given.
    pub name: String,
    /// Absolute, after symlinks are resolved. Unique in a ledger.
    pub root_path: String,
    pub default_branch: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Somebody who acts: a coding agent or a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: Uuid,
    /// Trimmed; unique in a ledger.
    pub name: String,
    pub kind: AgentType,
    pub created_at: Timestamp,
}

/// What an agent set out to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: Uuid,
    pub display_id: String,
    pub project_id: Uuid,
    pub title: String,
    pub description: Option<String>,
    pub risk_level: RiskLevel,
    pub status: TaskStatus,
    pub created_by_agent_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A choice with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub id: Uuid,
    pub display_id: String,
    pub project_id: Uuid,
    pub task_id: Option<Uuid>,
    pub author_agent_id: Uuid,
    pub title: String,
    pub summary: Option<String>,
    pub rationale: Option<String>,
    pub status: DecisionStatus,
    pub risk_level: RiskLevel,
    pub human_approval_required: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The change of one commit, attached to a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitChange {
    pub id: Uuid,
    pub decision_id: Uuid,
    /// Absolute, after symlinks are resolved.
    pub repo_path: String,
    /// The branch checked out when the change was attached; `None` when detached.
    pub branch_name: Option<String>,
    /// In full, in the repository's own hash.
    pub commit_hash: String,
    /// `None` for a root commit.
    pub parent_commit_hash: Option<String>,
    /// `sha256:` and 64 hex digits.
    pub diff_hash: Option<String>,
    /// Sorted old and new paths.
    pub files_changed: Vec<String>,
    /// Added lines.
    pub insertions: i64,
    /// Removed lines.
    pub deletions: i64,
    pub created_at: Timestamp,
}

/// What a reviewer concluded about a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub id: Uuid,
    pub display_id: String,
    pub decision_id: Uuid,
    pub reviewer_agent_id: Uuid,
    pub status: ReviewStatus,
    pub summary: Option<String>,
    pub created_at: Timestamp,
    /// When, as against other records.
    pub recorded: Recorded,
}

/// One point of a review: what is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Finding {
    /// How serious it is.
    pub severity: FindingSeverity,
    /// What it is about.
    pub category: FindingCategory,
    /// What is wrong, in a sentence or two.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub message: String,
    /// Path of the file in the repository.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub file_path: Option<String>,
    /// First line, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub line_start: Option<i64>,
    /// Last line, not before `line_start`.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub line_end: Option<i64>,
    /// What to do about it.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub recommendation: Option<String>,
}

impl Finding {
    /// Where it is, such as `src/auth.py:3-5`; `None` without a file.
    pub fn place(&self) -> Option<String> {
        let path = self.file_path.as_ref()?;
        Some(match (self.line_start, self.line_end) {
            (Some(start), Some(end)) if end != start => format!("{path}:{start}-{end}"),
            (Some(line), _) | (None, Some(line)) => format!("{path}:{line}"),
            (None, None) => path.clone(),
        })
    }
}

/// A policy as the ledger knows it: written by the runs that evaluated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub id: Uuid,
    /// Unique in a ledger.
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
    pub severity: FindingSeverity,
    pub config: Option<Json>,
    pub created_at: Timestamp,
}

/// What one policy concluded in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyResult {
    pub id: Uuid,
    pub decision_id: Uuid,
    pub policy_id: Uuid,
    /// The name of the policy, from its own row.
    pub policy: String,
    pub status: PolicyResultStatus,
    pub message: Option<String>,
    /// Matched paths and pattern names, never the matched text.
    pub evidence: Option<Json>,
    /// The run that it came from; `None` for a result of the original, which keeps none.
    pub run: Option<PolicyRun>,
    pub created_at: Timestamp,
    /// When, as against other records.
    pub recorded: Recorded,
}

/// A run of the policies over a decision's change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRun {
    /// Its event `decision.policy_evaluated`.
    pub event_id: Uuid,
    /// `sha256:` and 64 hex digits of the policy file; `None` for the defaults.
    pub config_hash: Option<String>,
}

/// A difference of opinion that stays on the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    pub id: Uuid,
    pub decision_id: Uuid,
    pub topic: String,
    pub author_position: Option<String>,
    pub reviewer_position: Option<String>,
    pub risk_summary: Option<String>,
    pub requires_human_decision: bool,
    pub resolution: Option<String>,
    pub created_at: Timestamp,
    /// When, as against other records.
    pub recorded: Recorded,
}

/// A person's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: Uuid,
    pub decision_id: Uuid,
    pub approver_agent_id: Uuid,
    pub status: ApprovalStatus,
    pub comment: Option<String>,
    pub created_at: Timestamp,
    /// When, as against other records.
    pub recorded: Recorded,
}

/// One entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: Uuid,
    pub project_id: Uuid,
    pub entity_type: EntityType,
    pub entity_id: Uuid,
    /// Such as `decision.git_attached`.
    pub event_type: String,
    pub actor_agent_id: Option<Uuid>,
    pub payload: Option<Json>,
    pub created_at: Timestamp,
}
