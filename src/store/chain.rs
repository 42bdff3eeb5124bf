//! The tables `event_chain` and `event_queue`, and the rows that events vouch for, as they are
//! stored: what is hashed is what is there, not what it means.

use std::collections::HashMap;
use std::str::FromStr as _;

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};
use uuid::Uuid;

use super::batch::rows_of_each;
use super::ledger::schema::MIGRATIONS;
use super::row::{self, Columns as _};
use crate::domain::chain::{
    APPROVALS, Cell, DECISIONS, DISAGREEMENTS, EARLIER, EVENT_COLUMNS, FINDINGS, GENESIS,
    GIT_CHANGES, Link, OTHER, OWN, POLICY_RESULT_RUNS, POLICY_RESULTS, REVIEWS, RecordKind, Row,
    TASKS, Table, event_digest, record_digest,
};
use crate::error::{Fault, Result};

/// How many waiting events are held in memory at once: a ledger that comes from the original
/// may have a long history.
const TAKEN_AT_ONCE: u32 = 10_000;

/// The columns of a link after its place.
const LINK_COLUMNS: [&str; 9] = [
    "event_id",
    "event_digest",
    "actor",
    "record_kind",
    "record_id",
    "record_digest",
    "origin",
    "token",
    "hash",
];

/// The place and hash of the last link.
const HEAD: &str = "SELECT place, hash FROM event_chain ORDER BY place DESC LIMIT 1";

/// How many links a page of a walk holds.
const PAGE: i64 = 5_000;

/// Takes the events that wait into the chain, in the order in which they were written. Those
/// in `own` are this call's, written under the token of that label.
///
/// Part of the caller's transaction, which holds the write lock: two writers cannot take the
/// same place. Takes all that wait: only this call knows its own events from forged ones.
pub async fn take_in(
    connection: &mut SqliteConnection,
    own: &[Uuid],
    token: Option<&str>,
) -> Result<()> {
    let own: Vec<String> = own.iter().map(|id| row::id(*id)).collect();
    while take_some_in(connection, &own, token).await? {}
    Ok(())
}

/// Returns whether there was anything to take.
async fn take_some_in(
    connection: &mut SqliteConnection,
    own: &[String],
    token: Option<&str>,
) -> Result<bool> {
    let sql = format!(
        "SELECT q.turn, q.event_id, q.origin, a.type || ' ' || a.name, {} FROM event_queue q \
         LEFT JOIN events e ON e.id = q.event_id LEFT JOIN agents a ON a.id = e.actor_agent_id \
         ORDER BY q.turn LIMIT {TAKEN_AT_ONCE}; {HEAD}",
        packed(&columns("e", &EVENT_COLUMNS))
    );
    let all = rows_of_each(connection, sqlx::query(AssertSqlSafe(sql))).await?;
    let [waiting, last_link] = all.as_slice() else {
        return Err(Fault::new("a statement gave no end").into());
    };
    if waiting.is_empty() {
        return Ok(false);
    }
    let (mut place, mut before) = read_head(last_link.first())?;
    for row in waiting {
        let turn: i64 = row.try_get(0)?;
        let event = cells(row, 4, EVENT_COLUMNS.len())?;
        // It went with its project before it was taken in.
        if event[0].is_none() {
            leave_queue(connection, turn).await?;
            continue;
        }
        let (kind, record_id, rows) = vouched(connection, &event).await?;
        let event_id: String = row.try_get(1)?;
        let is_own = own.contains(&event_id);
        // Whoever writes to the queue by hand does not become this program.
        let earlier = row.try_get::<&str, _>(2)? == EARLIER;
        let mut link = Link {
            place: place + 1,
            event_digest: event_digest(&event),
            actor: row.try_get(3)?,
            record_kind: kind.map(|kind| kind.name().to_owned()),
            record_id,
            record_digest: record_digest(&rows),
            origin: match (is_own, earlier) {
                (true, _) => OWN,
                (false, true) => EARLIER,
                (false, false) => OTHER,
            }
            .to_owned(),
            token: token.filter(|_| is_own).map(str::to_owned),
            hash: String::new(),
            event: None,
            actor_now: None,
            rows: Vec::new(),
            event_id,
        };
        link.hash = link.expected_hash(&before);
        if insert(connection, &link, turn).await? {
            place = link.place;
            before = link.hash;
        }
    }
    Ok(true)
}

