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

    /// The scope that a tool needs. A tool that is not known here needs `admin`.
    pub fn of_tool(tool: &str) -> Self {
        match tool {
            "create_task" => Self::TasksWrite,
            "record_decision" | "attach_git_diff" | "run_policy_checks" => Self::DecisionsWrite,
            "get_decision_context" => Self::DecisionsRead,
            "request_review" | "submit_review" | "record_disagreement" => Self::ReviewsWrite,
            "list_open_reviews" => Self::ReviewsRead,
            "approve_decision" => Self::ApprovalsWrite,
            "list_pending_approvals" => Self::ApprovalsRead,
            _ => Self::Admin,
        }
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
        let verdict = Scope::of_tool("approve_decision");
        assert!(verdict.is_in(Role::Approver.scopes()));
        assert!(!verdict.is_in(Role::Author.scopes()));
        assert!(!verdict.is_in(Role::Reviewer.scopes()));
        assert!(verdict.is_in(&[Scope::Admin]));
        assert_eq!(Scope::of_tool("drop_everything"), Scope::Admin);
        for scope in Scope::iter() {
            assert_eq!(scope.name().parse(), Ok(scope));
        }
    }
}
