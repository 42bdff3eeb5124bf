//! The keys of people, for MCP clients.

use serde_json::json;
use uuid::Uuid;

use crate::company::identity::caller::Caller;
use crate::company::identity::keyring::{MCP_MARK, new_key};
use crate::company::{Service, named};
use crate::domain::company::entity::McpKey;
use crate::domain::company::record::Record;
use crate::domain::company::value::Role;
use crate::domain::excerpt::quoted;
use crate::domain::secret::Secret;
use crate::error::{Error, Result};
use crate::store::company::keys;

/// A key that is to be made.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What it is called, 1 to 120 characters.
    pub name: String,
    /// The owner, by id or name.
    pub user: String,
    /// At most this role.
    pub role: Option<Role>,
    /// Only these projects, by id or name; none for all of the owner's.
    pub projects: Vec<String>,
}

impl Service {
    /// Makes a key; it is given out here and kept nowhere.
    ///
    /// # Errors
    ///
    /// Refuses a blank name, an owner who is no member, and a project that there is not.
    pub async fn create_key(&self, caller: &Caller, new: NewKey) -> Result<(Uuid, Secret)> {
        let name = new.name.trim().to_owned();
        if name.is_empty() || name.chars().count() > 120 {
            return Err(Error::invalid(format!(
                "{} is no name of a key: that has 1 to 120 characters.",
                quoted(&name)
            )));
        }
        let secret = new_key(MCP_MARK)?;
        let mut write = self.write(caller).await?;
        let (connection, scope) = write.scoped();
        let user = named::user(connection, scope, &new.user).await?;
        let projects = named::projects_of_verb(connection, scope, &new.projects).await?;
        let key = McpKey {
            id: write.id(),
            company_id: caller.company().id,
            user_id: user.id,
            name,
            hash: secret.hash(),
            role: new.role,
            projects: (!projects.is_empty()).then_some(projects),
            created_at: write.now,
            last_used_at: None,
            revoked_at: None,
        };
        keys::insert(write.connection(), &key).await?;
        let told = json!({
            "name": key.name,
            "userId": key.user_id,
            "role": key.role,
            "projectIds": key.projects,
        });
        write.event(Record::McpKey, key.id, "mcp_key.created", told).await?;
        write.commit().await?;
        Ok((key.id, secret))
    }
}
