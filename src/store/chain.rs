//! The tables `event_chain` and `event_queue`, and the rows that events vouch for, as they are
//! stored: what is hashed is what is there, not what it means.

pub mod company;
pub mod links;
pub mod testimony;
pub mod unlinked;

use std::borrow::Cow;
use std::collections::HashSet;
use std::str::FromStr as _;

use uuid::Uuid;

use self::links::{ACTOR_COLUMNS, Cells, actor_of, columns, number, packed, rows_of, texts};
use super::row::{self, Columns as _, Row};
use crate::domain::chain::tables::{EVENT_COLUMNS, FORM, POLICY_COLUMNS, RecordKind};
use crate::domain::chain::{
    Cell, EARLIER, GENESIS, HIGHEST, Link, OTHER, OWN, digest, record_digest,
};
use crate::error::{Fault, Result};
use crate::store::engine::{Connection, composed, query};

/// How many waiting events are held in memory at once: a ledger that comes from the original
/// may have a long history.
const TAKEN_AT_ONCE: u32 = 10_000;

/// The place and hash of the last link.
fn head_query() -> String {
    let link = packed(&columns("c", &["place", "hash"]));
    format!(
        "SELECT {link} FROM event_chain c WHERE c.place BETWEEN 1 AND {HIGHEST} \
         ORDER BY c.place DESC LIMIT 1"
    )
}

/// Takes the events that wait into the chain, in the order in which they were written. Those
/// in `own` are this call's, written under the token of that label.
///
/// Part of the caller's transaction, which holds the write lock: two writers cannot take the
/// same place. Takes all that wait: only this call knows its own events from forged ones.
pub async fn take_in(connection: &mut Connection, own: &[Uuid], token: Option<&str>) -> Result<()> {
    let own: HashSet<String> = own.iter().map(|id| row::id(*id)).collect();
    while take_some_in(connection, &own, token).await? {}
    Ok(())
}

/// Returns whether there was anything to take.
async fn take_some_in(
    connection: &mut Connection,
    own: &HashSet<String>,
    token: Option<&str>,
) -> Result<bool> {
    let mut all = columns("q", &["event_id", "origin"]);
    all.extend(columns("a", &ACTOR_COLUMNS));
    all.extend(columns("e", &EVENT_COLUMNS));
    let sql = format!(
        "SELECT q.turn, {} FROM event_queue q \
         LEFT JOIN events e ON e.id = q.event_id LEFT JOIN agents a ON a.id = e.actor_agent_id \
         ORDER BY q.turn LIMIT {TAKEN_AT_ONCE}; {}",
        packed(&all),
        head_query()
    );
    let all = composed(sql).fetch_of_each(connection).await?;
    let [waiting, last_link] = all.as_slice() else {
        return Err(Fault::new("a statement gave no end").into());
    };
    if waiting.is_empty() {
        return Ok(false);
    }
    let (mut place, mut before) = read_head(last_link.first())?;
    for row in waiting {
        let turn = row.integer("turn")?;
        let mut cells = Cells::of(row, 1)?;
        let [event_id, queued_as] = cells.take()?;
        let actor = actor_of(cells.take()?);
        let event: [_; EVENT_COLUMNS.len()] = cells.take()?;
        // It went with its project before it was taken in.
        if event[0].is_none() {
            leave_queue(connection, turn).await?;
            continue;
        }
        let event_id = event_id.unwrap_or_default();
        let is_own = own.contains(&*event_id);
        // Whoever writes to the queue by hand does not become this program.
        let earlier = queued_as.as_deref() == Some(EARLIER);
        let origin = match (is_own, earlier) {
            (true, _) => OWN,
            (false, true) => EARLIER,
            (false, false) => OTHER,
        };
        let vouched = vouched(connection, &event, origin).await?;
        let mut link = Link {
            place: place.saturating_add(1),
            form: FORM,
            event_id,
            event_digest: digest(&event).into(),
            actor,
            record_kind: vouched.kind.map(|kind| kind.name().into()),
            record_id: vouched.id.map(Cow::from),
            record_digest: vouched.digest.map(Cow::from),
            origin: origin.into(),
            token: token.filter(|_| is_own).map(Cow::from),
            policies: vouched.policies.map(Cow::from),
            hash: Cow::default(),
            event: None,
            actor_now: None,
            rows: Vec::new(),
        };
        link.hash = link.expected_hash(&before).into();
        if insert(connection, &link, turn).await? {
            place = link.place;
            before = link.hash.into_owned();
        }
    }
    Ok(true)
}

