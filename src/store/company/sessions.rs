//! The table `aoa_sessions`: who has signed in, until when.

use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::engine::{Connection, composed, query};
use crate::store::row::{self, Columns as _};

/// A person who has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: Uuid,
    pub user_id: Uuid,
    pub expires_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// Adds a session, whose cookie has that SHA-256.
pub async fn insert(
    connection: &mut Connection,
    session: &Session,
    hash: &str,
    now: Timestamp,
) -> Result<()> {
    query(
        "INSERT INTO aoa_sessions (id, user_id, hash, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(row::id(session.id))
    .bind(row::id(session.user_id))
    .bind(hash)
    .bind(now.stored())
    .bind(session.expires_at.stored())
    .execute(connection)
    .await
}

/// The session whose cookie has that SHA-256.
pub async fn by_hash(connection: &mut Connection, hash: &str) -> Result<Option<Session>> {
    read(connection, "WHERE hash = $1", hash.to_owned()).await
}

/// The session of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Session>> {
    read(connection, "WHERE id = $1", row::id(id)).await
}

async fn read(
    connection: &mut Connection,
    condition: &str,
    value: String,
) -> Result<Option<Session>> {
    let sql = format!("SELECT id, user_id, expires_at, ended_at FROM aoa_sessions {condition}");
    let row = composed(sql).bind(value).fetch_optional(connection).await?;
    row.map(|row| {
        Ok(Session {
            id: row.uuid("id")?,
            user_id: row.uuid("user_id")?,
            expires_at: row.time("expires_at")?,
            ended_at: row.optional_time("ended_at")?,
        })
    })
    .transpose()
}

/// Ends a session.
pub async fn end(connection: &mut Connection, id: Uuid, now: Timestamp) -> Result<()> {
    query("UPDATE aoa_sessions SET ended_at = $1 WHERE id = $2")
        .bind(now.stored())
        .bind(row::id(id))
        .execute(connection)
        .await
}
