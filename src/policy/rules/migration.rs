//! `migration_requires_review`: changes of a database's schema are reviewed.

use serde_json::{Value, json};

use super::{Facts, Judgement, Rule};
use crate::policy::evidence::{files, matching};
use crate::policy::section::Section;

#[derive(Debug)]
pub(super) struct Migration;

impl Migration {
    pub(super) fn read(_: &mut Section<'_>) -> Self {
        Self
    }
}

impl Rule for Migration {
    fn description(&self) -> &str {
        "Blocks when a `.py` or `.sql` file below `migration/`, `migrations/` or \
         `alembic/versions/` is changed: such a change is reviewed."
    }

    fn config(&self) -> Value {
        json!({})
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let migrations = matching(facts.subject.files_changed, is_migration);
        let evidence = files(&migrations);
        Some(match migrations.total() {
            0 => Judgement::passed("No migration files modified.", evidence),
            files => Judgement::blocked(
                format!("{files} migration file(s) modified — review required."),
                evidence,
            ),
        })
    }
}

/// Whether a path is a `.py` or `.sql` file at any depth below a directory of migrations,
/// wherever that lies, in any case.
fn is_migration(path: &str) -> bool {
    let path = path.to_lowercase();
    let Some((directories, file)) = path.rsplit_once('/') else { return false };
    let segments: Vec<&str> = directories.split('/').collect();
    let is_script = file.ends_with(".py") || file.ends_with(".sql");
    is_script
        && (segments.iter().any(|segment| matches!(*segment, "migration" | "migrations"))
            || segments.windows(2).any(|pair| pair == ["alembic", "versions"]))
}
