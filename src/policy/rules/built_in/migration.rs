//! `migration_requires_review`: changes of a database's schema are reviewed.

use serde_json::{Value, json};

use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files, matching, texts};
use crate::policy::rules::rule::{Facts, Judgement, Rule};

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
        let mut evidence = files(&migrations);
        if migrations.total() > 0 {
            evidence["migration_files"] = texts(migrations.kept());
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::PolicyResultStatus::{Blocked, Passed};
    use crate::policy::testing::change;

    #[test]
    fn scripts_below_a_directory_of_migrations_are_migrations() {
        for path in [
            "migrations/0001_users.sql",
            "shop/migrations/0002_orders.py",
            "db/migration/V1__users.sql",
            "db/Migrations/2026/05/users.SQL",
            "alembic/versions/abc_users.py",
            "services/shop/alembic/versions/2026/abc.py",
        ] {
            assert!(is_migration(path), "{path} is a migration");
        }
        for path in [
            "migrations.py",
            "migrations",
            "src/migration_tool.py",
            "migrations/README.md",
            "migrations/0001.sql.bak",
            "my_migrations/0001.sql",
            "alembic/env.py",
            "alembic/old/versions/abc.py",
            "versions/abc.py",
            "immigration/form.py",
        ] {
            assert!(!is_migration(path), "{path} is no migration");
        }
    }

    #[test]
    fn a_migration_blocks() {
        let result = |paths: &[&str]| change(paths).result("[migration_requires_review]");
        assert_eq!(
            result(&["migrations/1.sql", "migrations/2.sql", "a.py"]),
            Some((Blocked, "2 migration file(s) modified — review required.".to_owned()))
        );
        assert_eq!(result(&["a.py"]), Some((Passed, "No migration files modified.".to_owned())));
    }

    #[test]
    fn the_evidence_names_the_files() {
        let (_, _, evidence) =
            change(&["a.py", "migrations/1.sql"]).verdict("[migration_requires_review]").unwrap();
        assert_eq!(
            evidence,
            json!({
                "files": [{ "path": "migrations/1.sql" }], "files_total": 1,
                "migration_files": ["migrations/1.sql"],
            })
        );
    }
}
