//! What a token lets its holder do.

use strum::{EnumIter, EnumString, IntoEnumIterator as _, IntoStaticStr};

/// A permission, as the original names it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumIter, EnumString, IntoStaticStr,
)]
#[strum(ascii_case_insensitive)]
pub enum Scope {
    #[strum(serialize = "tasks:write")]
    TasksWrite,
    #[strum(serialize = "decisions:write")]
    DecisionsWrite,
    #[strum(serialize = "decisions:read")]
    DecisionsRead,
    #[strum(serialize = "reviews:write")]
    ReviewsWrite,
    #[strum(serialize = "reviews:read")]
    ReviewsRead,
    #[strum(serialize = "approvals:write")]
    ApprovalsWrite,
    #[strum(serialize = "approvals:read")]
    ApprovalsRead,
    /// Everything.
    #[strum(serialize = "admin")]
    Admin,
}

impl Scope {
    /// The name, such as `reviews:write`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the scopes cover this one.
    pub fn is_in(self, scopes: &[Self]) -> bool {
        scopes.contains(&self) || scopes.contains(&Self::Admin)
    }

    /// Every name, for a message.
    pub fn names() -> String {
        Self::iter().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

/// What can be done with a ledger. A tool's stands under the tool's name, any other under what a
/// refusal calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum UseCase {
    CreateTask,
    RecordDecision,
    AttachGitDiff,
    RunPolicyChecks,
    RequestReview,
    SubmitReview,
    RecordDisagreement,
    ApproveDecision,
    GetDecisionContext,
    ListOpenReviews,
    ListPendingApprovals,
    #[strum(serialize = "the record of a decision")]
    DecisionRecord,
    #[strum(serialize = "the diff of a decision")]
    DecisionDiff,
    #[strum(serialize = "the list of decisions")]
    ListDecisions,
    #[strum(serialize = "the timeline of a task")]
    TaskTimeline,
    #[strum(serialize = "the record of a review")]
    ReviewRecord,
    #[strum(serialize = "the policies of a project")]
    ProjectPolicies,
    #[strum(serialize = "the conventions of a project")]
    ProjectConventions,
    #[strum(serialize = "the list of resources")]
    ListResources,
    #[strum(serialize = "the overview of the ledger")]
    Overview,
    #[strum(serialize = "the check of the ledger")]
    Diagnosis,
    #[strum(serialize = "the gate")]
    Gate,
    #[strum(serialize = "the proof of the record")]
    Audit,
    #[strum(serialize = "the export of the record")]
    Export,
    #[strum(serialize = "registering a project")]
    RegisterProject,
    #[strum(serialize = "making a token")]
    CreateToken,
    #[strum(serialize = "the list of tokens")]
    ListTokens,
    #[strum(serialize = "revoking a token")]
    RevokeToken,
    #[strum(serialize = "administering companies")]
    AdministerCompanies,
}

impl UseCase {
    /// What a message calls it: a tool by its name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What it is called to a person, who knows no tools.
    pub fn words(self) -> String {
        match self {
            Self::ApproveDecision => "a verdict".to_owned(),
            other => other.name().replace('_', " "),
        }
    }

    /// The scopes of which one is needed. Whoever may read decisions reads all that hangs off
    /// them; what decides who may do what needs `admin`.
    pub fn scopes(self) -> &'static [Scope] {
        match self {
            Self::CreateTask => &[Scope::TasksWrite],
            Self::RecordDecision | Self::AttachGitDiff | Self::RunPolicyChecks => {
                &[Scope::DecisionsWrite]
            }
            Self::RequestReview | Self::SubmitReview | Self::RecordDisagreement => {
                &[Scope::ReviewsWrite]
            }
            Self::ApproveDecision => &[Scope::ApprovalsWrite],
            Self::GetDecisionContext
            | Self::DecisionRecord
            | Self::DecisionDiff
            | Self::ListDecisions
            | Self::TaskTimeline
            | Self::ProjectPolicies
            | Self::ProjectConventions
            | Self::Overview
            | Self::Diagnosis
            | Self::Gate
            | Self::Audit
            | Self::Export => &[Scope::DecisionsRead],
            Self::ListOpenReviews | Self::ReviewRecord => &[Scope::ReviewsRead],
            Self::ListPendingApprovals => &[Scope::ApprovalsRead],
            Self::ListResources => &[Scope::DecisionsRead, Scope::ReviewsRead],
            Self::RegisterProject
            | Self::CreateToken
            | Self::ListTokens
            | Self::RevokeToken
            | Self::AdministerCompanies => &[Scope::Admin],
        }
    }

    /// Whether somebody with these scopes may do it.
    pub fn is_covered_by(self, scopes: &[Scope]) -> bool {
        self.scopes().iter().any(|scope| scope.is_in(scopes))
    }
}

/// A usual set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Records work and asks for reviews; gives no verdict.
    Author,
    /// Reads decisions and reviews them.
    Reviewer,
    /// Reads decisions and brings a person's verdict.
    Approver,
}

impl Role {
    /// The scopes of the role.
    pub fn scopes(self) -> &'static [Scope] {
        use Scope::{
            ApprovalsRead, ApprovalsWrite, DecisionsRead, DecisionsWrite, ReviewsRead,
            ReviewsWrite, TasksWrite,
        };
        match self {
            Self::Author => &[
                TasksWrite,
                DecisionsWrite,
                DecisionsRead,
                ReviewsWrite,
                ReviewsRead,
                ApprovalsRead,
            ],
            Self::Reviewer => &[DecisionsRead, ReviewsWrite, ReviewsRead],
            Self::Approver => &[DecisionsRead, ReviewsRead, ApprovalsWrite, ApprovalsRead],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_approver_may_bring_a_verdict() {
        let verdict = UseCase::ApproveDecision;
        assert!(verdict.is_covered_by(Role::Approver.scopes()));
        assert!(!verdict.is_covered_by(Role::Author.scopes()));
        assert!(!verdict.is_covered_by(Role::Reviewer.scopes()));
        assert!(verdict.is_covered_by(&[Scope::Admin]));
        for scope in Scope::iter() {
            assert_eq!(scope.name().parse(), Ok(scope));
        }
    }
}
