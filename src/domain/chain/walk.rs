//! A walk along the chain, link by link, and what it finds.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::company::COMPANY_FORM;
use super::{Cell, EARLIER, GENESIS, Link, OWN, digest, event_cell, record_digest};

/// How many problems, and how many events of another program, are kept one by one.
pub const KEPT: usize = 100;

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
    /// What is not as it was recorded; at most [`KEPT`].
    pub problems: Vec<Problem>,
    pub problem_count: usize,
    /// Where a hash that is kept outside was found.
    pub found: Option<i64>,
    wanted: Option<String>,
    begun: bool,
    /// What the events say about each decision.
    pub decisions: HashMap<String, Told>,
    /// The events that another program wrote while there was a chain: what the original did,
    /// or somebody with SQL; at most [`KEPT`].
    pub foreign: Vec<(i64, String)>,
    pub foreign_count: usize,
    /// How many events were there before the chain.
    pub earlier_count: usize,
    /// How many events are there, and rows that they vouch for, by table.
    pub found_rows: HashMap<&'static str, i64>,
    /// The last word of the runs on each policy: the run's place, and the digest of the row.
    pub policies: HashMap<String, (i64, String)>,
    /// The records of companies, by kind and id, that are not as the last event about each that
    /// was walked left them.
    stale: HashMap<[String; 2], Problem>,
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
            problem_count: 0,
            found,
            wanted,
            begun: false,
            decisions: HashMap::new(),
            foreign: Vec::new(),
            foreign_count: 0,
            earlier_count: 0,
            found_rows: HashMap::new(),
            policies: HashMap::new(),
            stale: HashMap::new(),
        }
    }

    /// Takes the next link.
    pub fn step(&mut self, link: &Link<'_>) {
        let next = self.place.saturating_add(1);
        if link.place != next {
            let last = link.place.saturating_sub(1);
            let gap = format!("links {next} to {last} of the chain were removed");
            self.problem(link, gap);
        }
        if link.expected_hash(&self.head) != link.hash {
            let what = format!("the link of {} does not follow from the one before", link.name());
            self.problem(link, what);
        }
        self.check_content(link);
        link.hash.as_ref().clone_into(&mut self.head);
        self.place = link.place;
        if self.wanted.as_deref() == Some(&*link.hash) && self.found.is_none() {
            self.found = Some(link.place);
        }
        // What was there before the chain stands at its beginning.
        self.begun |= link.origin != EARLIER;
        if link.origin != OWN && self.begun {
            self.foreign_count += 1;
            if self.foreign.len() < KEPT {
                self.foreign.push((link.place, link.name()));
            }
        } else if link.origin != OWN {
            self.earlier_count += 1;
        }
        self.count(link);
        if let Some(event) = link.event.as_ref().filter(|_| link.form != COMPANY_FORM) {
            self.listen(event);
        }
    }

    /// Ends the walk: tells of the records of companies that are not as the last word on each
    /// left them.
    pub fn finish(&mut self) {
        let mut stale: Vec<_> = std::mem::take(&mut self.stale).into_values().collect();
        stale.sort_by_key(|problem| problem.place);
        stale.into_iter().for_each(|problem| self.tell(problem));
    }

    fn check_content(&mut self, link: &Link<'_>) {
        match &link.event {
            None => self.problem(link, format!("the event {} was removed", link.event_id)),
            Some(cells) if digest(cells) != link.event_digest => {
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
        let is_same = digest.as_deref() == link.record_digest.as_deref();
        let what = match (&digest, &link.record_digest) {
            (None, _) => "was removed",
            (_, None) => "was added",
            _ => "was changed",
        };
        let what = || format!("{}, for which {} vouches, {what}", link.record_name(), link.name());
        if link.form == COMPANY_FORM {
            // A later event may vouch for what the record is by now.
            let record = [&link.record_kind, &link.record_id]
                .map(|cell| cell.clone().unwrap_or_default().into_owned());
            match is_same {
                true => drop(self.stale.remove(&record)),
                false => {
                    let problem = Problem { place: Some(link.place), what: what() };
                    self.stale.insert(record, problem);
                }
            }
        } else if !is_same {
            self.problem(link, what());
        }
    }

    fn count(&mut self, link: &Link<'_>) {
        if link.event.is_some() {
            let table = if link.form == COMPANY_FORM { "aoa_events" } else { "events" };
            *self.found_rows.entry(table).or_default() += 1;
        }
        for row in &link.rows {
            *self.found_rows.entry(row.table.name).or_default() += 1;
        }
        let policies = link.policies.as_deref().unwrap_or_default().split(' ');
        for (id, digest) in policies.filter_map(|policy| policy.split_once(':')) {
            self.policies.insert(id.to_owned(), (link.place, digest.to_owned()));
        }
    }

    /// Takes what an event, in the order of [`super::tables::EVENT_COLUMNS`], says about its
    /// decision. Those that wait to be taken in are heard after the walk.
    pub fn listen(&mut self, event: &[Cell<'_>]) {
        let (Some(event_type), Some(entity)) =
            (event_cell(event, "event_type"), event_cell(event, "entity_id"))
        else {
            return;
        };
        let payload = || -> Json {
            let text = event_cell(event, "payload_json").unwrap_or("null");
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
                    told.results =
                        told.results.zip(count).map(|(sum, count)| sum.saturating_add(count));
                }
            }
            _ => {}
        }
    }

    /// Takes what was found beside the chain.
    pub fn tell(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < KEPT {
            self.problems.push(problem);
        }
    }

    fn status(&mut self, decision: &str, to: &str) {
        if let Some(told) = self.decisions.get_mut(decision) {
            to.clone_into(&mut told.status);
        }
    }

    fn problem(&mut self, link: &Link<'_>, what: String) {
        self.tell(Problem { place: Some(link.place), what });
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::domain::chain::Row;
    use crate::domain::chain::tables::{APPROVALS, FORM, RecordKind};

    fn text(text: &str) -> Cell<'static> {
        Some(Cow::Owned(text.to_owned()))
    }

    fn link(place: i64, event_type: &str, payload: &str, before: &str) -> Link<'static> {
        let event: Vec<Cell<'_>> =
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
            form: FORM,
            event_id: place.to_string().into(),
            event_digest: digest(&event).into(),
            actor: text("HUMAN maintainer"),
            record_kind: RecordKind::of_event(event_type).map(|kind| kind.name().into()),
            record_id: None,
            record_digest: record_digest(&rows).map(Cow::from),
            origin: OWN.into(),
            token: None,
            policies: None,
            hash: "".into(),
            event: Some(event),
            actor_now: text("HUMAN maintainer"),
            rows,
        };
        link.hash = link.expected_hash(before).into();
        link
    }

    fn chain() -> Vec<Link<'static>> {
        let mut links: Vec<Link<'_>> = Vec::new();
        for (event_type, payload) in [
            ("review.requested", "{}"),
            ("decision.status_changed", r#"{"to":"rejected"}"#),
            ("decision.approved", r#"{"to":"approved"}"#),
        ] {
            let before = links.last().map_or(GENESIS, |link| &*link.hash).to_owned();
            links.push(link(links.len() as i64 + 1, event_type, payload, &before));
        }
        links
    }

    fn problems(links: &[Link<'_>]) -> Vec<(i64, String)> {
        let mut walk = Walk::new(None);
        links.iter().for_each(|link| walk.step(link));
        walk.problems.into_iter().map(|found| (found.place.unwrap(), found.what)).collect()
    }

    #[test]
    fn an_untouched_chain_is_sound_and_every_earlier_head_is_found() {
        let links = chain();
        assert_eq!(problems(&links), []);
        for (place, head) in [(0, GENESIS), (2, &*links[1].hash), (3, &*links[2].hash)] {
            let mut walk = Walk::new(Some(head.to_owned()));
            links.iter().for_each(|link| walk.step(link));
            assert_eq!(walk.found, Some(place));
        }
    }

    #[test]
    fn each_kind_of_tampering_is_told_with_its_place() {
        let tamper = |with: &dyn Fn(&mut Vec<Link<'static>>)| {
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
        for place in [i64::MIN, i64::MAX] {
            let moved = tamper(&|links| links[1].place = place);
            assert_eq!(moved[0].0, place);
        }
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
            let before = links[index - 1].hash.clone();
            links[index].hash = links[index].expected_hash(&before).into();
        }
        assert_eq!(problems(&links), []);
        assert_ne!(links[2].hash, chain()[2].hash);
    }
}
