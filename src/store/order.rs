//! Where records stand in the order of the ledger, as expressions that statements are made of.
//!
//! A rank is what [`Recorded`] is made from: a place in the chain; above all places, a turn in the
//! queue; 0 where no event tells of the record. Links beside the places of the chain, which only
//! another program makes, do not count, and of several that name a record the first does: its own
//! was made with it.
//!
//! [`Recorded`]: crate::domain::chain::order::Recorded

/// The rank of a row `t` of that kind, as the column `rank`.
macro_rules! rank_of {
    ($kind:tt) => {
        concat!(
            "COALESCE((SELECT MIN(c.place) FROM event_chain c WHERE c.record_id = t.id \
             AND c.record_kind = '",
            $kind,
            "' AND c.place BETWEEN 1 AND 9007199254740992), (SELECT ",
            $crate::store::order::rank_of_turn!("MIN"),
            " FROM events e JOIN event_queue q ON q.event_id = e.id WHERE ",
            $crate::store::order::tells_of!($kind),
            "), 0) AS rank"
        )
    };
}

/// The rank of an event `e` whose link is `c`, if it has one.
macro_rules! rank_of_event {
    () => {
        concat!(
            "COALESCE(CASE WHEN c.place BETWEEN 1 AND 9007199254740992 THEN c.place END, (SELECT ",
            $crate::store::order::rank_of_turn!("MIN"),
            " FROM event_queue q WHERE q.event_id = e.id), 0)"
        )
    };
}

/// The rank of a policy result `r`, as the column `rank`, with the link `c` of the run that it
/// comes from. While the original's run waits, nothing tells which of its results are the run's,
/// so the last one counts: no result is passed over.
macro_rules! rank_of_result {
    () => {
        concat!(
            "COALESCE(c.place, (SELECT ",
            $crate::store::order::rank_of_turn!("MAX"),
            " FROM events e JOIN event_queue q ON q.event_id = e.id \
             WHERE e.entity_type = 'decision' AND e.entity_id = r.decision_id \
             AND e.event_type = 'decision.policy_evaluated'), 0) AS rank"
        )
    };
}

/// The rank of the first or last turn among rows `q` of the queue, by `MIN` or `MAX`; null if there
/// is none.
macro_rules! rank_of_turn {
    ($which:tt) => {
        concat!("9007199254740992 + MIN(MAX(", $which, "(q.turn), 1), 9007199254740992)")
    };
}

/// Whether a waiting event `e` tells of the row `t`. The same commit may be attached twice, and
/// then each event tells of the change that was there last, or of the first.
macro_rules! tells_of {
    ("git_change") => {
        "e.entity_type = 'decision' AND e.entity_id = t.decision_id \
         AND e.event_type = 'decision.git_attached' AND JSON_VALID(e.payload_json) \
         AND JSON_EXTRACT(e.payload_json, '$.commit_hash') = t.commit_hash \
         AND NOT EXISTS (SELECT 1 FROM git_changes n WHERE n.decision_id = t.decision_id \
         AND n.commit_hash = t.commit_hash AND n.id <> t.id AND CASE \
         WHEN t.created_at <= e.created_at THEN n.created_at > t.created_at \
         AND n.created_at <= e.created_at ELSE n.created_at < t.created_at END)"
    };
    ("approval") => {
        "e.entity_type = 'decision' AND e.entity_id = t.decision_id AND JSON_VALID(e.payload_json) \
         AND REPLACE(JSON_EXTRACT(e.payload_json, '$.approval_id'), '-', '') = t.id"
    };
    ($kind:tt) => {
        concat!("e.entity_type = '", $kind, "' AND e.entity_id = t.id")
    };
}

pub(super) use {rank_of, rank_of_event, rank_of_result, rank_of_turn, tells_of};

#[cfg(test)]
mod tests {
    use crate::domain::chain::HIGHEST;

    #[test]
    fn the_highest_place_is_the_chains() {
        for text in [rank_of!("approval"), rank_of_event!(), rank_of_turn!("MIN")] {
            assert!(text.contains(&HIGHEST.to_string()), "{text}");
        }
    }
}
