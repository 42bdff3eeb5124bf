//! The states of an approval and what moves it from one to the next.

use super::value::ApprovalAction::{self, Approve, Reject, RequestRevision, Resubmit};
use super::value::ApprovalStatus::{self, Approved, Pending, Rejected, RevisionRequested};

impl ApprovalStatus {
    /// The status after an action; `None` where the status does not allow it.
    pub fn after(self, action: ApprovalAction) -> Option<Self> {
        match (self, action) {
            (Pending | RevisionRequested, Approve) => Some(Approved),
            (Pending | RevisionRequested, Reject) => Some(Rejected),
            (Pending, RequestRevision) => Some(RevisionRequested),
            (RevisionRequested, Resubmit) => Some(Pending),
            _ => None,
        }
    }

    /// The statuses from which an action is allowed, for a refusal.
    pub fn allowing(action: ApprovalAction) -> &'static [Self] {
        match action {
            Approve | Reject => &[Pending, RevisionRequested],
            RequestRevision => &[Pending],
            Resubmit => &[RevisionRequested],
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    #[test]
    fn an_approval_moves_only_as_its_status_allows() {
        for status in ApprovalStatus::iter() {
            for action in ApprovalAction::iter() {
                let allowed = ApprovalStatus::allowing(action).contains(&status);
                assert_eq!(status.after(action).is_some(), allowed, "{status} {action}");
            }
        }
        assert_eq!(RevisionRequested.after(Approve), Some(Approved));
        assert_eq!(RevisionRequested.after(Resubmit), Some(Pending));
    }

    #[test]
    fn what_was_decided_stays_decided() {
        for status in [Approved, Rejected, ApprovalStatus::Cancelled] {
            assert!(ApprovalAction::iter().all(|action| status.after(action).is_none()));
        }
    }
}
