//! The resources: templates, the list of concrete ones, and reading.

use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use strum::IntoEnumIterator;

use super::uri::{NoSuchForm, Resource as Form, ResourceUri};
use crate::domain::access::UseCase;
use crate::domain::excerpt::{one_line, quoted};
use crate::domain::id::Kind;
use crate::error::{Error, Result};
use crate::ledger::Service;
use crate::ledger::reading::resources::{Listed, Page};
use crate::mcp::errors;
use crate::stdio::freshness::freshness;

const JSON: &str = "application/json";

/// Answers `resources/templates/list`.
pub fn templates(context: &RequestContext<RoleServer>) -> ListResourceTemplatesResult {
    let (ttl_ms, cache_scope) = freshness(context, CacheScope::Public);
    let templates = Form::iter().map(|form| {
        let (name, title, description) = description(form);
        ResourceTemplate::new(form.template(), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    });
    ListResourceTemplatesResult {
        ttl_ms,
        cache_scope,
        ..ListResourceTemplatesResult::with_all_items(templates.collect())
    }
}

/// Answers `resources/list`, with what the token covers.
///
/// # Errors
///
/// -32602 for a cursor that this server did not give.
pub async fn list(
    service: &Service,
    cursor: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let access = service.access().await.map_err(errors::of_list)?;
    let page = match access.covers(UseCase::ListResources) {
        true => service.list_resources(cursor).await.map_err(errors::of_resource)?,
        false => Page { resources: Vec::new(), next: None },
    };
    let covered = |(form, _): &(Form, Resource)| access.covers(use_case(*form));
    let resources = page.resources.into_iter().flat_map(listed).filter(covered);
    let (ttl_ms, cache_scope) = freshness(context, CacheScope::Private);
    Ok(ListResourcesResult {
        ttl_ms,
        cache_scope,
        next_cursor: page.next,
        ..ListResourcesResult::with_all_items(resources.map(|(_, resource)| resource).collect())
    })
}

/// Answers `resources/read`.
///
/// # Errors
///
/// Resource not found for an URI of no known form and for a record that is not there; -32602
/// for one that the token does not cover.
pub async fn read(
    service: &Service,
    uri: String,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let parsed: ResourceUri = uri.parse().map_err(|error: NoSuchForm| {
        ErrorData::resource_not_found(format!("{}: {error}.", quoted(&uri)), None)
    })?;
    let text = content(service, &parsed).await.map_err(errors::of_resource)?;
    let (ttl_ms, cache_scope) = freshness(context, CacheScope::Private);
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    let mut result = ReadResourceResult::new(vec![contents]);
    (result.ttl_ms, result.cache_scope) = (ttl_ms, cache_scope);
    Ok(result.into())
}

async fn content(service: &Service, uri: &ResourceUri) -> Result<String> {
    match uri.resource {
        Form::Policies => json(&service.project_policies(&uri.id).await?),
        Form::Decision => json(&service.decision_record(&uri.id).await?),
        Form::Timeline => json(&service.task_timeline(&uri.id).await?),
        Form::Review => json(&service.review_record(&uri.id).await?),
        Form::Conventions => json(&service.project_conventions(&uri.id).await?),
    }
}

fn json(content: &impl Serialize) -> Result<String> {
    serde_json::to_string(content)
        .map_err(|error| Error::fault("the resource cannot be written as JSON", error))
}

/// What reading a resource is.
fn use_case(form: Form) -> UseCase {
    match form {
        Form::Policies => UseCase::ProjectPolicies,
        Form::Decision => UseCase::DecisionRecord,
        Form::Timeline => UseCase::TaskTimeline,
        Form::Review => UseCase::ReviewRecord,
        Form::Conventions => UseCase::ProjectConventions,
    }
}

/// Name, title and description of a kind of resource.
fn description(form: Form) -> (&'static str, &'static str, &'static str) {
    match form {
        Form::Policies => (
            "project_policies",
            "Policies of a project",
            "The policies that run_policy_checks would run now, by name.",
        ),
        Form::Decision => (
            "decision_resource",
            "Decision in full",
            "A decision with its change, reviews and findings, policy results with evidence, \
             disagreements with both positions, and verdicts.",
        ),
        Form::Timeline => (
            "task_timeline",
            "Timeline of a task",
            "Everything that happened to a task and to the decisions under it, oldest first.",
        ),
        Form::Review => ("review_resource", "Review", "A review with its findings."),
        Form::Conventions => (
            "project_conventions",
            "Conventions of a project",
            "The conventions of a project; none are kept yet.",
        ),
    }
}

/// The resources of one entry of the list.
fn listed(entry: Listed) -> Vec<(Form, Resource)> {
    match entry {
        Listed::Project { id, name } => [Form::Policies, Form::Conventions]
            .map(|form| {
                let (_, title, _) = description(form);
                (form, concrete(form, id.to_string(), name.clone(), format!("{title}: {name}")))
            })
            .into(),
        Listed::Record { kind, reference, shown_id, title, status } => {
            let (form, what) = match kind {
                Kind::Task => (Form::Timeline, format!("{title} ({status})")),
                Kind::Decision => (Form::Decision, format!("{title} ({status})")),
                Kind::Review => (Form::Review, format!("review of \"{title}\" ({status})")),
            };
            let title = format!("{shown_id}: {what}");
            vec![(form, concrete(form, reference, shown_id, title))]
        }
    }
}

fn concrete(form: Form, id: String, about: String, title: String) -> Resource {
    let (name, _, description) = description(form);
    Resource::new(
        ResourceUri { resource: form, id }.to_string(),
        one_line(&format!("{} {about}", name.trim_end_matches("_resource"))),
    )
    .with_title(one_line(&title))
    .with_description(description)
    .with_mime_type(JSON)
}
