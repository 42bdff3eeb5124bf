//! The chain over the events: what is hashed, and what a walk along it finds.
//!
//! Each link has three digests, all SHA-256 in hex: of the event's own columns, of the rows
//! that the event vouches for, and the link's hash over both, its place, and the hash before.
//! Columns are hashed as the ledger stores them, each with its length, so that no two
//! contents give the same bytes.

use std::collections::HashMap;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

/// The hash before the first link.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The origin of an event that this program wrote.
pub const OWN: &str = "govforge";
/// The origin of an event that was there before the chain.
pub const EARLIER: &str = "earlier";
/// The origin of an event that another program wrote beside the chain.
pub const OTHER: &str = "other";

/// A stored value: text, or an integer as its digits; `None` is null.
pub type Cell = Option<String>;

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

/// A table with rows that events vouch for, and its columns in the order in which they are
/// hashed: those that no call ever changes. The first is the key.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [&'static str],
}

pub static TASKS: Table = Table {
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
};
pub static POLICY_RESULT_RUNS: Table =
    Table { name: "policy_result_runs", columns: &["policy_result_id", "event_id", "config_hash"] };
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
        "created_at",
    ],
};
pub static APPROVALS: Table = Table {
    name: "approvals",
    columns: &["id", "decision_id", "approver_agent_id", "status", "comment", "created_at"],
};

/// Every table with rows that events vouch for.
pub static TABLES: [&Table; 9] = [
    &TASKS,
    &DECISIONS,
    &GIT_CHANGES,
    &REVIEWS,
    &FINDINGS,
    &POLICY_RESULTS,
    &POLICY_RESULT_RUNS,
    &DISAGREEMENTS,
    &APPROVALS,
];

/// What an event vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RecordKind {
    Task,
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

/// A row that an event vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub table: &'static Table,
    /// As many as the table has columns.
    pub cells: Vec<Cell>,
}

impl Row {
    /// A cell by its column.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let index = self.table.columns.iter().position(|name| *name == column)?;
        self.cells.get(index)?.as_deref()
    }
}

/// A link of the chain with what it stands for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// From 1 on, without a gap.
    pub place: i64,
    pub event_id: String,
    pub event_digest: String,
    /// Type and name of who acted, as taken in.
    pub actor: Cell,
    pub record_kind: Cell,
    pub record_id: Cell,
    pub record_digest: Cell,
    /// [`OWN`], or what is known of the program that wrote the event.
    pub origin: String,
    /// The label of the token under which it was written.
    pub token: Cell,
    pub hash: String,
    /// The event as it is now, in the order of [`EVENT_COLUMNS`]; `None` if it is gone.
    pub event: Option<Vec<Cell>>,
    /// Type and name of who acted, as the ledger has them now.
    pub actor_now: Cell,
    /// The rows that the event vouches for, as they are now.
    pub rows: Vec<Row>,
}

impl Link {
    /// The hash that follows from the link's content and the hash before.
    pub fn expected_hash(&self, before: &str) -> String {
        let place = Some(self.place.to_string());
        let mut hasher = Sha256::new();
        feed(&mut hasher, Some("govforge event chain 1"));
        feed(&mut hasher, Some(before));
        feed(&mut hasher, place.as_deref());
        feed(&mut hasher, Some(&self.event_id));
        feed(&mut hasher, Some(&self.event_digest));
        feed(&mut hasher, Some(&self.origin));
        for cell in
            [&self.actor, &self.record_kind, &self.record_id, &self.record_digest, &self.token]
        {
            feed(&mut hasher, cell.as_deref());
        }
        hex(hasher)
    }

    fn event_cell(&self, column: &str) -> Option<&str> {
        let index = EVENT_COLUMNS.iter().position(|name| *name == column)?;
        self.event.as_ref()?.get(index)?.as_deref()
    }

    /// What a person calls the event.
    fn name(&self) -> String {
        let event_type = self.event_cell("event_type").unwrap_or("event");
        format!("{event_type} ({})", self.event_id)
    }

    /// What a person calls the record.
    fn record_name(&self) -> String {
        let kind = self.record_kind.as_deref().unwrap_or("record").replace('_', " ");
        let shown = self.rows.first().and_then(|row| row.cell("display_id"));
        match shown.or(self.record_id.as_deref()) {
            Some(id) => format!("the {kind} {id}"),
            None => format!("the {kind}"),
        }
    }
}

/// The digest of an event's columns.
pub fn event_digest(cells: &[Cell]) -> String {
    let mut hasher = Sha256::new();
    for cell in cells {
        feed(&mut hasher, cell.as_deref());
    }
    hex(hasher)
}