async fn leave_queue(connection: &mut SqliteConnection, turn: i64) -> Result<()> {
    sqlx::query("DELETE FROM event_queue WHERE turn = $1").bind(turn).execute(connection).await?;
    Ok(())
}

/// Adds the link of the event that had that turn in the queue. Returns whether it was added: an
/// event that is in the chain already keeps its place.
async fn insert(connection: &mut SqliteConnection, link: &Link, turn: i64) -> Result<bool> {
    let statements = sqlx::query(
        "INSERT INTO event_chain (place, event_id, event_digest, actor, record_kind, record_id, \
         record_digest, origin, token, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (event_id) DO NOTHING RETURNING place; \
         DELETE FROM event_queue WHERE turn = $11",
    )
    .bind(link.place)
    .bind(&link.event_id)
    .bind(&link.event_digest)
    .bind(&link.actor)
    .bind(&link.record_kind)
    .bind(&link.record_id)
    .bind(&link.record_digest)
    .bind(&link.origin)
    .bind(&link.token)
    .bind(&link.hash)
    .bind(turn);
    let all = rows_of_each(connection, statements).await?;
    Ok(all.first().is_some_and(|added| !added.is_empty()))
}

/// The place and hash of the last link.
pub async fn head(connection: &mut SqliteConnection) -> Result<(i64, String)> {
    read_head(sqlx::query(HEAD).fetch_optional(connection).await?.as_ref())
}

fn read_head(row: Option<&SqliteRow>) -> Result<(i64, String)> {
    match row {
        Some(row) => Ok((row.integer("place")?, row.text("hash")?)),
        None => Ok((0, GENESIS.to_owned())),
    }
}

/// How many events wait to be taken in.
pub async fn waiting(connection: &mut SqliteConnection) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT COUNT(*) FROM event_queue").fetch_one(connection).await?)
}

/// The links after a place, in order, with what they stand for now; none at the end.
pub async fn links_after(connection: &mut SqliteConnection, place: i64) -> Result<Vec<Link>> {
    let mut all = columns("c", &LINK_COLUMNS);
    all.push("(a.type || ' ' || a.name)".to_owned());
    all.extend(columns("e", &EVENT_COLUMNS));
    let sql = format!(
        "SELECT c.place, {} FROM event_chain c LEFT JOIN events e ON e.id = c.event_id \
         LEFT JOIN agents a ON a.id = e.actor_agent_id \
         WHERE c.place > $1 ORDER BY c.place LIMIT {PAGE}",
        packed(&all)
    );
    let found = sqlx::query(AssertSqlSafe(sql)).bind(place).fetch_all(&mut *connection).await?;
    let mut links = Vec::with_capacity(found.len());
    for row in &found {
        let mut head = cells(row, 1, all.len())?;
        let event = head.split_off(LINK_COLUMNS.len() + 1);
        let [
            event_id,
            event_digest,
            actor,
            record_kind,
            record_id,
            record_digest,
            origin,
            token,
            hash,
            actor_now,
        ] = head.try_into().unwrap_or_default();
        links.push(Link {
            place: row.try_get(0)?,
            event_id: event_id.unwrap_or_default(),
            event_digest: event_digest.unwrap_or_default(),
            actor,
            record_kind,
            record_id,
            record_digest,
            origin: origin.unwrap_or_default(),
            token,
            hash: hash.unwrap_or_default(),
            event: event[0].is_some().then_some(event),
            actor_now,
            rows: Vec::new(),
        });
    }
    if let Some(last) = links.last() {
        let mut rows = rows_between(connection, place, last.place).await?;
        for link in &mut links {
            link.rows = rows.remove(&link.place).unwrap_or_default();
        }
    }
    Ok(links)
}

