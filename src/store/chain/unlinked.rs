//! What stands beside the chain: rows that no link vouches for, and what is told by other means
//! than a link's digests.

use std::collections::HashMap;

use super::links::{Cells, columns, packed, texts};
use super::{cell, record_id};
use crate::domain::chain::tables::{
    APPROVALS, DECISIONS, DISAGREEMENTS, EVENT_COLUMNS, GIT_CHANGES, POLICY_COLUMNS, REVIEWS,
    RecordKind, TASKS, Table,
};
use crate::domain::chain::{Cell, HIGHEST, digest};
use crate::error::Result;
use crate::store::engine::sqlite::schema::MIGRATIONS;
use crate::store::engine::{Connection, composed, query};
use crate::store::row::{Columns as _, Row};

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
pub async fn counts(connection: &mut Connection) -> Result<Vec<(&'static str, i64)>> {
    let mut counts = Vec::new();
    for name in RECORDS.iter().map(|(_, table)| table.name).chain(["events"]) {
        // The rows themselves: an index need not have each.
        let sql = format!("SELECT COUNT(*) AS number FROM {name} NOT INDEXED");
        counts.push((name, composed(sql).fetch_number(connection).await?));
    }
    Ok(counts)
}

/// How many policy results there are.
pub async fn policy_results(connection: &mut Connection) -> Result<i64> {
    query("SELECT COUNT(*) AS number FROM policy_results").fetch_number(connection).await
}

/// The projects that have events and are gone.
pub async fn lost_projects(connection: &mut Connection) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT DISTINCT {} FROM events t WHERE t.project_id NOT IN \
         (SELECT id FROM projects WHERE id IS NOT NULL)",
        packed(&columns("t", &["project_id"]))
    );
    texts(&composed(sql).fetch_all(connection).await?)
}

/// What no event vouches for, each as the table's name and the row's id: events that were
/// never written through the ledger's triggers, and records that no event in the chain or in
/// the queue tells of. At most `limit` of each table. The tables themselves are read: who can
/// write to the file can also leave a row out of an index.
///
/// Reads the chain once for each table.
pub async fn unvouched(
    connection: &mut Connection,
    limit: u32,
) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    // A null among what is compared with would make each comparison unknown.
    let strays = format!(
        "SELECT {} FROM events t NOT INDEXED WHERE t.id NOT IN \
         (SELECT event_id FROM event_chain NOT INDEXED WHERE event_id IS NOT NULL) \
         AND t.id NOT IN (SELECT event_id FROM event_queue WHERE event_id IS NOT NULL) \
         ORDER BY t.id LIMIT $1",
        packed(&columns("t", &["id"]))
    );
    let strays = composed(strays).bind(limit).fetch_all(&mut *connection).await?;
    found.extend(texts(&strays)?.into_iter().map(|id| ("events", id)));
    let waiting = waiting_records(connection).await?;
    for (kind, table) in RECORDS {
        let sql = format!(
            "SELECT {} FROM {} t NOT INDEXED WHERE t.id NOT IN (SELECT record_id FROM event_chain \
             WHERE record_kind = '{}' AND record_id IS NOT NULL) \
             AND t.id NOT IN (SELECT value FROM JSON_EACH($1)) ORDER BY t.id LIMIT $2",
            packed(&columns("t", &["id"])),
            table.name,
            kind.name()
        );
        let ids = composed(sql).bind(&waiting).bind(limit);
        let ids = ids.fetch_all(&mut *connection).await?;
        found.extend(texts(&ids)?.into_iter().map(|id| (table.name, id)));
    }
    Ok(found)
}

/// The tables among these that have rows without an id of their own, and how many: rows that
/// share one or have none. A table that is as the migrations have it takes no such row.
pub async fn rows_without_an_id(
    connection: &mut Connection,
    tables: impl IntoIterator<Item = &'static str>,
) -> Result<Vec<(&'static str, i64)>> {
    let mut found = Vec::new();
    for table in tables {
        let sql =
            format!("SELECT COUNT(*) - COUNT(DISTINCT id) AS number FROM {table} NOT INDEXED");
        let rows = composed(sql).fetch_number(connection).await?;
        if rows != 0 {
            found.push((table, rows));
        }
    }
    Ok(found)
}

/// How many links stand where no walk comes by: before the first place, above the highest, or
/// at none.
pub async fn links_out_of_place(connection: &mut Connection) -> Result<i64> {
    let sql = format!(
        "SELECT COUNT(*) AS number FROM event_chain NOT INDEXED \
         WHERE place IS NULL OR place NOT BETWEEN 1 AND {HIGHEST}"
    );
    composed(sql).fetch_number(connection).await
}

/// The disagreements that were settled without an event, where the link of the earlier form
/// vouches for nothing but the rest. This program settles none; whatever does tells so by an
/// event.
pub async fn settled(connection: &mut Connection) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT {} FROM disagreements d JOIN event_chain c ON c.record_id = d.id \
         WHERE c.record_kind = 'disagreement' AND c.origin = 'govforge' AND c.form = 1 \
         AND COALESCE(d.resolution, d.resolved_by_agent_id, d.resolved_at) IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.entity_type = 'disagreement' \
         AND e.entity_id = d.id AND e.event_type <> 'disagreement.recorded') ORDER BY d.id",
        packed(&columns("d", &["id"]))
    );
    texts(&composed(sql).fetch_all(connection).await?)
}

