//! Making, listing, pausing and archiving companies.

use serde_json::json;

use crate::company::Service;
use crate::company::identity::caller::{Caller, LOCAL_BOARD, LOCAL_BOARD_NAME};
use crate::company::refusals::conflict;
use crate::domain::company::entity::{Company, User};
use crate::domain::company::record::Record;
use crate::domain::company::task::prefix_of;
use crate::domain::company::value::CompanyStatus;
use crate::domain::excerpt::quoted;
use crate::error::{Error, Result};
use crate::store::company::{companies, people};

impl Service {
    /// Makes a company, or gives the one of that name. Without a prefix one is made from the
    /// name.
    ///
    /// # Errors
    ///
    /// Refuses a blank name, a prefix that is none, and one that another company has.
    pub async fn create_company(&self, name: &str, prefix: Option<&str>) -> Result<Company> {
        let name = name_of("company", name)?;
        let wanted = prefix.map(read_prefix).transpose()?;
        let mut read = self.read().await?;
        if let Some(known) = companies::by_name(&mut read, &name).await? {
            return match wanted.filter(|prefix| *prefix != known.prefix) {
                None => Ok(known),
                Some(_) => Err(conflict(format!(
                    "The company {} is there already, with the prefix {}.",
                    quoted(&name),
                    known.prefix
                ))),
            };
        }
        drop(read);
        let mut write = self
            .write_new(async |connection, id, now| {
                if companies::by_name(connection, &name).await?.is_some() {
                    let what = format!("The company {} was made just now.", quoted(&name));
                    return Err(conflict(what));
                }
                let mut prefix = wanted.clone().unwrap_or_else(|| prefix_of(&name));
                let mut number = 1;
                while companies::has_prefix(connection, &prefix).await? {
                    if wanted.is_some() {
                        let what = format!("Another company has the prefix {prefix}.");
                        return Err(conflict(what));
                    }
                    number += 1;
                    prefix = format!("{}{number}", prefix_of(&name));
                }
                let board =
                    User { id: LOCAL_BOARD, name: LOCAL_BOARD_NAME.into(), created_at: now };
                people::insert(connection, &board).await?;
                let company = Company {
                    id,
                    name: name.clone(),
                    status: CompanyStatus::Active,
                    prefix,
                    mcp_enabled: true,
                    created_at: now,
                    updated_at: now,
                };
                companies::insert(connection, &company).await?;
                Ok(company)
            })
            .await?;
        let company = write.caller().company().clone();
        let told = json!({ "name": company.name, "prefix": company.prefix });
        write.event(Record::Company, company.id, "company.created", told).await?;
        write.commit().await?;
        Ok(company)
    }

    /// Every company, by name.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn companies(&self) -> Result<Vec<Company>> {
        companies::all(&mut self.read().await?).await
    }

    /// Puts a company into a status. Returns it as it is then.
    ///
    /// # Errors
    ///
    /// As for any writing.
    pub async fn set_company_status(
        &self,
        caller: &Caller,
        status: CompanyStatus,
    ) -> Result<Company> {
        let mut write = self.write_in_any_state(caller).await?;
        let company = write.caller().company().clone();
        if company.status == status {
            return Ok(company);
        }
        let now = write.now;
        let (connection, scope) = write.scoped();
        companies::set_status(connection, scope, status, now).await?;
        let told = json!({ "from": company.status, "to": status });
        write.event(Record::Company, company.id, "company.status_changed", told).await?;
        write.commit().await?;
        Ok(Company { status, updated_at: now, ..company })
    }
}

/// A name as it is kept: without blanks around it, 1 to 255 characters.
///
/// # Errors
///
/// Refuses another one.
pub(super) fn name_of(what: &str, name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 255 || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "{} is no name of a {what}: that has 1 to 255 characters in one line.",
            quoted(name)
        )));
    }
    Ok(name.to_owned())
}

fn read_prefix(prefix: &str) -> Result<String> {
    let prefix = prefix.trim().to_ascii_uppercase();
    let is_good = (2..=8).contains(&prefix.len())
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && prefix.starts_with(|c: char| c.is_ascii_alphabetic());
    match is_good {
        true => Ok(prefix),
        false => Err(Error::invalid(format!(
            "{} is no prefix: that has 2 to 8 letters and digits and begins with a letter, such \
             as ACME.",
            quoted(&prefix)
        ))),
    }
}
