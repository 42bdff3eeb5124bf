//! The table `aoa_idempotency`: what was sent under a key of the caller's own.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns as _};

/// The digest of what somebody has sent under a key of their own, and the record that came of
/// it; `None` for a key that was not used before.
pub async fn find(
    connection: &mut Connection,
    scope: &Scope,
    actor_id: Uuid,
    key: &str,
) -> Result<Option<(String, Uuid)>> {
    let row = query(
        "SELECT digest, record_id FROM aoa_idempotency \
         WHERE company_id = $1 AND actor_id = $2 AND key = $3",
    )
    .bind(row::id(scope.company()))
    .bind(row::id(actor_id))
    .bind(key)
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok((row.text("digest")?, row.uuid("record_id")?))).transpose()
}

/// Keeps what came of a call under that key.
pub async fn insert(
    connection: &mut Connection,
    scope: &Scope,
    actor_id: Uuid,
    key: &str,
    digest: &str,
    record_id: Uuid,
    now: Timestamp,
) -> Result<()> {
    query(
        "INSERT INTO aoa_idempotency (company_id, actor_id, key, digest, record_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row::id(scope.company()))
    .bind(row::id(actor_id))
    .bind(key)
    .bind(digest)
    .bind(row::id(record_id))
    .bind(now.stored())
    .execute(connection)
    .await
}
