//! The events of companies in the chain: a table of their own, links of a form of their own.

use std::borrow::Cow;
use std::iter::Peekable;
use std::slice::Iter;

use strum::IntoEnumIterator as _;
use uuid::Uuid;

use super::head;
use super::links::{Cells, columns, number, packed, packed_row, several, texts};
use crate::domain::chain::company::{COMPANY_EVENT_COLUMNS, COMPANY_FORM, parts};
use crate::domain::chain::{Link, OWN, digest, record_digest};
use crate::domain::company::record::Record;
use crate::error::{Fault, Result};
use crate::store::company::scoped::{bind_ids, one_of};
use crate::store::engine::{Connection, composed, placeholders};
use crate::store::row::Row;

/// The kind under which a link names a record: apart from those of the ledger's own.
fn kind(record: Record) -> String {
    format!("aoa_{}", record.name())
}

/// Takes these events of this call into the chain, in their order, as written under the token of
/// that label.
///
/// Part of the caller's transaction, which holds the write lock: two writers cannot take the same
/// place.
pub async fn take_in(
    connection: &mut Connection,
    events: &[Uuid],
    token: Option<&str>,
) -> Result<()> {
    let sql = format!(
        "SELECT CONCAT({}, {}) AS told FROM aoa_events e WHERE {} ORDER BY e.id",
        packed(&columns("e", &COMPANY_EVENT_COLUMNS)),
        rows_of("e.entity_type", "e.entity_id", Record::name),
        one_of("e.id", events.len(), 1)
    );
    let told = bind_ids(composed(sql), events).fetch_all(connection).await?;
    let (mut place, mut before) = head(connection).await?;
    let mut links = Vec::new();
    for row in &told {
        let mut cells = Cells::of(row, 0)?;
        let event: [_; COMPANY_EVENT_COLUMNS.len()] = cells.take()?;
        let entity_type = event[2].as_deref().unwrap_or_default();
        let rows = cells.rows(COMPANY_FORM)?;
        place += 1;
        let mut link = Link {
            place,
            form: COMPANY_FORM,
            event_id: event[0].clone().unwrap_or_default(),
            event_digest: digest(&event).into(),
            actor: None,
            record_kind: Some(format!("aoa_{entity_type}").into()),
            record_id: event[3].clone(),
            record_digest: record_digest(&rows).map(Cow::from),
            origin: OWN.into(),
            token: token.map(Cow::from),
            policies: None,
            hash: Cow::default(),
            event: None,
            actor_now: None,
            rows: Vec::new(),
        };
        link.hash = link.expected_hash(&before).into();
        before = link.hash.clone().into_owned();
        links.push(link);
    }
    insert(connection, &links).await
}

async fn insert(connection: &mut Connection, links: &[Link<'_>]) -> Result<()> {
    if links.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO event_chain (place, event_id, event_digest, record_kind, record_id, \
         record_digest, origin, token, hash, form) VALUES {}",
        placeholders(links.len(), 10)
    );
    let statement = links.iter().fold(composed(sql), |statement, link| {
        statement
            .bind(link.place)
            .bind(&*link.event_id)
            .bind(&*link.event_digest)
            .bind(link.record_kind.as_deref())
            .bind(link.record_id.as_deref())
            .bind(link.record_digest.as_deref())
            .bind(&*link.origin)
            .bind(link.token.as_deref())
            .bind(&*link.hash)
            .bind(link.form)
    });
    statement.execute(connection).await
}

/// What stands behind the links of companies after a place and up to another: each with its
/// place, its event and the rows as they are now.
pub(super) async fn between(connection: &mut Connection, after: i64, to: i64) -> Result<Vec<Row>> {
    let mut all = vec!["c.place".to_owned()];
    all.extend(columns("e", &COMPANY_EVENT_COLUMNS));
    let sql = format!(
        "SELECT CONCAT({}, {}) AS told FROM event_chain c \
         LEFT JOIN aoa_events e ON e.id = c.event_id \
         WHERE c.form = {COMPANY_FORM} AND c.place > $1 AND c.place <= $2 ORDER BY c.place",
        packed(&all),
        rows_of("c.record_kind", "c.record_id", kind)
    );
    composed(sql).bind(after).bind(to).fetch_all(connection).await
}

/// Gives a link its event and the rows as they are now.
pub(super) fn complete<'a>(link: &mut Link<'a>, told: &mut Peekable<Iter<'a, Row>>) -> Result<()> {
    while let Some(row) = told.peek() {
        let mut cells = Cells::of(row, 0)?;
        let [place] = cells.take()?;
        let place = number(place)?;
        if place > link.place {
            break;
        }
        told.next();
        if place == link.place {
            let event: [_; COMPANY_EVENT_COLUMNS.len()] = cells.take()?;
            link.event = event[0].is_some().then(|| event.into());
            link.rows = cells.rows(COMPANY_FORM)?;
        }
    }
    Ok(())
}

/// An expression for the packed rows of a record, which is named by its kind and its id; null if
/// there are none.
fn rows_of<N: AsRef<str>>(kind: &str, id: &str, name: impl Fn(Record) -> N) -> String {
    let whens = Record::iter().map(|record| {
        let rows = parts(record).iter().map(|part| {
            let row = packed_row("t", &part.table);
            // What somebody is in one company is no matter of another.
            let own = match record {
                Record::Member if part.table.columns.contains(&"company_id") => {
                    " AND t.company_id = e.company_id"
                }
                _ => "",
            };
            let from = format!("{} t WHERE t.{} = {id}{own}", part.table.name, part.key);
            match part.order {
                "" => format!("(SELECT {row} FROM {from})"),
                order => several(row, &from, &format!("t.{order}")),
            }
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        format!("WHEN '{}' THEN CONCAT({rows}) ", name(record).as_ref())
    });
    format!("CASE {kind} {}END", whens.collect::<String>())
}

/// What no event vouches for, each as the table's name and the row's id, at most `limit` of each
/// table: events that are not in the chain, and records that no event in it tells of.
///
/// # Errors
///
/// As for any statement.
pub async fn unvouched(
    connection: &mut Connection,
    limit: u32,
) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    let mut look = async |table: &'static str, key: &str, link: &str, kind: Option<String>| {
        let kind = kind.map(|kind| format!(" AND record_kind = '{kind}'")).unwrap_or_default();
        let sql = format!(
            "SELECT {} AS told FROM {table} t WHERE t.{key} NOT IN \
             (SELECT {link} FROM event_chain WHERE {link} IS NOT NULL{kind}) \
             ORDER BY t.{key} LIMIT $1",
            packed(&columns("t", &[key]))
        );
        let rows = composed(sql).bind(limit).fetch_all(&mut *connection).await?;
        found.extend(texts(&rows)?.into_iter().map(|id| (table, id)));
        Ok::<_, crate::error::Error>(())
    };
    look("aoa_events", "id", "event_id", None).await?;
    for record in Record::iter() {
        let own = parts(record).first().ok_or_else(|| Fault::new("a record without a table"))?;
        look(own.table.name, own.key, "record_id", Some(kind(record))).await?;
    }
    Ok(found)
}
