//! Who answers for a task and who reviews it, where nobody says.

use uuid::Uuid;

use crate::company::identity::caller::Caller;
use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Principal;
use crate::error::Result;
use crate::store::company::{people, projects};
use crate::store::engine::Connection;

/// The person who answers for a task for whom none is named: the person who has it, else who
/// creates it unless an agent has it, else the lead of its project, else the only founder.
pub(super) async fn responsible(
    connection: &mut Connection,
    scope: &Scope,
    caller: &Caller,
    assignee: Option<Principal>,
    project: Option<Uuid>,
) -> Result<Option<Uuid>> {
    if let Some(Principal::User(user)) = assignee {
        return Ok(Some(user));
    }
    if assignee.is_none()
        && let Some(user) = caller.principal().user()
    {
        return Ok(Some(user));
    }
    if let Some(lead) = lead(connection, scope, project).await? {
        return Ok(Some(lead));
    }
    Ok(match people::founders(connection, scope).await?.as_slice() {
        [founder] => Some(founder.id),
        _ => None,
    })
}

/// The person who reviews a task for which none is named: who answers for it, else the lead of its
/// project, else the first founder.
pub(super) async fn reviewer(
    connection: &mut Connection,
    scope: &Scope,
    responsible: Option<Uuid>,
    project: Option<Uuid>,
) -> Result<Option<Uuid>> {
    if responsible.is_some() {
        return Ok(responsible);
    }
    if let Some(lead) = lead(connection, scope, project).await? {
        return Ok(Some(lead));
    }
    let founders = people::founders(connection, scope).await?;
    Ok(founders.first().map(|founder| founder.id))
}

/// The lead whom the project names, else who has the role in it.
async fn lead(
    connection: &mut Connection,
    scope: &Scope,
    project: Option<Uuid>,
) -> Result<Option<Uuid>> {
    let Some(project) = project else { return Ok(None) };
    let named = projects::in_company(connection, scope, project).await?;
    if let Some(lead) = named.and_then(|project| project.lead_user_id) {
        return Ok(Some(lead));
    }
    let leads = people::leads(connection, scope, project).await?;
    Ok(leads.first().map(|lead| lead.id))
}
