//! Projects of a company.

use serde_json::json;
use uuid::Uuid;

use super::companies::name_of;
use crate::company::Service;
use crate::company::identity::caller::Caller;
use crate::domain::company::entity::Project;
use crate::domain::company::record::Record;
use crate::domain::company::value::{ProjectStatus, ProjectType};
use crate::error::Result;
use crate::store::company::projects;

impl Service {
    /// Adds a project or a department, or gives the one of that name.
    ///
    /// # Errors
    ///
    /// Refuses a blank name.
    pub async fn add_project(
        &self,
        caller: &Caller,
        name: &str,
        kind: ProjectType,
    ) -> Result<Uuid> {
        let name = name_of("project", name)?;
        let mut write = self.write(caller).await?;
        let (connection, scope) = write.scoped();
        if let Some(known) = projects::named(connection, scope, &name).await? {
            return Ok(known.id);
        }
        let project = Project {
            id: write.id(),
            company_id: caller.company().id,
            name,
            description: None,
            kind,
            status: ProjectStatus::Planned,
            lead_user_id: None,
            created_at: write.now,
            updated_at: write.now,
        };
        projects::insert(write.connection(), &project).await?;
        let told = json!({ "name": project.name, "type": project.kind });
        write.event(Record::Project, project.id, "project.added", told).await?;
        write.commit().await?;
        Ok(project.id)
    }
}