/// The digest of the rows that an event vouches for; `None` if there are none.
pub fn record_digest(rows: &[Row]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let mut hasher = Sha256::new();
    for row in rows {
        feed(&mut hasher, Some(row.table.name));
        for cell in &row.cells {
            feed(&mut hasher, cell.as_deref());
        }
    }
    Some(hex(hasher))
}

fn feed(hasher: &mut Sha256, cell: Option<&str>) {
    match cell {
        None => hasher.update([0]),
        Some(text) => {
            hasher.update([1]);
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text);
        }
    }
}

fn hex(hasher: Sha256) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place in the chain from which on it shows; `None` for what is not in the chain.
    pub place: Option<i64>,
    pub what: String,
}

/// A walk along the chain, link by link.
#[derive(Debug)]
pub struct Walk {
    /// The hash of the last link.
    pub head: String,
    /// The place of the last link.
    pub place: i64,
    pub problems: Vec<Problem>,
    /// Where a hash that is kept outside was found.
    pub found: Option<i64>,
    wanted: Option<String>,
    begun: bool,
    /// What the events say about each decision.
    pub decisions: HashMap<String, Told>,
    /// The events that another program wrote while there was a chain: what the original did,
    /// or somebody with SQL.
    pub foreign: Vec<(i64, String)>,
}

/// What the events say about a decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The status on the wire that the last event about it gives.
    pub status: String,
    /// How many policy results its runs stored; `None` where an event does not tell.
    pub results: Option<u64>,
}

impl Walk {
    /// A walk from the start that looks for the hash `wanted` on its way.
    pub fn new(wanted: Option<String>) -> Self {
        let found = wanted.as_deref().filter(|wanted| *wanted == GENESIS).map(|_| 0);
        Self {
            head: GENESIS.to_owned(),
            place: 0,
            problems: Vec::new(),
            found,
            wanted,
            begun: false,
            decisions: HashMap::new(),
            foreign: Vec::new(),
        }
    }

    /// Takes the next link.
    pub fn step(&mut self, link: &Link) {
        if link.place != self.place + 1 {
            let gap =
                format!("links {} to {} of the chain were removed", self.place + 1, link.place - 1);
            self.problem(link, gap);
        }
        if link.expected_hash(&self.head) != link.hash {
            let what = format!("the link of {} does not follow from the one before", link.name());
            self.problem(link, what);
        }
        self.check_content(link);
        self.head.clone_from(&link.hash);
        self.place = link.place;
        if self.wanted.as_deref() == Some(&link.hash) && self.found.is_none() {
            self.found = Some(link.place);
        }
        // What was there before the chain stands at its beginning.
        self.begun |= link.origin != EARLIER;
        if link.origin != OWN && self.begun {
            self.foreign.push((link.place, link.name()));
        }
        self.listen(link);
    }

    fn check_content(&mut self, link: &Link) {
        match &link.event {
            None => self.problem(link, format!("the event {} was removed", link.event_id)),
            Some(cells) if event_digest(cells) != link.event_digest => {
                self.problem(link, format!("the event {} was changed", link.name()));
            }
            Some(_) if link.actor != link.actor_now => {
                let was = link.actor.as_deref().unwrap_or("nobody");
                let now = link.actor_now.as_deref().unwrap_or("nobody");
                let what = format!("the agent of {} was {was} and is now {now}", link.name());
                self.problem(link, what);
            }
            Some(_) => {}
        }
        let digest = record_digest(&link.rows);
        if digest != link.record_digest {
            let what = match (&digest, &link.record_digest) {
                (None, _) => "was removed",
                (_, None) => "was added",
                _ => "was changed",
            };
            self.problem(
                link,
                format!("{}, for which {} vouches, {what}", link.record_name(), link.name()),
            );
        }
    }

    /// Takes what the event says about its decision.
    fn listen(&mut self, link: &Link) {
        let (Some(event_type), Some(entity)) =
            (link.event_cell("event_type"), link.event_cell("entity_id"))
        else {
            return;
        };
        let payload = || -> Json {
            let text = link.event_cell("payload_json").unwrap_or("null");
            serde_json::from_str(text).unwrap_or_default()
        };
        match event_type {
            "decision.created" => {
                let told = Told { status: "draft".to_owned(), results: Some(0) };
                self.decisions.insert(entity.to_owned(), told);
            }
            "review.requested" => self.status(entity, "review_required"),
            "decision.status_changed"
            | "decision.approved"
            | "decision.rejected"
            | "decision.needs_changes" => {
                if let Some(to) = payload()["to"].as_str() {
                    self.status(entity, to);
                }
            }
            "decision.policy_evaluated" => {
                let count = payload()["policy_count"].as_u64();
                if let Some(told) = self.decisions.get_mut(entity) {
                    told.results = told.results.zip(count).map(|(sum, count)| sum + count);
                }
            }
            _ => {}
        }
    }

