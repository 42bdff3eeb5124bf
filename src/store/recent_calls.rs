//! What was recorded in the last minute, so that a call that was sent twice is seen.

use super::row::Columns as _;
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::engine::{Connection, query};

/// The record whose content has that digest and was made since `since`, if there is one;
/// else `record` is kept as the first. What is older than `since` is forgotten, and what a clock
/// that was wrong dated later than now.
pub async fn first(
    connection: &mut Connection,
    digest: &str,
    record: &str,
    now: Timestamp,
    since: Timestamp,
) -> Result<Option<String>> {
    let statements = query(
        "DELETE FROM recent_calls WHERE created_at < $4 OR created_at > $3; \
         SELECT record FROM recent_calls WHERE digest = $1; \
         INSERT INTO recent_calls (digest, record, created_at) VALUES ($1, $2, $3) \
         ON CONFLICT (digest) DO NOTHING",
    )
    .bind(digest)
    .bind(record)
    .bind(now.stored())
    .bind(since.stored());
    let all = statements.fetch_of_each(connection).await?;
    // A damaged row is no reason to refuse the call.
    Ok(all.iter().flatten().next().and_then(|row| row.text("record").ok()))
}
