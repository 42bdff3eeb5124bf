//! What people, agents, projects and labels are called, to be shown beside their ids.

use std::collections::HashMap;

use uuid::Uuid;

use super::scoped::{bind_ids, one_of};
use crate::domain::company::access::standing::Scope;
use crate::error::Result;
use crate::store::engine::{Connection, composed};
use crate::store::row::{self, Columns as _};

/// The names of these ids of the company, whichever of the four kinds each is of.
pub async fn of(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, String>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let named = one_of("id", ids.len(), 2);
    // Who was a member once is still called by name in what they did.
    let sql = format!(
        "SELECT id, name FROM aoa_users WHERE {named} \
         UNION ALL SELECT id, name FROM aoa_agents WHERE company_id = $1 AND {named} \
         UNION ALL SELECT id, name FROM aoa_projects WHERE company_id = $1 AND {named} \
         UNION ALL SELECT id, name FROM aoa_labels WHERE company_id = $1 AND {named}"
    );
    let rows = bind_ids(composed(sql).bind(row::id(scope.company())), &ids);
    let rows = rows.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.text("name")?))).collect()
}