/// The rows that the links between two places (the first left out) vouch for, by place.
async fn rows_between(
    connection: &mut SqliteConnection,
    after: i64,
    to: i64,
) -> Result<HashMap<i64, Vec<Row>>> {
    let by_id = "ON t.id = c.record_id";
    let by_run = "JOIN events e ON e.id = c.event_id \
                  JOIN policy_results t ON t.decision_id = e.entity_id \
                  AND t.created_at = e.created_at";
    let joined = [
        (RecordKind::Task, &TASKS, format!("JOIN tasks t {by_id}")),
        (RecordKind::Decision, &DECISIONS, format!("JOIN decisions t {by_id}")),
        (RecordKind::GitChange, &GIT_CHANGES, format!("JOIN git_changes t {by_id}")),
        (RecordKind::Review, &REVIEWS, format!("JOIN reviews t {by_id}")),
        // After its review.
        (RecordKind::Review, &FINDINGS, "JOIN findings t ON t.review_id = c.record_id".to_owned()),
        (RecordKind::PolicyRun, &POLICY_RESULTS, by_run.to_owned()),
        (
            RecordKind::PolicyRun,
            &POLICY_RESULT_RUNS,
            "JOIN policy_result_runs t ON t.event_id = c.event_id".to_owned(),
        ),
        (RecordKind::Disagreement, &DISAGREEMENTS, format!("JOIN disagreements t {by_id}")),
        (RecordKind::Approval, &APPROVALS, format!("JOIN approvals t {by_id}")),
    ];
    let mut rows: HashMap<i64, Vec<Row>> = HashMap::new();
    for (kind, table, join) in joined {
        let sql = format!(
            "SELECT c.place, {} FROM event_chain c {join} WHERE c.record_kind = '{}' \
             AND c.place > $1 AND c.place <= $2 ORDER BY c.place, t.{}",
            packed(&columns("t", table.columns)),
            kind.name(),
            table.columns[0]
        );
        let found = sqlx::query(AssertSqlSafe(sql)).bind(after).bind(to);
        for row in &found.fetch_all(&mut *connection).await? {
            let place: i64 = row.try_get(0)?;
            let cells = cells(row, 1, table.columns.len())?;
            rows.entry(place).or_default().push(Row { table, cells });
        }
    }
    Ok(rows)
}

/// What an event vouches for: the kind, the record's id where it has one, and its rows.
async fn vouched(
    connection: &mut SqliteConnection,
    event: &[Cell],
) -> Result<(Option<RecordKind>, Cell, Vec<Row>)> {
    let cell = |name: &str| -> &str {
        let index = EVENT_COLUMNS.iter().position(|column| *column == name);
        index.and_then(|index| event[index].as_deref()).unwrap_or_default()
    };
    let Some(kind) = RecordKind::of_event(cell("event_type")) else {
        return Ok((None, None, Vec::new()));
    };
    let payload =
        || -> serde_json::Value { serde_json::from_str(cell("payload_json")).unwrap_or_default() };
    let entity = cell("entity_id").to_owned();
    let by_id = "t.id = $1";
    let mut rows = match kind {
        RecordKind::Task => select(connection, &TASKS, by_id, &[&entity]).await?,
        RecordKind::Decision => select(connection, &DECISIONS, by_id, &[&entity]).await?,
        RecordKind::Disagreement => select(connection, &DISAGREEMENTS, by_id, &[&entity]).await?,
        RecordKind::Review => {
            let mut rows = select(connection, &REVIEWS, by_id, &[&entity]).await?;
            rows.extend(select(connection, &FINDINGS, "t.review_id = $1", &[&entity]).await?);
            rows
        }
        RecordKind::PolicyRun => {
            let of_run = "t.decision_id = $1 AND t.created_at = $2";
            let run = [&entity, cell("created_at")];
            let mut rows = select(connection, &POLICY_RESULTS, of_run, &run).await?;
            let links = "t.event_id = $1";
            rows.extend(select(connection, &POLICY_RESULT_RUNS, links, &[cell("id")]).await?);
            return Ok((Some(kind), None, rows));
        }
        RecordKind::Approval => {
            let id = payload()["approval_id"].as_str().and_then(|id| Uuid::from_str(id).ok());
            let id = id.map(row::id).unwrap_or_default();
            select(connection, &APPROVALS, by_id, &[&id]).await?
        }
        RecordKind::GitChange => {
            let commit = payload()["commit_hash"].as_str().unwrap_or_default().to_owned();
            let of_commit = "t.decision_id = $1 AND t.commit_hash = $2";
            let mut rows = select(connection, &GIT_CHANGES, of_commit, &[&entity, &commit]).await?;
            // The same commit may be attached twice: the one just before the event, or (where
            // the original's clock differs) the nearest after it.
            rows.sort_by(|a, b| a.cell("created_at").cmp(&b.cell("created_at")));
            let before =
                rows.iter().rposition(|row| row.cell("created_at") <= Some(cell("created_at")));
            if rows.is_empty() { rows } else { vec![rows.swap_remove(before.unwrap_or(0))] }
        }
    };
    rows.truncate(if kind == RecordKind::Review { usize::MAX } else { 1 });
    let id = rows.first().and_then(|row| row.cell("id")).map(str::to_owned);
    Ok((Some(kind), id, rows))
}

