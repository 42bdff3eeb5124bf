//! The closed sets of values of a company, as they stand on the wire and in the ledger.
//!
//! The variants carry no doc comments, as in [`crate::domain::value`].

use crate::domain::value::values;

values! {
    /// Whether a company works: one that is paused or archived takes no write.
    CompanyStatus { Active, Paused, Archived }
    /// How somebody reaches the endpoint.
    Actor { Mcp, Board, Agent, Commander }
    /// What a person is in a company, or in one of its projects, highest first.
    Role { Founder, TeamLead, TeamMember }
    /// What may be granted beside a role.
    Permission {
        #[serde(rename = "tasks:assign")] #[strum(serialize = "tasks:assign")]
        TasksAssign,
        #[serde(rename = "agents:create")] #[strum(serialize = "agents:create")]
        AgentsCreate,
        #[serde(rename = "users:invite")] #[strum(serialize = "users:invite")]
        UsersInvite,
        #[serde(rename = "users:manage_permissions")]
        #[strum(serialize = "users:manage_permissions")]
        UsersManagePermissions,
    }
    /// What an agent is in a company.
    AgentRole { Cxo, Lead, General }
    /// What an agent does just now. One that is terminated or not approved yet is nobody.
    AgentStatus { Active, Paused, Idle, Running, Error, PendingApproval, Terminated }
    /// A project that ends, or a department that stays.
    ProjectType { Department, Project }
    /// Where a project stands.
    ProjectStatus { Backlog, Planned, InProgress, Completed, Cancelled }
    /// How far a goal reaches.
    GoalLevel { Company, Team, Agent, Task }
    /// Where a goal stands.
    GoalStatus { Planned, Active, AtRisk, Achieved, Cancelled }
    /// Where a task stands.
    TaskStatus { Backlog, Todo, InProgress, InReview, Done, Blocked, Cancelled }
    /// How much a task presses, most first.
    TaskPriority { Critical, High, Medium, Low }
    /// Where a task came from.
    TaskSource { Manual, Mcp, Brief, AgentProposal }
    /// What an artifact is.
    ArtifactType { Document, Presentation, Code, Design, Report, Other }
    /// Where an artifact stands.
    ArtifactStatus { Draft, Active, Archived }
    /// Who brought a version of an artifact.
    VersionSource { Agent, Founder, Mcp, Teammate, External }
    /// What an approval is asked for.
    ApprovalType { HireAgent, ApproveCeoStrategy, BudgetOverrideRequired, DecisionVerdict }
    /// Where an approval stands.
    ApprovalStatus { Pending, RevisionRequested, Approved, Rejected, Cancelled }
    /// What is done about an approval.
    ApprovalAction {
        Approve,
        Reject,
        #[serde(rename = "requestRevision")] #[strum(serialize = "requestRevision")]
        RequestRevision,
        Resubmit,
    }
    /// What a memory item is.
    MemoryCategory { Decision, Reference, Context, Insight, Preference, Procedure, Policy }
    /// How deep a memory item lies, deepest first.
    MemoryLayer { Identity, Domain, ActiveContext, Working }
    /// Where a memory item stands.
    MemoryStatus { Draft, Pending, Approved, Archived, Rejected }
    /// Who finds a memory item: those in its scope, or everybody in the company.
    MemoryVisibility { Scoped, Shared }
    /// Where a debrief stands.
    DebriefStatus { Processing, ProcessingFailed, Ready, Archived }
    /// What was found in a debrief.
    ExtractKind { Decision, Task, Insight, Context, Reference, Preference }
    /// What a person said of what was found in a debrief.
    ExtractStatus { Pending, Approved, Rejected, Edited }
    /// Where an agent's run stands.
    RunStatus { Queued, Running, Succeeded, Failed, Cancelled, TimedOut }
    /// Where a question to a person stands.
    QuestionStatus { Open, Answered, Cancelled }
}

impl TaskPriority {
    /// The place in the order, from 0 on for the one that presses most: how the ledger keeps it.
    pub fn rank(self) -> i64 {
        self as i64
    }

    /// The one of that place.
    pub fn of_rank(rank: i64) -> Option<Self> {
        [Self::Critical, Self::High, Self::Medium, Self::Low]
            .into_iter()
            .find(|priority| priority.rank() == rank)
    }
}

impl AgentStatus {
    /// Whether the agent may act at all.
    pub fn is_alive(self) -> bool {
        !matches!(self, Self::Terminated | Self::PendingApproval)
    }
}

impl RunStatus {
    /// Whether the run has ended: it holds nothing and proves nothing any more.
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;
    use crate::domain::value::Value as _;

    #[test]
    fn names_on_the_wire_are_those_of_the_endpoint() {
        assert_eq!(Permission::TasksAssign.wire(), "tasks:assign");
        assert_eq!(ApprovalAction::RequestRevision.wire(), "requestRevision");
        assert_eq!(MemoryLayer::ActiveContext.wire(), "active_context");
        for priority in TaskPriority::iter() {
            assert_eq!(TaskPriority::of_rank(priority.rank()), Some(priority));
        }
        for permission in Permission::iter() {
            assert_eq!(Permission::read(permission.wire()), Some(permission));
            assert_eq!(serde_json::json!(permission), permission.wire());
        }
    }
}
