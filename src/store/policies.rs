//! The tables `policies` and `policy_results`.

use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::row::{self, Columns};
use crate::domain::entity::{Policy, PolicyResult, PolicyRun};
use crate::domain::value::Value;
use crate::error::{Error, Result};

impl TryFrom<&SqliteRow> for Policy {
    type Error = Error;

    fn try_from(row: &SqliteRow) -> Result<Self> {
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

impl TryFrom<&SqliteRow> for PolicyResult {
    type Error = Error;

    fn try_from(row: &SqliteRow) -> Result<Self> {
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
        })
    }
}

/// The id of the policy of that name, and the rest of its row if that can be read: a damaged
/// row is brought up to date like an outdated one.
pub async fn by_name(
    connection: &mut SqliteConnection,
    name: &str,
) -> Result<Option<(Uuid, Option<Policy>)>> {
    let row = sqlx::query(
        "SELECT id, name, description, enabled, severity, config_json, created_at FROM policies \
         WHERE name = $1",
    )
    .bind(name)
    .fetch_optional(connection)
    .await?;
    let read = |row: SqliteRow| {
        let unreadable = |error: &Error| tracing::error!(%error, policy = name, "is rewritten");
        Ok((row.uuid("id")?, Policy::try_from(&row).inspect_err(unreadable).ok()))
    };
    row.map(read).transpose()
}

/// Adds a policy, or brings the one of that id up to date.
pub async fn upsert(connection: &mut SqliteConnection, policy: &Policy) -> Result<()> {
    sqlx::query(
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

/// Adds a result, and the run that it came from, whose event has to be there.
pub async fn insert_result(connection: &mut SqliteConnection, result: &PolicyResult) -> Result<()> {
    sqlx::query(
        "INSERT INTO policy_results (id, decision_id, policy_id, status, message, evidence_json, \
         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(row::id(result.id))
    .bind(row::id(result.decision_id))
    .bind(row::id(result.policy_id))
    .bind(result.status.stored())
    .bind(&result.message)
    .bind(result.evidence.as_ref().map(ToString::to_string))
    .bind(result.created_at.stored())
    .execute(&mut *connection)
    .await?;
    if let Some(run) = &result.run {
        sqlx::query(
            "INSERT INTO policy_result_runs (policy_result_id, event_id, config_hash) \
             VALUES ($1, $2, $3)",
        )
        .bind(row::id(result.id))
        .bind(row::id(run.event_id))
        .bind(&run.config_hash)
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// The results of a decision, oldest first.
pub async fn results(
    connection: &mut SqliteConnection,
    decision_id: Uuid,
) -> Result<Vec<PolicyResult>> {
    let rows = sqlx::query(
        "SELECT r.id, r.decision_id, r.policy_id, p.name AS policy, r.status, r.message, \
         r.evidence_json, r.created_at, l.event_id, l.config_hash FROM policy_results r \
         JOIN policies p ON p.id = r.policy_id \
         LEFT JOIN policy_result_runs l ON l.policy_result_id = r.id \
         WHERE r.decision_id = $1 \
         ORDER BY r.created_at, r.id",
    )
    .bind(row::id(decision_id))
    .fetch_all(connection)
    .await?;
    rows.iter().map(PolicyResult::try_from).collect()
}
