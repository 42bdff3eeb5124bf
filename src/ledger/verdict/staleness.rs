//! Which change a review, a policy run or a verdict is about: the one that was attached when it
//! was recorded. The chain tells the order: a clock that was wrong, or a row that was given a
//! time, changes nothing.

use uuid::Uuid;

use crate::domain::chain::order::Recorded;
use crate::domain::entity::Decision;
use crate::domain::verdict::Verdict;
use crate::error::Result;
use crate::ledger::verdict::vouched;
use crate::store;
use crate::store::engine::Connection;
use crate::store::ledger::git_changes::Mark;

/// The changes that were ever attached to a decision.
pub struct AttachedChanges {
    /// Oldest first.
    changes: Vec<Mark>,
}

impl From<Vec<Mark>> for AttachedChanges {
    /// The changes, oldest first.
    fn from(changes: Vec<Mark>) -> Self {
        Self { changes }
    }
}

impl AttachedChanges {
    /// The changes of a decision, as the ledger holds them now.
    pub async fn of(connection: &mut Connection, decision_id: Uuid) -> Result<Self> {
        Ok(store::ledger::git_changes::marks(connection, decision_id).await?.into())
    }

    /// Whether what was recorded then is about another change than the one attached now, or
    /// about none when there is one now.
    pub fn is_stale(&self, recorded: Recorded) -> bool {
        let seen = self.changes.iter().rfind(|change| change.recorded <= recorded);
        match (seen, self.changes.last()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(seen), Some(current)) => !is_same(seen, current),
        }
    }

    /// The diff hash of the change that is attached now.
    pub fn diff_hash(&self) -> Option<&str> {
        self.changes.last()?.diff_hash.as_deref()
    }
}

/// One commit is one change, whichever program hashed it; so is the same diff on another
/// commit, after a rebase.
fn is_same(a: &Mark, b: &Mark) -> bool {
    a.commit_hash == b.commit_hash || (a.diff_hash.is_some() && a.diff_hash == b.diff_hash)
}

/// The verdict of a person that rules the decision now: only another verdict changes the
/// status. A rejection by a reviewer is none, and neither is a verdict whose approval was
/// taken back by another diff, or one that nothing vouches for.
pub async fn standing_verdict(
    connection: &mut Connection,
    decision: &Decision,
) -> Result<Option<Verdict>> {
    let Some(verdict) = vouched::persons(connection, decision).await? else { return Ok(None) };
    let stale = AttachedChanges::of(connection, decision.id).await?.is_stale(verdict.recorded());
    Ok(decision.status.is_settled_by(verdict.status(), stale).then_some(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: i64) -> Recorded {
        Recorded::new(Some(place))
    }

    fn attached(changes: &[(i64, &str, Option<&str>)]) -> AttachedChanges {
        let mark = |(place, commit, diff): &(i64, &str, Option<&str>)| Mark {
            commit_hash: (*commit).to_owned(),
            diff_hash: diff.map(str::to_owned),
            recorded: at(*place),
        };
        AttachedChanges { changes: changes.iter().map(mark).collect() }
    }

    #[test]
    fn what_saw_another_change_is_stale() {
        let nothing = attached(&[]);
        assert!(!nothing.is_stale(at(1)));
        let one = attached(&[(5, "a", Some("x"))]);
        assert!(one.is_stale(at(4)), "it saw no change");
        assert!(!one.is_stale(at(5)));
        let two = attached(&[(5, "a", Some("x")), (7, "b", Some("y"))]);
        assert!(two.is_stale(at(6)));
        assert!(!two.is_stale(at(8)));
        let back = attached(&[(5, "a", Some("x")), (7, "b", Some("y")), (9, "a", Some("x"))]);
        assert!(!back.is_stale(at(6)), "its change is attached again");
    }

    #[test]
    fn a_rebased_or_rehashed_change_is_the_same() {
        assert!(!attached(&[(5, "a", Some("x")), (7, "b", Some("x"))]).is_stale(at(6)));
        assert!(!attached(&[(5, "a", Some("x")), (7, "a", Some("y"))]).is_stale(at(6)));
        assert!(attached(&[(5, "a", None), (7, "b", None)]).is_stale(at(6)));
    }
}
