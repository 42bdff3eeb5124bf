//! The closed sets of values, as they stand on the wire (snake case) and in the ledger
//! (the NAME in upper case, as the original's SQLAlchemy enums store them).
//!
//! The variants carry no doc comments on purpose: schemars would turn the flat `enum` of a
//! published schema into a `oneOf`, which several clients reject.

/// A value with a name on the wire and one in the ledger.
pub trait Value: Sized + Copy + Into<&'static str> + std::str::FromStr + 'static {
    /// The name on the wire, such as `changes_requested`.
    fn wire(self) -> &'static str {
        self.into()
    }

    /// The name in the ledger, such as `CHANGES_REQUESTED`.
    fn stored(self) -> String {
        self.wire().to_ascii_uppercase()
    }

    /// Reads either name, in any case. `None` if it is neither.
    fn read(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
}

/// Closed sets of values, each with its documentation and the names of its variants.
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($(#[$attribute:meta])* $variant:ident),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,
            serde::Deserialize, schemars::JsonSchema, strum::EnumString, strum::EnumIter,
            strum::IntoStaticStr,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case", ascii_case_insensitive)]
        #[schemars(inline)]
        pub enum $name { $($(#[$attribute])* $variant),+ }

        impl $crate::domain::value::Value for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::domain::value::Value::wire(*self))
            }
        }
    )+};
}

pub(in crate::domain) use values;

values! {
    /// How much harm a change can do, lowest first.
    RiskLevel { Low, Medium, High, Critical }
    /// Where a task stands.
    TaskStatus { Open, InProgress, ReviewRequired, Approved, Rejected, Closed }
    /// Where a decision stands.
    DecisionStatus { Draft, ReviewRequired, ChangesRequested, Approved, Rejected }
    /// What a reviewer concluded.
    ReviewStatus { Approved, ChangesRequested, Commented, Rejected }
    /// How serious a finding is, or how strictly a policy is meant, lowest first.
    FindingSeverity { Info, Low, Medium, High, Critical }
    /// What a finding is about.
    FindingCategory {
        Security, Performance, Architecture, Bug, Maintainability, Tests, Docs, Accessibility,
    }
    /// What a policy concluded, mildest first.
    PolicyResultStatus { Passed, Warning, Blocked }
    /// The verdict of a person.
    ApprovalStatus { Approved, Rejected, NeedsChanges }
    /// How it is known that a verdict is a person's: the client asked its user, the person typed
    /// it in a terminal or gave it on the board, or whoever brought it said so.
    Confirmed { Asked, Terminal, Board, Asserted }
    /// Who acts: a person, or a kind of coding agent.
    AgentType { Human, Claude, Codex, Cursor, Cline, Aider, Other }
    /// What an event is about.
    EntityType { Task, Decision, Review, Disagreement }
}

impl DecisionStatus {
    /// The status after a policy run: a block takes a draft to review, nothing else moves.
    pub fn after_policies(self, blocked: bool) -> Self {
        if blocked && self == Self::Draft { Self::ReviewRequired } else { self }
    }

    /// The status after a review. A review cannot approve: only the human gate does.
    pub fn after_review(self, review: ReviewStatus) -> Self {
        match review {
            ReviewStatus::ChangesRequested => Self::ChangesRequested,
            ReviewStatus::Rejected => Self::Rejected,
            ReviewStatus::Approved | ReviewStatus::Commented => self,
        }
    }

    /// The status after a person's verdict, whatever it was before.
    pub fn after_verdict(verdict: ApprovalStatus) -> Self {
        match verdict {
            ApprovalStatus::Approved => Self::Approved,
            ApprovalStatus::Rejected => Self::Rejected,
            ApprovalStatus::NeedsChanges => Self::ChangesRequested,
        }
    }

    /// Whether a person's verdict still rules a decision in this status, so that only another
    /// verdict may change it. One that asked for changes is answered by `another_change`.
    pub fn is_settled_by(self, verdict: ApprovalStatus, another_change: bool) -> bool {
        let answered = verdict == ApprovalStatus::NeedsChanges && another_change;
        self == Self::after_verdict(verdict) && !answered
    }

    /// Whether a decision in this status may still wait for a person's verdict.
    pub fn awaits_verdict(self) -> bool {
        matches!(self, Self::ReviewRequired | Self::ChangesRequested)
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    #[test]
    fn every_value_reads_back_from_both_of_its_names() {
        for status in DecisionStatus::iter() {
            assert_eq!(DecisionStatus::read(status.wire()), Some(status));
            assert_eq!(DecisionStatus::read(&status.stored()), Some(status));
        }
        assert_eq!(ReviewStatus::ChangesRequested.wire(), "changes_requested");
        assert_eq!(ReviewStatus::ChangesRequested.stored(), "CHANGES_REQUESTED");
        assert_eq!(RiskLevel::read(" High "), Some(RiskLevel::High));
        assert_eq!(RiskLevel::read("urgent"), None);
    }

    #[test]
    fn a_block_moves_only_a_draft() {
        for status in DecisionStatus::iter() {
            assert_eq!(status.after_policies(false), status);
            let expected = match status {
                DecisionStatus::Draft => DecisionStatus::ReviewRequired,
                other => other,
            };
            assert_eq!(status.after_policies(true), expected);
        }
    }

    #[test]
    fn no_review_approves() {
        for status in DecisionStatus::iter() {
            assert_eq!(status.after_review(ReviewStatus::Approved), status);
            assert_eq!(status.after_review(ReviewStatus::Commented), status);
            assert_eq!(status.after_review(ReviewStatus::Rejected), DecisionStatus::Rejected);
            assert_eq!(
                status.after_review(ReviewStatus::ChangesRequested),
                DecisionStatus::ChangesRequested
            );
        }
    }

    #[test]
    fn a_verdict_rules_until_another_or_until_its_request_is_answered() {
        use ApprovalStatus::{Approved, NeedsChanges, Rejected};
        for verdict in [Approved, Rejected, NeedsChanges] {
            let status = DecisionStatus::after_verdict(verdict);
            assert!(status.is_settled_by(verdict, false));
            assert_eq!(status.is_settled_by(verdict, true), verdict != NeedsChanges);
            assert!(!DecisionStatus::ReviewRequired.is_settled_by(verdict, false));
        }
        // A reviewing agent's rejection after a person's approval of another diff.
        assert!(!DecisionStatus::Rejected.is_settled_by(Approved, true));
    }

    #[test]
    fn a_verdict_maps_to_its_status() {
        use ApprovalStatus::{Approved, NeedsChanges, Rejected};
        assert_eq!(DecisionStatus::after_verdict(Approved), DecisionStatus::Approved);
        assert_eq!(DecisionStatus::after_verdict(Rejected), DecisionStatus::Rejected);
        assert_eq!(DecisionStatus::after_verdict(NeedsChanges), DecisionStatus::ChangesRequested);
    }
}
