//! The events about decisions with what the chain has of them, as [`Verdict::judge`] takes them.
//!
//! [`Verdict::judge`]: crate::domain::verdict::Verdict::judge

use std::sync::LazyLock;

use serde_json::Value as Json;
use uuid::Uuid;

use super::links::{Cells, link_columns, number, packed, rows_of};
use crate::domain::chain::HIGHEST;
use crate::domain::chain::order::Recorded;
use crate::domain::chain::tables::{FORM, RecordKind};
use crate::domain::verdict::Testimony;
use crate::error::Result;
use crate::store::engine::{Connection, query};
use crate::store::order::rank_of_event;
use crate::store::row::{self, Columns as _, Row};

/// The events of verdicts, and what else moves a decision's status.
const VERDICTS: &str = "e.event_type IN ('decision.approved', 'decision.rejected', \
                        'decision.needs_changes', 'decision.status_changed', 'review.requested')";

/// The columns of a link with its event, and the hash of the link `b` before.
fn testimony_columns() -> Vec<String> {
    let mut all = link_columns();
    all.push("b.hash".to_owned());
    all
}

/// The events of these decisions that are like that, in order. Of what an event vouches for, a
/// verdict alone is read along.
fn statement(decisions: &str, condition: &str) -> String {
    format!(
        "SELECT CONCAT({}, CASE WHEN c.record_kind = '{}' THEN {} END), {} AS rank FROM events e \
         LEFT JOIN event_chain c ON c.event_id = e.id \
         LEFT JOIN event_chain b ON b.place = c.place - 1 \
         LEFT JOIN agents a ON a.id = e.actor_agent_id \
         WHERE e.entity_type = 'decision' AND e.entity_id IN ({decisions}) AND {condition} \
         ORDER BY rank NULLS FIRST, e.created_at, e.id",
        packed(&testimony_columns()),
        RecordKind::Approval.name(),
        rows_of(RecordKind::Approval, FORM),
        rank_of_event!(),
    )
}

/// The events of the verdicts on the decision $1, and of its status.
pub(in crate::store) static OF_VERDICTS: LazyLock<String> =
    LazyLock::new(|| statement("$1", VERDICTS));

/// Those of the decisions whose ids are the JSON list $1.
static OF_VERDICTS_ON_MANY: LazyLock<String> =
    LazyLock::new(|| statement("SELECT value FROM JSON_EACH($1)", VERDICTS));

/// The runs of the policies over the decision $1.
static OF_POLICY_RUNS: LazyLock<String> =
    LazyLock::new(|| statement("$1", "e.event_type = 'decision.policy_evaluated'"));

/// What the rows of one of these statements say, in the order in which it was taken in.
pub(in crate::store) fn read_all(rows: &[Row]) -> Result<Vec<Testimony<'_>>> {
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Testimony<'_>> {
    let mut cells = Cells::of(row, 0)?;
    let (place, mut link) = cells.link()?;
    let [before] = cells.take()?;
    link.rows = cells.rows(FORM)?;
    Ok(Testimony {
        event: link.event.clone().unwrap_or_default(),
        link: match place {
            Some(place) => {
                link.place = number(Some(place))?;
                Some(link)
            }
            None => None,
        },
        before,
        recorded: row.recorded()?,
    })
}

/// Those of the verdicts on some decisions.
pub(in crate::store) async fn of_verdicts(
    connection: &mut Connection,
    decisions: &[String],
) -> Result<Vec<Row>> {
    let ids = serde_json::json!(decisions).to_string();
    query(OF_VERDICTS_ON_MANY.as_str()).bind(ids).fetch_all(connection).await
}

/// A run of the policies, as the event tells that this program wrote of it.
pub struct PolicyRunTold {
    pub recorded: Recorded,
    /// `None` for the defaults.
    pub config_hash: Option<String>,
}

/// The runs of the policies over a decision's change that the chain vouches for, oldest first.
pub async fn policy_runs(
    connection: &mut Connection,
    decision_id: Uuid,
) -> Result<Vec<PolicyRunTold>> {
    let rows = query(OF_POLICY_RUNS.as_str()).bind(row::id(decision_id));
    let rows = rows.fetch_all(connection).await?;
    let told = read_all(&rows)?.into_iter().filter(Testimony::is_own).map(|told| PolicyRunTold {
        recorded: told.recorded,
        config_hash: told.payload()["config_hash"].as_str().map(str::to_owned),
    });
    Ok(told.collect())
}

/// The payload of the newest event of a verdict in a project that this program wrote.
pub async fn last_verdict(connection: &mut Connection, project_id: Uuid) -> Result<Option<Json>> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, c.place AS rank FROM event_chain c JOIN events e ON e.id = c.event_id \
             LEFT JOIN event_chain b ON b.place = c.place - 1 \
             LEFT JOIN agents a ON a.id = e.actor_agent_id \
             WHERE c.record_kind = 'approval' AND c.place < $2 AND e.project_id = $1 \
             ORDER BY c.place DESC LIMIT 10",
            packed(&testimony_columns())
        )
    });
    let mut above = HIGHEST;
    loop {
        let rows = query(TEXT.as_str()).bind(row::id(project_id)).bind(above);
        let rows = rows.fetch_all(connection).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        if let Some(own) = read_all(&rows)?.iter().find(|told| told.is_own()) {
            return Ok(Some(own.payload()));
        }
        above = last.integer("rank")?;
    }
}
