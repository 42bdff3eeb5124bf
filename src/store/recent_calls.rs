//! What was recorded in the last minute, so that a call that was sent twice is seen.

use sqlx::SqliteConnection;

use crate::domain::time::Timestamp;
use crate::error::Result;

/// The record whose content has that digest and was made since `since`, if there is one;
/// else `record` is kept as the first. What is older than `since` is forgotten.
pub async fn first(
    connection: &mut SqliteConnection,
    digest: &str,
    record: &str,
    now: Timestamp,
    since: Timestamp,
) -> Result<Option<String>> {
    sqlx::query("DELETE FROM recent_calls WHERE created_at < $1")
        .bind(since.stored())
        .execute(&mut *connection)
        .await?;
    let known: Option<String> =
        sqlx::query_scalar("SELECT record FROM recent_calls WHERE digest = $1")
            .bind(digest)
            .fetch_optional(&mut *connection)
            .await?;
    if known.is_none() {
        sqlx::query("INSERT INTO recent_calls (digest, record, created_at) VALUES ($1, $2, $3)")
            .bind(digest)
            .bind(record)
            .bind(now.stored())
            .execute(connection)
            .await?;
    }
    Ok(known)
}