    fn status(&mut self, decision: &str, to: &str) {
        if let Some(told) = self.decisions.get_mut(decision) {
            to.clone_into(&mut told.status);
        }
    }

    fn problem(&mut self, link: &Link, what: String) {
        self.problems.push(Problem { place: Some(link.place), what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell {
        Some(text.to_owned())
    }

    fn link(place: i64, event_type: &str, payload: &str, before: &str) -> Link {
        let event: Vec<Cell> =
            [&place.to_string(), "p", "decision", "d", event_type, "a", payload, "t"]
                .map(text)
                .into();
        let rows = match RecordKind::of_event(event_type) {
            Some(RecordKind::Approval) => vec![Row {
                table: &APPROVALS,
                cells: ["x", "d", "a", "APPROVED", "fine", "t"].map(text).into(),
            }],
            _ => Vec::new(),
        };
        let mut link = Link {
            place,
            event_id: place.to_string(),
            event_digest: event_digest(&event),
            actor: text("HUMAN maintainer"),
            record_kind: RecordKind::of_event(event_type).map(|kind| kind.name().to_owned()),
            record_id: None,
            record_digest: record_digest(&rows),
            origin: OWN.to_owned(),
            token: None,
            hash: String::new(),
            event: Some(event),
            actor_now: text("HUMAN maintainer"),
            rows,
        };
        link.hash = link.expected_hash(before);
        link
    }

    fn chain() -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for (event_type, payload) in [
            ("review.requested", "{}"),
            ("decision.status_changed", r#"{"to":"rejected"}"#),
            ("decision.approved", r#"{"to":"approved"}"#),
        ] {
            let before = links.last().map_or(GENESIS, |link| &link.hash).to_owned();
            links.push(link(links.len() as i64 + 1, event_type, payload, &before));
        }
        links
    }

    fn problems(links: &[Link]) -> Vec<(i64, String)> {
        let mut walk = Walk::new(None);
        links.iter().for_each(|link| walk.step(link));
        walk.problems.into_iter().map(|found| (found.place.unwrap(), found.what)).collect()
    }

    #[test]
    fn an_untouched_chain_is_sound_and_every_earlier_head_is_found() {
        let links = chain();
        assert_eq!(problems(&links), []);
        for (place, head) in [(0, GENESIS), (2, &links[1].hash), (3, &links[2].hash)] {
            let mut walk = Walk::new(Some(head.to_owned()));
            links.iter().for_each(|link| walk.step(link));
            assert_eq!(walk.found, Some(place));
        }
    }

    #[test]
    fn each_kind_of_tampering_is_told_with_its_place() {
        let tamper = |with: &dyn Fn(&mut Vec<Link>)| {
            let mut links = chain();
            with(&mut links);
            problems(&links)
        };
        for (expected, found) in [
            ("was changed", tamper(&|links| links[1].event.as_mut().unwrap()[6] = text("{}"))),
            ("was removed", tamper(&|links| links[1].event = None)),
            ("is now CLAUDE x", tamper(&|links| links[1].actor_now = text("CLAUDE x"))),
            ("does not follow", tamper(&|links| links[1].token = text("mine"))),
        ] {
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, 2);
            assert!(found[0].1.contains(expected), "{found:?}");
        }
        let removed = tamper(&|links| drop(links.remove(1)));
        assert_eq!(removed[0].0, 3);
        assert!(removed[0].1.contains("links 2 to 2"), "{removed:?}");
        let changed = tamper(&|links| links[2].rows[0].cells[4] = None);
        assert_eq!(
            changed[0].1,
            "the approval, for which decision.approved (3) vouches, was changed"
        );
        let gone = tamper(&|links| links[2].rows.clear());
        assert!(gone[0].1.ends_with("was removed"), "{gone:?}");
        // Rehashed from there on, it is another chain: only the head that is kept tells.
        let mut links = chain();
        links[0] = link(1, "review.requested", r#"{"focus":[]}"#, GENESIS);
        for index in 1..3 {
            links[index].hash = links[index].expected_hash(&links[index - 1].hash.clone());
        }
        assert_eq!(problems(&links), []);
        assert_ne!(links[2].hash, chain()[2].hash);
    }

    #[test]
    fn no_two_contents_give_the_same_bytes() {
        let digests = [
            event_digest(&[text("ab"), text("c")]),
            event_digest(&[text("a"), text("bc")]),
            event_digest(&[text("abc"), None]),
            event_digest(&[None, text("abc")]),
            event_digest(&[text(""), text("abc")]),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
