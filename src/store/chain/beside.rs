//! What stands beside the chain: rows that no link vouches for, and what is told by other means
//! than a link's digests.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use super::links::{Cells, PAGE, columns, packed};
use super::{cell, record_id};
use crate::domain::chain::digest;
use crate::domain::chain::tables::{
    APPROVALS, DECISIONS, DISAGREEMENTS, EVENT_COLUMNS, GIT_CHANGES, POLICY_COLUMNS, REVIEWS,
    RecordKind, TASKS, Table,
};
use crate::error::Result;
use crate::store::ledger::schema::MIGRATIONS;
use crate::store::row::Columns as _;

/// The tables whose rows have an event each. Findings and policy results are hashed and counted
/// with what they hang off.
const RECORDS: [(RecordKind, &Table); 6] = [
    (RecordKind::Task, &TASKS),
    (RecordKind::Decision, &DECISIONS),
    (RecordKind::GitChange, &GIT_CHANGES),
    (RecordKind::Review, &REVIEWS),
    (RecordKind::Disagreement, &DISAGREEMENTS),
    (RecordKind::Approval, &APPROVALS),
];

/// How many rows each table has whose rows have an event each, and the events.
pub async fn counts(connection: &mut SqliteConnection) -> Result<Vec<(&'static str, i64)>> {
    let mut counts = Vec::new();
    for name in RECORDS.iter().map(|(_, table)| table.name).chain(["events"]) {
        let sql = format!("SELECT COUNT(*) FROM {name}");
        let count = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *connection).await?;
        counts.push((name, count));
    }
    Ok(counts)
}

/// How many policy results there are.
pub async fn policy_results(connection: &mut SqliteConnection) -> Result<i64> {
    let count = "SELECT COUNT(*) FROM policy_results";
    Ok(sqlx::query_scalar(count).fetch_one(connection).await?)
}

/// The projects that have events and are gone.
pub async fn lost_projects(connection: &mut SqliteConnection) -> Result<Vec<String>> {
    let projects = sqlx::query_scalar(
        "SELECT DISTINCT project_id FROM events WHERE project_id NOT IN (SELECT id FROM projects)",
    );
    Ok(projects.fetch_all(connection).await?)
}

/// What no event vouches for, each as the table's name and the row's id: events that were
/// never written through the ledger's triggers, and records that no event in the chain or in
/// the queue tells of. At most `limit` of each table.
///
/// Reads the chain once for each table.
pub async fn unvouched(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    let strays: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM events WHERE id NOT IN (SELECT event_id FROM event_chain) \
         AND id NOT IN (SELECT event_id FROM event_queue) ORDER BY id LIMIT $1",
    )
    .bind(limit)
    .fetch_all(&mut *connection)
    .await?;
    found.extend(strays.into_iter().map(|id| ("events", id)));
    let waiting = waiting_records(connection).await?;
    for (kind, table) in RECORDS {
        let sql = format!(
            "SELECT id FROM {} WHERE id NOT IN (SELECT record_id FROM event_chain \
             WHERE record_kind = '{}' AND record_id IS NOT NULL) \
             AND id NOT IN (SELECT value FROM JSON_EACH($1)) ORDER BY id LIMIT $2",
            table.name,
            kind.name()
        );
        let ids = sqlx::query_scalar::<_, String>(AssertSqlSafe(sql)).bind(&waiting).bind(limit);
        let ids = ids.fetch_all(&mut *connection).await?;
        found.extend(ids.into_iter().map(|id| (table.name, id)));
    }
    Ok(found)
}

/// The disagreements that were settled without an event, where the link of the earlier form
/// vouches for nothing but the rest. This program settles none; whatever does tells so by an
/// event.
pub async fn settled(connection: &mut SqliteConnection) -> Result<Vec<String>> {
    let settled = sqlx::query_scalar(
        "SELECT d.id FROM disagreements d JOIN event_chain c ON c.record_id = d.id \
         WHERE c.record_kind = 'disagreement' AND c.origin = 'govforge' AND c.form = 1 \
         AND COALESCE(d.resolution, d.resolved_by_agent_id, d.resolved_at) IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.entity_type = 'disagreement' \
         AND e.entity_id = d.id AND e.event_type <> 'disagreement.recorded') ORDER BY d.id",
    );
    Ok(settled.fetch_all(connection).await?)
}

/// The digests of the policies as they are now, by id; `None` while a run of another program
/// waits to be taken in, which may have changed them.
pub async fn policies(
    connection: &mut SqliteConnection,
) -> Result<Option<HashMap<String, String>>> {
    let waiting: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM event_queue q JOIN events e ON e.id = q.event_id \
         WHERE e.event_type = 'decision.policy_evaluated'",
    )
    .fetch_one(&mut *connection)
    .await?;
    if waiting > 0 {
        return Ok(None);
    }
    let sql = format!("SELECT {} FROM policies p", packed(&columns("p", &POLICY_COLUMNS)));
    let mut policies = HashMap::new();
    for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(connection).await? {
        let policy: [_; POLICY_COLUMNS.len()] = Cells(row.try_get_unchecked(0)?).take()?;
        let id = policy[0].as_deref().unwrap_or_default();
        policies.insert(id.to_owned(), digest(&policy));
    }
    Ok(Some(policies))
}

/// The next place after one, where links are missing.
pub async fn place_after(connection: &mut SqliteConnection, place: i64) -> Result<Option<i64>> {
    let next = sqlx::query_scalar("SELECT MIN(place) FROM event_chain WHERE place > $1");
    Ok(next.bind(place).fetch_one(connection).await?)
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

/// The ids of the records that the waiting events vouch for, as a JSON list.
async fn waiting_records(connection: &mut SqliteConnection) -> Result<String> {
    let sql = format!(
        "SELECT {} FROM event_queue q JOIN events e ON e.id = q.event_id ORDER BY q.turn",
        packed(&columns("e", &EVENT_COLUMNS))
    );
    let mut ids = Vec::new();
    for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await? {
        let event: [_; EVENT_COLUMNS.len()] = Cells(row.try_get_unchecked(0)?).take()?;
        if let Some(kind) = RecordKind::of_event(cell(&event, "event_type")) {
            ids.extend(record_id(connection, kind, &event).await?);
        }
    }
    Ok(serde_json::json!(ids).to_string())
}