async fn select(
    connection: &mut SqliteConnection,
    table: &'static Table,
    condition: &str,
    values: &[&str],
) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {} FROM {} t WHERE {condition} ORDER BY t.{}",
        packed(&columns("t", table.columns)),
        table.name,
        table.columns[0]
    );
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for value in values {
        query = query.bind(*value);
    }
    let found = query.fetch_all(connection).await?;
    let width = table.columns.len();
    found.iter().map(|row| Ok(Row { table, cells: cells(row, 0, width)? })).collect()
}

/// What no event vouches for, each as the table's name and the row's id: events that were
/// never written through the ledger's triggers, events whose project is gone, and records that no event in the chain or in
/// the queue tells of. At most `limit`.
pub async fn unvouched(
    connection: &mut SqliteConnection,
    limit: usize,
) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    let strays: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM events WHERE id NOT IN (SELECT event_id FROM event_chain) \
         AND id NOT IN (SELECT event_id FROM event_queue) ORDER BY id",
    )
    .fetch_all(&mut *connection)
    .await?;
    found.extend(strays.into_iter().map(|id| ("events", id)));
    let projects: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT project_id FROM events WHERE project_id NOT IN (SELECT id FROM projects)",
    )
    .fetch_all(&mut *connection)
    .await?;
    found.extend(projects.into_iter().map(|id| ("projects", id)));
    let waiting = waiting_records(connection).await?;
    // Findings and policy results are hashed and counted with what they hang off.
    for (kind, table) in [
        (RecordKind::Task, &TASKS),
        (RecordKind::Decision, &DECISIONS),
        (RecordKind::GitChange, &GIT_CHANGES),
        (RecordKind::Review, &REVIEWS),
        (RecordKind::Disagreement, &DISAGREEMENTS),
        (RecordKind::Approval, &APPROVALS),
    ] {
        let sql = format!(
            "SELECT id FROM {} WHERE id NOT IN (SELECT record_id FROM event_chain \
             WHERE record_kind = '{}' AND record_id IS NOT NULL) ORDER BY id",
            table.name,
            kind.name()
        );
        let ids: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *connection).await?;
        let ids = ids.into_iter().filter(|id| !waiting.contains(id));
        found.extend(ids.map(|id| (table.name, id)));
    }
    // This program settles no disagreement; whatever does tells so by an event.
    let settled: Vec<String> = sqlx::query_scalar(
        "SELECT d.id FROM disagreements d JOIN event_chain c ON c.record_id = d.id \
         WHERE c.record_kind = 'disagreement' AND c.origin = 'govforge' \
         AND COALESCE(d.resolution, d.resolved_by_agent_id, d.resolved_at) IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.entity_type = 'disagreement' \
         AND e.entity_id = d.id AND e.event_type <> 'disagreement.recorded') ORDER BY d.id",
    )
    .fetch_all(&mut *connection)
    .await?;
    found.extend(settled.into_iter().map(|id| ("resolutions", id)));
    found.truncate(limit);
    Ok(found)
}