/// The digests of the policies as they are now, by id; `None` while a run of another program
/// waits to be taken in, which may have changed them.
pub async fn policies(connection: &mut Connection) -> Result<Option<HashMap<String, String>>> {
    let waiting = query(
        "SELECT COUNT(*) AS number FROM event_queue q JOIN events e ON e.id = q.event_id \
         WHERE e.event_type = 'decision.policy_evaluated' \
         AND NOT EXISTS (SELECT 1 FROM event_chain c WHERE c.event_id = q.event_id)",
    )
    .fetch_number(connection)
    .await?;
    if waiting > 0 {
        return Ok(None);
    }
    let sql = format!("SELECT {} FROM policies p", packed(&columns("p", &POLICY_COLUMNS)));
    let mut policies = HashMap::new();
    for row in &composed(sql).fetch_all(connection).await? {
        let policy: [_; POLICY_COLUMNS.len()] = Cells::of(row, 0)?.take()?;
        let id = policy[0].as_deref().unwrap_or_default();
        policies.insert(id.to_owned(), digest(&policy));
    }
    Ok(Some(policies))
}

/// The next place after one, where links are missing.
pub async fn place_after(connection: &mut Connection, place: i64) -> Result<Option<i64>> {
    let next = query("SELECT MIN(place) AS place FROM event_chain WHERE place > $1").bind(place);
    next.fetch_one(connection).await?.optional_integer("place")
}

/// The triggers of the ledger that are not as the migrations have them, each with what was
/// done to it: one that is planted could rewrite what a call records before it is hashed.
pub async fn odd_triggers(connection: &mut Connection) -> Result<Vec<(String, &'static str)>> {
    let there = query(
        // SQLite itself reads the type in any case.
        "SELECT name, COALESCE(sql, '') AS text FROM sqlite_schema WHERE LOWER(type) = 'trigger' \
         ORDER BY name",
    )
    .fetch_all(connection)
    .await?;
    let there: Vec<(String, String)> = there
        .iter()
        .map(|row| Ok((row.text("name")?, row.text("text")?)))
        .collect::<Result<_>>()?;
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

/// The tables of the ledger that are none: a view in the place of one may show to each reader
/// what it likes.
pub async fn no_tables(connection: &mut Connection) -> Result<Vec<&'static str>> {
    let there = query("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
        .fetch_all(connection)
        .await?;
    let there = there.iter().map(|row| row.text("name")).collect::<Result<Vec<_>>>()?;
    let tables = MIGRATIONS.iter().flat_map(|migration| migration.split("CREATE TABLE ").skip(1));
    let names = tables
        .filter_map(|rest| rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest).split(' ').next());
    Ok(names.filter(|name| !there.iter().any(|there| there == name)).collect())
}

/// What SQLite finds wrong with the file, such as rows that an index leaves out, so that what is
/// looked for by it is not found.
pub async fn damage(connection: &mut Connection) -> Result<Vec<String>> {
    let found = query("PRAGMA integrity_check(20)").fetch_all(connection).await?;
    let lines = found.iter().map(|row| row.text("integrity_check"));
    lines.filter(|line| !matches!(line.as_deref(), Ok("ok"))).collect()
}

/// A decision as it stands: id, display ID, stored status and the number of policy results.
pub struct Standing {
    pub id: String,
    pub display_id: String,
    /// As it is stored, in upper case.
    pub status: String,
    pub results: i64,
}

/// Shows every decision, one after the other: no column is sound enough to go by it from page to
/// page.
pub async fn each_decision(
    connection: &mut Connection,
    mut see: impl FnMut(Standing),
) -> Result<()> {
    let sql = format!(
        "SELECT {}, (SELECT COUNT(*) FROM policy_results r WHERE r.decision_id = d.id) \
         AS results FROM decisions d NOT INDEXED",
        packed(&columns("d", &["id", "display_id", "status"]))
    );
    let read = |row: &Row| {
        let cells: [_; 3] = Cells::of(row, 0)?.take()?;
        let [id, display_id, status] = cells.map(|cell| cell.unwrap_or_default().into_owned());
        see(Standing { id, display_id, status, results: row.integer("results")? });
        Ok(())
    };
    composed(sql).for_each(connection, read).await
}

/// An event that waits to be taken in, in the order of [`EVENT_COLUMNS`].
pub type WaitingEvent = Vec<Cell<'static>>;

/// The events that wait to be taken in, in the order in which they were written; none that is
/// in the chain already.
pub async fn waiting_events(connection: &mut Connection) -> Result<Vec<WaitingEvent>> {
    let sql = format!(
        "SELECT {} FROM event_queue q JOIN events e ON e.id = q.event_id \
         WHERE NOT EXISTS (SELECT 1 FROM event_chain c WHERE c.event_id = q.event_id) \
         ORDER BY q.turn",
        packed(&columns("e", &EVENT_COLUMNS))
    );
    let rows = composed(sql).fetch_all(connection).await?;
    rows.iter()
        .map(|row| {
            let event: [_; EVENT_COLUMNS.len()] = Cells::of(row, 0)?.take()?;
            Ok(event.map(|cell| cell.map(|text| text.into_owned().into())).into())
        })
        .collect()
}

/// The ids of the records that the waiting events vouch for, as a JSON list.
async fn waiting_records(connection: &mut Connection) -> Result<String> {
    let mut ids = Vec::new();
    for event in waiting_events(connection).await? {
        if let Some(kind) = RecordKind::of_event(cell(&event, "event_type")) {
            ids.extend(record_id(connection, kind, &event).await?);
        }
    }
    Ok(serde_json::json!(ids).to_string())
}