async fn leave_queue(connection: &mut Connection, turn: i64) -> Result<()> {
    query("DELETE FROM event_queue WHERE turn = $1").bind(turn).execute(connection).await?;
    Ok(())
}

/// Adds the link of the event that had that turn in the queue. Returns whether it was added: an
/// event that is in the chain already keeps its place.
async fn insert(connection: &mut Connection, link: &Link<'_>, turn: i64) -> Result<bool> {
    let statements = query(
        "INSERT INTO event_chain (place, event_id, event_digest, actor, record_kind, record_id, \
         record_digest, origin, token, hash, form, policies) \
         VALUES ($1, (SELECT event_id FROM event_queue WHERE turn = $2), $3, $4, $5, $6, $7, $8, \
         $9, $10, $11, $12) \
         ON CONFLICT (event_id) DO NOTHING RETURNING place; \
         DELETE FROM event_queue WHERE turn = $2",
    )
    .bind(link.place)
    .bind(turn)
    .bind(&*link.event_digest)
    .bind(link.actor.as_deref())
    .bind(link.record_kind.as_deref())
    .bind(link.record_id.as_deref())
    .bind(link.record_digest.as_deref())
    .bind(&*link.origin)
    .bind(link.token.as_deref())
    .bind(&*link.hash)
    .bind(link.form)
    .bind(link.policies.as_deref());
    let all = statements.fetch_of_each(connection).await?;
    Ok(all.first().is_some_and(|added| !added.is_empty()))
}

/// The place and hash of the last link.
pub async fn head(connection: &mut Connection) -> Result<(i64, String)> {
    let head = composed(head_query());
    read_head(head.fetch_optional(connection).await?.as_ref())
}

fn read_head(row: Option<&Row>) -> Result<(i64, String)> {
    let Some(row) = row else { return Ok((0, GENESIS.to_owned())) };
    let [place, hash] = Cells::of(row, 0)?.take()?;
    Ok((number(place)?, hash.unwrap_or_default().into_owned()))
}

/// How many events wait to be taken in.
pub async fn waiting(connection: &mut Connection) -> Result<i64> {
    query("SELECT COUNT(*) AS number FROM event_queue").fetch_number(connection).await
}

/// What an event vouches for, as it is now.
#[derive(Debug, Default)]
struct Vouched {
    kind: Option<RecordKind>,
    /// The record's; a policy run has none.
    id: Option<String>,
    digest: Option<String>,
    policies: Option<String>,
}