/// The triggers of the ledger that are not as the migrations have them, each with what was
/// done to it: one that is planted could rewrite what a call records before it is hashed.
pub async fn odd_triggers(
    connection: &mut SqliteConnection,
) -> Result<Vec<(String, &'static str)>> {
    let there: Vec<(String, String)> = sqlx::query_as(
        "SELECT name, COALESCE(sql, '') FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
    )
    .fetch_all(connection)
    .await?;
    let expected = MIGRATIONS.iter().flat_map(|migration| {
        migration.split("CREATE TRIGGER ").skip(1).filter_map(|rest| rest.split(' ').next())
    });
    let expected: Vec<&str> = expected.collect();
    let is_there = |name: &str| there.iter().any(|(found, _)| found == name);
    let mut odd: Vec<(String, &'static str)> = expected
        .iter()
        .filter(|name| !is_there(name))
        .map(|name| ((*name).to_owned(), "removed"))
        .collect();
    let is_ours = |sql: &str| MIGRATIONS.iter().any(|migration| migration.contains(sql));
    for (name, sql) in there {
        if !expected.contains(&name.as_str()) {
            odd.push((name, "added"));
        } else if sql.is_empty() || !is_ours(&sql) {
            odd.push((name, "changed"));
        }
    }
    Ok(odd)
}

/// The ids of the records that the waiting events vouch for.
async fn waiting_records(connection: &mut SqliteConnection) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT {} FROM event_queue q JOIN events e ON e.id = q.event_id ORDER BY q.turn",
        packed(&columns("e", &EVENT_COLUMNS))
    );
    let mut ids = Vec::new();
    for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await? {
        let event = cells(&row, 0, EVENT_COLUMNS.len())?;
        ids.extend(vouched(connection, &event).await?.1);
    }
    Ok(ids)
}

/// A decision as it stands: id, display ID, stored status and the number of policy results.
pub struct Standing {
    pub id: String,
    pub display_id: String,
    /// The name on the wire.
    pub status: String,
    pub results: i64,
}

/// The decisions after an id, in the order of their ids, a page at a time.
pub async fn decisions_after(connection: &mut SqliteConnection, id: &str) -> Result<Vec<Standing>> {
    let sql = format!(
        "SELECT d.id, d.display_id, d.status, \
         (SELECT COUNT(*) FROM policy_results r WHERE r.decision_id = d.id) AS results \
         FROM decisions d WHERE d.id > $1 ORDER BY d.id LIMIT {PAGE}"
    );
    let found = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_all(connection).await?;
    found
        .iter()
        .map(|row| {
            Ok(Standing {
                id: row.text("id")?,
                display_id: row.text("display_id")?,
                status: row.text("status")?.to_lowercase(),
                results: row.integer("results")?,
            })
        })
        .collect()
}

/// Whether the decision has events that wait to be taken in, and so may stand elsewhere.
pub async fn is_waiting(connection: &mut SqliteConnection, decision: &str) -> Result<bool> {
    let count: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM event_queue q JOIN events e ON e.id = q.event_id \
         WHERE e.entity_id = $1",
    )
    .bind(decision)
    .fetch_one(connection)
    .await?;
    Ok(count > 0)
}

/// Columns as one: each value as text behind its length in bytes and a colon, null without a
/// length. A walk reads millions of values, and each column of a row costs more than its
/// content; one function over all copies them once.
fn packed(columns: &[String]) -> String {
    let cells: Vec<String> =
        columns.iter().map(|column| format!("OCTET_LENGTH({column}), ':', {column}")).collect();
    format!("CONCAT({})", cells.join(", "))
}

fn columns(alias: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{alias}.{name}")).collect()
}

/// The values of a column that [`packed`] made. Bytes that are no text are hashed by what can
/// be read of them.
fn cells(row: &SqliteRow, index: usize, count: usize) -> Result<Vec<Cell>> {
    let mut bytes: &[u8] = row.try_get_unchecked(index)?;
    let mut cells = Vec::with_capacity(count);
    for _ in 0..count {
        let colon = bytes.iter().position(|byte| *byte == b':').unwrap_or(bytes.len());
        let (length, rest) = bytes.split_at(colon);
        if let (true, Some(rest)) = (length.is_empty(), rest.get(1..)) {
            bytes = rest;
            cells.push(None);
            continue;
        }
        let length = std::str::from_utf8(length).ok().and_then(|digits| digits.parse().ok());
        let text = length.and_then(|length: usize| rest.get(1..=length));
        let text = text.ok_or_else(|| Fault::new("the ledger gave a row that cannot be read"))?;
        bytes = &rest[1 + text.len()..];
        cells.push(Some(String::from_utf8_lossy(text).into_owned()));
    }
    Ok(cells)
}
