//! Everything that hangs off a decision, read in one go.

use std::sync::LazyLock;

use uuid::Uuid;

use super::git_changes::{self, Mark};
use crate::domain::entity::{Disagreement, Finding, GitChange, PolicyResult, Project, Review};
use crate::domain::verdict::Verdicts;
use crate::error::Result;
use crate::store::chain::testimony;
use crate::store::engine::{Connection, query};
use crate::store::events::{self, EventTold};
use crate::store::ledger::{approvals, disagreements, policies, projects, reviews};
use crate::store::row::{self, Columns as _, Row};

/// In the order in which [`of_decision`] takes their rows.
static STATEMENTS: LazyLock<[&str; 10]> = LazyLock::new(|| {
    [
        projects::OF_DECISION,
        git_changes::NEWEST,
        git_changes::MARKS,
        reviews::OF_DECISION,
        reviews::FINDINGS_OF_DECISION,
        policies::RESULTS,
        disagreements::OF_DECISION,
        approvals::OF_DECISION,
        &testimony::OF_VERDICTS,
        events::OF_DECISION,
    ]
});

/// What was recorded about a decision, each list oldest first.
pub struct Dossier {
    /// The project that the decision belongs to.
    pub project: Option<Project>,
    /// The newest change.
    pub change: Option<GitChange>,
    /// All changes without what they hold.
    pub marks: Vec<Mark>,
    pub reviews: Vec<Review>,
    /// Those of all reviews, each with its review's id.
    pub findings: Vec<(Uuid, Finding)>,
    pub policy_results: Vec<PolicyResult>,
    pub disagreements: Vec<Disagreement>,
    pub verdicts: Verdicts,
    events: Vec<Row>,
}

impl Dossier {
    /// The events of the decision, its reviews and its disagreements.
    ///
    /// # Errors
    ///
    /// Faults on a damaged row; whoever shows no events is not kept from the rest by it.
    pub fn events(&self) -> Result<Vec<EventTold>> {
        row::each(&self.events)
    }
}

/// Reads what hangs off a decision; nothing does off an unknown one.
pub async fn of_decision(connection: &mut Connection, id: Uuid) -> Result<Dossier> {
    static TEXT: LazyLock<String> = LazyLock::new(|| STATEMENTS.join("; "));
    let statements = query(TEXT.as_str()).bind(row::id(id));
    let [
        project,
        change,
        marks,
        reviews,
        findings,
        policy_results,
        disagreements,
        approvals,
        told,
        events,
    ] = statements.fetch_of_all(connection).await?;
    Ok(Dossier {
        project: row::each(&project)?.pop(),
        change: row::each(&change)?.pop(),
        marks: row::each(&marks)?,
        reviews: row::each(&reviews)?,
        findings: findings
            .iter()
            .map(|row| Ok((row.uuid("review_id")?, Finding::try_from(row)?)))
            .collect::<Result<_>>()?,
        policy_results: row::each(&policy_results)?,
        disagreements: row::each(&disagreements)?,
        verdicts: approvals::judge(&approvals, &testimony::read_all(&told)?)?,
        events,
    })
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

    use super::*;
    use crate::store::engine::sqlite::schema::MIGRATIONS;

    /// In a large ledger a statement that reads every row takes a hundred times as long.
    #[tokio::test]
    async fn nothing_is_found_by_reading_a_whole_table() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        for migration in MIGRATIONS {
            sqlx::raw_sql(migration).execute(&mut connection).await.unwrap();
        }
        for statement in *STATEMENTS {
            let plan = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            let plan = sqlx::query(plan).bind("d").fetch_all(&mut connection).await.unwrap();
            let steps: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
            assert!(steps.iter().any(|step| step.starts_with("SEARCH")), "{steps:#?}");
            assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:#?}");
        }
    }
}
