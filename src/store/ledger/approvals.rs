//! The table `approvals`. Its rows leave the store as [`Verdict`]s alone.

use std::collections::HashMap;
use std::sync::LazyLock;

use uuid::Uuid;

use crate::domain::entity::Approval;
use crate::domain::value::Value;
use crate::domain::verdict::{Names, Testimony, Verdict, Verdicts};
use crate::error::{Error, Result};
use crate::store::chain::testimony;
use crate::store::engine::{Connection, query};
use crate::store::order::rank_of;
use crate::store::row::{self, Columns, Row};

/// How many decisions' verdicts are read at once.
const AT_ONCE: usize = 500;

impl TryFrom<&Row> for Approval {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            decision_id: row.uuid("decision_id")?,
            approver_agent_id: row.uuid("approver_agent_id")?,
            status: row.value("status")?,
            comment: row.optional_text("comment")?,
            created_at: row.time("created_at")?,
            recorded: row.recorded()?,
        })
    }
}

/// The rows of some decisions, with whoever gave each verdict.
macro_rules! select {
    ($decisions:literal) => {
        concat!(
            "SELECT t.id, t.decision_id, t.approver_agent_id, t.status, t.comment, t.created_at, \
             COALESCE(a.name, 'unknown') AS approver, COALESCE(a.type, 'OTHER') AS approver_type, \
             COALESCE(u.name, 'unknown') AS author, ",
            rank_of!("approval"),
            " FROM approvals t LEFT JOIN agents a ON a.id = t.approver_agent_id \
             LEFT JOIN decisions d ON d.id = t.decision_id \
             LEFT JOIN agents u ON u.id = d.author_agent_id WHERE t.decision_id IN (",
            $decisions,
            ") ORDER BY rank, t.created_at, t.id"
        )
    };
}

/// The verdicts on the decision $1, oldest first.
pub(super) const OF_DECISION: &str = select!("$1");

/// Adds a verdict.
pub async fn insert(connection: &mut Connection, approval: &Approval) -> Result<()> {
    query(
        "INSERT INTO approvals (id, decision_id, approver_agent_id, status, comment, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row::id(approval.id))
    .bind(row::id(approval.decision_id))
    .bind(row::id(approval.approver_agent_id))
    .bind(approval.status.stored())
    .bind(&approval.comment)
    .bind(approval.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// Judges the rows of the verdicts on a decision by the events about it.
pub(super) fn judge<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    told: &[Testimony<'_>],
) -> Result<Verdicts> {
    let judged = |row: &Row| {
        let names = Names {
            approver: row.text("approver")?,
            approver_type: row.value("approver_type")?,
            author: row.text("author")?,
        };
        Ok(Verdict::judge(Approval::try_from(row)?, names, told))
    };
    let verdicts = rows.into_iter().map(judged).collect::<Result<_>>()?;
    Ok(Verdicts::new(verdicts, told))
}

/// The verdicts on a decision, each with what stands behind it.
pub async fn of_decision(connection: &mut Connection, decision_id: Uuid) -> Result<Verdicts> {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{OF_DECISION}; {}", *testimony::OF_VERDICTS));
    let statements = query(TEXT.as_str()).bind(row::id(decision_id));
    let [rows, told] = statements.fetch_of_all(connection).await?;
    judge(&rows, &testimony::read_all(&told)?)
}

/// The verdicts on some decisions, by decision.
pub async fn of_decisions(
    connection: &mut Connection,
    decisions: &[Uuid],
) -> Result<HashMap<Uuid, Verdicts>> {
    let mut verdicts = HashMap::new();
    for decisions in decisions.chunks(AT_ONCE) {
        let ids: Vec<String> = decisions.iter().map(|id| row::id(*id)).collect();
        let rows = query(select!("SELECT value FROM JSON_EACH($1)"));
        let rows = rows.bind(serde_json::json!(ids).to_string());
        let rows = rows.fetch_all(&mut *connection).await?;
        let mut rows_of: HashMap<Uuid, Vec<&Row>> = HashMap::new();
        for row in &rows {
            rows_of.entry(row.uuid("decision_id")?).or_default().push(row);
        }
        let told = testimony::of_verdicts(connection, &ids).await?;
        let mut told_of: HashMap<Option<Uuid>, Vec<Testimony<'_>>> = HashMap::new();
        for told in testimony::read_all(&told)? {
            told_of.entry(told.decision_id()).or_default().push(told);
        }
        for id in decisions {
            let rows = rows_of.remove(id).unwrap_or_default();
            let told = told_of.remove(&Some(*id)).unwrap_or_default();
            verdicts.insert(*id, judge(rows, &told)?);
        }
    }
    Ok(verdicts)
}
