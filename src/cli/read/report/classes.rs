//! Which of the page's classes, and so which colour, a value has.

use crate::domain::value::{
    ApprovalStatus, DecisionStatus, FindingSeverity, PolicyResultStatus, ReviewStatus, RiskLevel,
};

/// The class of a decision's status.
pub fn of_status(status: DecisionStatus) -> &'static str {
    match status {
        DecisionStatus::Draft => "plain",
        DecisionStatus::ReviewRequired | DecisionStatus::ChangesRequested => "note",
        DecisionStatus::Approved => "good",
        DecisionStatus::Rejected => "bad",
    }
}

/// The class of a risk.
pub fn of_risk(risk: RiskLevel) -> &'static str {
    match risk {
        RiskLevel::Low | RiskLevel::Medium => "plain",
        RiskLevel::High => "note",
        RiskLevel::Critical => "bad",
    }
}

/// The class of a person's verdict.
pub fn of_verdict(status: ApprovalStatus) -> &'static str {
    match status {
        ApprovalStatus::Approved => "good",
        ApprovalStatus::NeedsChanges => "note",
        ApprovalStatus::Rejected => "bad",
    }
}

/// The class of a review.
pub fn of_review(status: ReviewStatus) -> &'static str {
    match status {
        ReviewStatus::Approved => "good",
        ReviewStatus::Commented => "plain",
        ReviewStatus::ChangesRequested => "note",
        ReviewStatus::Rejected => "bad",
    }
}

/// The class of a policy's result.
pub fn of_policy(status: PolicyResultStatus) -> &'static str {
    match status {
        PolicyResultStatus::Passed => "good",
        PolicyResultStatus::Warning => "note",
        PolicyResultStatus::Blocked => "bad",
    }
}

/// The class of a finding.
pub fn of_severity(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Info | FindingSeverity::Low => "plain",
        FindingSeverity::Medium => "note",
        FindingSeverity::High | FindingSeverity::Critical => "bad",
    }
}
