//! Companies and their projects.

use clap::Subcommand;
use serde_json::json;

use super::{Told, operator};
use crate::cli::arguments;
use crate::company::Service;
use crate::domain::company::value::{CompanyStatus, ProjectType};
use crate::error::Result;

/// Make a company
#[derive(Debug, clap::Args)]
pub struct Create {
    /// What it is called
    name: String,
    /// The letters before the numbers of its tasks, such as ACME; made from the name without
    #[arg(long)]
    prefix: Option<String>,
}

impl Create {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        let company = service.create_company(&self.name, self.prefix.as_deref()).await?;
        let json = json!({ "id": company.id, "name": company.name, "prefix": company.prefix });
        let line = format!("{}  {}  tasks {}-1, ...", company.id, company.name, company.prefix);
        Ok(Told::new(json, [line]))
    }
}

/// List the companies
#[derive(Debug, clap::Args)]
pub struct List {}

impl List {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        let companies = service.companies().await?;
        let json = companies.iter().map(|company| {
            json!({
                "id": company.id,
                "name": company.name,
                "prefix": company.prefix,
                "status": company.status,
                "mcpEnabled": company.mcp_enabled,
            })
        });
        let json = json!({ "companies": json.collect::<Vec<_>>() });
        let lines = companies.iter().map(|company| {
            format!("{}  {}  {}  {}", company.id, company.prefix, company.status, company.name)
        });
        let lines: Vec<String> = lines.collect();
        match lines.is_empty() {
            true => Ok(Told::new(json, [NO_COMPANY.to_owned()])),
            false => Ok(Told::new(json, lines)),
        }
    }
}

const NO_COMPANY: &str = "There is no company yet: `govforge company create NAME` makes one.";

macro_rules! status_verbs {
    ($($(#[$doc:meta])+ $name:ident => $status:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, clap::Args)]
        pub struct $name {
            /// Its id or name
            company: String,
        }

        impl $name {
            pub async fn run(&self, service: &Service) -> Result<Told> {
                set_status(service, &self.company, CompanyStatus::$status).await
            }
        }
    )+};
}

status_verbs! {
    /// Let a company take no writes for a while
    Pause => Paused;
    /// Put a company that is paused or archived back to work
    Resume => Active;
    /// Let a company take no writes any more
    Archive => Archived;
}

async fn set_status(service: &Service, company: &str, status: CompanyStatus) -> Result<Told> {
    let caller = operator(service, company).await?;
    let company = service.set_company_status(&caller, status).await?;
    let json = json!({ "id": company.id, "status": company.status });
    Ok(Told::new(json, [format!("{} is {}.", company.name, company.status)]))
}

#[derive(Debug, Subcommand)]
pub enum Project {
    /// Add a project or a department
    Add {
        /// The company's id or name
        company: String,
        /// What it is called
        name: String,
        /// project, or department
        #[arg(long = "type", default_value = "project", value_parser = arguments::value::<ProjectType>)]
        kind: ProjectType,
    },
}

impl Project {
    pub async fn run(&self, service: &Service) -> Result<Told> {
        match self {
            Self::Add { company, name, kind } => {
                let caller = operator(service, company).await?;
                let id = service.add_project(&caller, name, *kind).await?;
                Ok(Told::new(json!({ "id": id }), [format!("{id}  {name}")]))
            }
        }
    }
}
