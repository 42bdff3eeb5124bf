//! The tables `users` and `api_tokens`.

use uuid::Uuid;

use super::row::{self, Columns, Row};
use crate::domain::time::Timestamp;
use crate::domain::value::{AgentType, Value};
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: Uuid,
    pub user_id: Uuid,
    pub label: String,
    pub agent_type: AgentType,
    /// The first 8 characters of the secret.
    pub prefix: String,
    /// SHA-256 of the secret, 64 hex digits.
    pub hashed_secret: String,
    /// The names of the scopes, with commas between them.
    pub scopes_csv: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.user_id, t.label, t.agent_type, t.prefix, t.hashed_secret, \
             t.scopes_csv, t.created_at, t.last_used_at, t.expires_at, t.revoked_at \
             FROM api_tokens t ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Token {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            user_id: row.uuid("user_id")?,
            label: row.text("label")?,
            agent_type: row.value("agent_type")?,
            prefix: row.text("prefix")?,
            hashed_secret: row.text("hashed_secret")?,
            scopes_csv: row.text("scopes_csv")?,
            created_at: row.time("created_at")?,
            last_used_at: row.optional_time("last_used_at")?,
            expires_at: row.optional_time("expires_at")?,
            revoked_at: row.optional_time("revoked_at")?,
        })
    }
}

/// Adds a token.
pub async fn insert(connection: &mut Connection, token: &Token) -> Result<()> {
    query(
        "INSERT INTO api_tokens (id, user_id, label, agent_type, prefix, hashed_secret, \
         scopes_csv, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(token.id))
    .bind(row::id(token.user_id))
    .bind(&token.label)
    .bind(token.agent_type.stored())
    .bind(&token.prefix)
    .bind(&token.hashed_secret)
    .bind(&token.scopes_csv)
    .bind(token.created_at.stored())
    .bind(token.expires_at.map(Timestamp::stored))
    .execute(connection)
    .await?;
    Ok(())
}

/// Every token, oldest first.
pub async fn all(connection: &mut Connection) -> Result<Vec<Token>> {
    let rows = query(select!("ORDER BY t.created_at, t.id")).fetch_all(connection).await?;
    rows.iter().map(Token::try_from).collect()
}

/// The tokens of active users whose secret begins with `prefix`.
pub async fn by_prefix(connection: &mut Connection, prefix: &str) -> Result<Vec<Token>> {
    let rows =
        query(select!("JOIN users u ON u.id = t.user_id WHERE t.prefix = $1 AND u.is_active = 1"))
            .bind(prefix)
            .fetch_all(connection)
            .await?;
    rows.iter().map(Token::try_from).collect()
}

/// Notes that a token was used.
pub async fn touch(connection: &mut Connection, id: Uuid, now: Timestamp) -> Result<()> {
    query("UPDATE api_tokens SET last_used_at = $1 WHERE id = $2")
        .bind(now.stored())
        .bind(row::id(id))
        .execute(connection)
        .await?;
    Ok(())
}

/// Revokes a token.
pub async fn revoke(connection: &mut Connection, id: Uuid, now: Timestamp) -> Result<()> {
    query("UPDATE api_tokens SET revoked_at = $1 WHERE id = $2")
        .bind(now.stored())
        .bind(row::id(id))
        .execute(connection)
        .await?;
    Ok(())
}

/// The user of that email; added, under `id`, if there is none.
pub async fn ensure_user(
    connection: &mut Connection,
    id: Uuid,
    email: &str,
    name: &str,
    now: Timestamp,
) -> Result<Uuid> {
    let known = query("SELECT id FROM users WHERE email = $1")
        .bind(email)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(known) = known {
        return known.uuid("id");
    }
    query(
        "INSERT INTO users (id, email, display_name, is_active, created_at, updated_at) \
         VALUES ($1, $2, $3, 1, $4, $4)",
    )
    .bind(row::id(id))
    .bind(email)
    .bind(name)
    .bind(now.stored())
    .execute(connection)
    .await?;
    Ok(id)
}
