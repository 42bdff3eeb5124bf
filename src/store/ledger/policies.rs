//! The tables `policies` and `policy_results`.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::entity::{Policy, PolicyResult, PolicyRun};
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, composed, placeholders, query};
use crate::store::order::rank_of_result;
use crate::store::row::{self, Columns, Row};

impl TryFrom<&Row> for Policy {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            name: row.text("name")?,
            description: row.optional_text("description")?,
            enabled: row.boolean("enabled")?,
            severity: row.value("severity")?,
            config: row.json("config_json")?,
            created_at: row.time("created_at")?,
        })
    }
}

impl TryFrom<&Row> for PolicyResult {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            decision_id: row.uuid("decision_id")?,
            policy_id: row.uuid("policy_id")?,
            policy: row.text("policy")?,
            status: row.value("status")?,
            message: row.optional_text("message")?,
            evidence: row.json("evidence_json")?,
            run: match row.optional_uuid("event_id")? {
                Some(event_id) => {
                    Some(PolicyRun { event_id, config_hash: row.optional_text("config_hash")? })
                }
                None => None,
            },
            created_at: row.time("created_at")?,
            recorded: row.recorded()?,
        })
    }
}

/// The results of the decision $1, oldest first.
pub(super) const RESULTS: &str = concat!(
    "SELECT r.id, r.decision_id, r.policy_id, p.name AS policy, r.status, r.message, \
     r.evidence_json, r.created_at, l.event_id, l.config_hash, ",
    rank_of_result!(),
    " FROM policy_results r JOIN policies p ON p.id = r.policy_id \
     LEFT JOIN policy_result_runs l ON l.policy_result_id = r.id \
     LEFT JOIN foreign_policy_results f ON f.policy_result_id = r.id \
     LEFT JOIN event_chain c ON c.event_id = COALESCE(l.event_id, f.event_id) \
     WHERE r.decision_id = $1 ORDER BY rank, r.created_at, r.id"
);

/// Those of the policies of these names that the ledger has: the id, and the rest of the row if
/// that can be read. A damaged row is brought up to date like an outdated one.
pub async fn by_names(
    connection: &mut Connection,
    names: &[&str],
) -> Result<HashMap<String, (Uuid, Option<Policy>)>> {
    let rows = query(
        "SELECT id, name, description, enabled, severity, config_json, created_at FROM policies \
         WHERE name IN (SELECT value FROM JSON_EACH($1))",
    )
    .bind(serde_json::json!(names).to_string())
    .fetch_all(connection)
    .await?;
    let read = |row: &Row| {
        let name = row.text("name")?;
        let unreadable = |error: &Error| tracing::error!(%error, policy = name, "is rewritten");
        let policy = Policy::try_from(row).inspect_err(unreadable).ok();
        Ok((name, (row.uuid("id")?, policy)))
    };
    rows.iter().map(read).collect()
}

/// Adds a policy, or brings the one of that id up to date.
pub async fn upsert(connection: &mut Connection, policy: &Policy) -> Result<()> {
    query(
        "INSERT INTO policies (id, name, description, enabled, severity, config_json, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET \
         description = excluded.description, enabled = excluded.enabled, \
         severity = excluded.severity, config_json = excluded.config_json",
    )
    .bind(row::id(policy.id))
    .bind(&policy.name)
    .bind(&policy.description)
    .bind(policy.enabled)
    .bind(policy.severity.stored())
    .bind(policy.config.as_ref().map(ToString::to_string))
    .bind(policy.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds the results of one run, whose event has to be there.
pub async fn insert_results(
    connection: &mut Connection,
    results: &[PolicyResult],
    run: &PolicyRun,
) -> Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    let mut insert = composed(format!(
        "INSERT INTO policy_results (id, decision_id, policy_id, status, message, evidence_json, \
         created_at) VALUES {}",
        placeholders(results.len(), 7)
    ));
    for result in results {
        insert = insert
            .bind(row::id(result.id))
            .bind(row::id(result.decision_id))
            .bind(row::id(result.policy_id))
            .bind(result.status.stored())
            .bind(&result.message)
            .bind(result.evidence.as_ref().map(ToString::to_string))
            .bind(result.created_at.stored());
    }
    insert.execute(connection).await?;
    let mut insert = composed(format!(
        "INSERT INTO policy_result_runs (policy_result_id, event_id, config_hash) VALUES {}",
        placeholders(results.len(), 3)
    ));
    for result in results {
        insert = insert.bind(row::id(result.id)).bind(row::id(run.event_id)).bind(&run.config_hash);
    }
    insert.execute(connection).await
}