async fn vouched(connection: &mut Connection, event: &[Cell<'_>], origin: &str) -> Result<Vouched> {
    let Some(kind) = RecordKind::of_event(cell(event, "event_type")) else {
        return Ok(Vouched::default());
    };
    let event_id = cell(event, "id");
    // Damaged: nothing can refer to it, and it proves nothing.
    if links::is_damaged(event_id) {
        return Ok(Vouched::default());
    }
    if kind == RecordKind::PolicyRun && origin != OWN {
        find_results(connection, event).await?;
    }
    let id = record_id(connection, kind, event).await?;
    let sql = format!(
        "SELECT {} FROM (SELECT $1 AS record_id, $2 AS event_id, $3 AS origin) c",
        rows_of(kind, FORM)
    );
    let rows = composed(sql).bind(&id).bind(event_id).bind(origin);
    let rows = rows.fetch_one(&mut *connection).await?;
    let digest = record_digest(&Cells::of(&rows, 0)?.rows(FORM)?);
    let policies = match kind {
        RecordKind::PolicyRun => policies_of(connection, event_id).await?,
        _ => None,
    };
    // A record that was never there has no id to look for.
    Ok(Vouched { kind: Some(kind), id: id.filter(|_| digest.is_some()), digest, policies })
}

fn cell<'a>(event: &'a [Cell<'_>], name: &str) -> &'a str {
    let index = EVENT_COLUMNS.iter().position(|column| *column == name);
    index.and_then(|index| event[index].as_deref()).unwrap_or_default()
}

/// The id of the record that an event tells of.
async fn record_id(
    connection: &mut Connection,
    kind: RecordKind,
    event: &[Cell<'_>],
) -> Result<Option<String>> {
    let entity = cell(event, "entity_id");
    let payload = || -> serde_json::Value {
        serde_json::from_str(cell(event, "payload_json")).unwrap_or_default()
    };
    Ok(match kind {
        RecordKind::Task | RecordKind::Decision | RecordKind::Review | RecordKind::Disagreement => {
            Some(entity.to_owned())
        }
        RecordKind::PolicyRun => None,
        RecordKind::Approval => {
            let id = payload()["approval_id"].as_str().and_then(|id| Uuid::from_str(id).ok());
            id.map(row::id)
        }
        // The same commit may be attached twice: the one just before the event, or (where the
        // original's clock differs) the nearest after it.
        RecordKind::GitChange => {
            let sql = format!(
                "SELECT {} FROM git_changes t WHERE decision_id = $1 AND commit_hash = $2 \
                 ORDER BY created_at > $3, CASE WHEN created_at <= $3 THEN created_at END DESC, \
                 created_at, id LIMIT 1",
                packed(&columns("t", &["id"]))
            );
            let changes = composed(sql)
                .bind(entity)
                .bind(payload()["commit_hash"].as_str())
                .bind(cell(event, "created_at"))
                .fetch_all(connection)
                .await?;
            texts(&changes)?.pop()
        }
    })
}

/// Notes which results a run of another program stored: of those of the decision that no other
/// run has, the oldest, as many as the event counts, or those up to its time.
async fn find_results(connection: &mut Connection, event: &[Cell<'_>]) -> Result<()> {
    let payload: Option<serde_json::Value> = serde_json::from_str(cell(event, "payload_json")).ok();
    let count = payload.and_then(|payload| payload["policy_count"].as_i64());
    query(
        "INSERT INTO foreign_policy_results (policy_result_id, event_id) \
         SELECT r.id, $1 FROM policy_results r WHERE r.decision_id = $2 \
         AND ($3 IS NOT NULL OR r.created_at <= $4) \
         AND NOT EXISTS (SELECT 1 FROM policy_result_runs l WHERE l.policy_result_id = r.id) \
         AND NOT EXISTS (SELECT 1 FROM foreign_policy_results f WHERE f.policy_result_id = r.id) \
         ORDER BY r.created_at, r.id LIMIT COALESCE($3, -1)",
    )
    .bind(cell(event, "id"))
    .bind(cell(event, "entity_id"))
    .bind(count.map(|count| count.max(0)))
    .bind(cell(event, "created_at"))
    .execute(connection)
    .await?;
    Ok(())
}

/// The policies that a run judged by, as a link has them.
async fn policies_of(connection: &mut Connection, event_id: &str) -> Result<Option<String>> {
    let sql = format!(
        "SELECT {} FROM policies p WHERE p.id IN (SELECT t.policy_id FROM policy_results t \
         WHERE t.id IN (SELECT policy_result_id FROM policy_result_runs WHERE event_id = $1 \
         UNION ALL SELECT policy_result_id FROM foreign_policy_results WHERE event_id = $1)) \
         ORDER BY p.id",
        packed(&columns("p", &POLICY_COLUMNS))
    );
    let mut policies = Vec::new();
    for row in &composed(sql).bind(event_id).fetch_all(connection).await? {
        let policy: [_; POLICY_COLUMNS.len()] = Cells::of(row, 0)?.take()?;
        policies.push(format!("{}:{}", policy[0].as_deref().unwrap_or_default(), digest(&policy)));
    }
    Ok((!policies.is_empty()).then(|| policies.join(" ")))
}
