//! Reads the ledger file as another program would, beside the running server.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Column, Connection, Row, TypeInfo, ValueRef};
use tokio::runtime::{Builder, Runtime};

/// The twelve tables that the original knows too.
pub const TABLES: [&str; 12] = [
    "projects",
    "agents",
    "tasks",
    "decisions",
    "git_changes",
    "reviews",
    "findings",
    "policies",
    "policy_results",
    "disagreements",
    "approvals",
    "events",
];

/// A ledger in the original's form, with rows as it writes them: see the file.
pub const OF_THE_ORIGINAL: &str = include_str!("../../fixtures/ledger/sqlalchemy.sql");

/// Who made the tables of a ledger that a test works on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    Govforge,
    Original,
}

impl Maker {
    /// Makes the empty file that `govforge` finds, if there is one to find and none is there.
    pub fn prepare(self, path: &Path) {
        if self == Self::Original && !path.exists() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let statements = OF_THE_ORIGINAL.lines().filter(|line| !line.starts_with("INSERT"));
            Ledger::create(path, &statements.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// A connection of its own to a ledger file.
pub struct Ledger {
    runtime: Runtime,
    connection: SqliteConnection,
}

impl Ledger {
    /// Opens an existing file; `None` if there is none yet.
    pub fn open(path: &Path) -> Option<Self> {
        path.is_file().then(|| Self::connect(SqliteConnectOptions::new().filename(path)))
    }

    /// Makes a new file from statements.
    pub fn create(path: &Path, statements: &str) {
        // A dump gives the rows in no particular order.
        let options = SqliteConnectOptions::new().foreign_keys(false);
        let options = options.filename(path).create_if_missing(true);
        let mut ledger = Self::connect(options);
        ledger.execute(statements);
    }

    fn connect(options: SqliteConnectOptions) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let connection = runtime.block_on(SqliteConnection::connect_with(&options)).unwrap();
        Self { runtime, connection }
    }

    /// Runs statements.
    pub fn execute(&mut self, statements: &str) {
        self.try_execute(statements).unwrap();
    }

    /// Runs statements on events without the trigger that refuses to change them.
    pub fn damage(&mut self, statements: &str) {
        self.execute(&format!("DROP TRIGGER IF EXISTS events_are_not_changed; {statements}"));
    }

    /// Runs statements that the file may refuse.
    pub fn try_execute(&mut self, statements: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(statements.to_owned()));
        self.runtime.block_on(query.execute(&mut self.connection)).map(drop)
    }

    /// The rows of a query, as objects: text, integers and null as they are stored.
    pub fn rows(&mut self, query: &str) -> Vec<Map<String, Value>> {
        let query = sqlx::raw_sql(AssertSqlSafe(query.to_owned()));
        let rows = self.runtime.block_on(query.fetch_all(&mut self.connection)).unwrap();
        rows.iter().map(as_object).collect()
    }

    /// One column of a query as text.
    pub fn column(&mut self, query: &str) -> Vec<String> {
        let rows = self.rows(query);
        let first = |row: Map<String, Value>| row.into_iter().next().unwrap().1;
        rows.into_iter().map(first).map(|value| as_text(&value)).collect()
    }

    /// How many rows each table holds, those beside the twelve included.
    pub fn counts(&mut self) -> BTreeMap<String, i64> {
        let tables = self.column(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        );
        let selects: Vec<String> = tables
            .iter()
            .map(|table| format!("SELECT '{table}' AS name, count(*) AS n FROM \"{table}\""))
            .collect();
        if selects.is_empty() {
            return BTreeMap::new();
        }
        self.rows(&selects.join(" UNION ALL "))
            .into_iter()
            .map(|row| (as_text(&row["name"]), row["n"].as_i64().unwrap()))
            .collect()
    }
}

/// The text of a string, and the JSON of anything else.
pub fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn as_object(row: &SqliteRow) -> Map<String, Value> {
    row.columns()
        .iter()
        .map(|column| {
            let index = column.ordinal();
            let stored = row.try_get_raw(index).unwrap();
            let kind = stored.type_info().name().to_owned();
            let value = match kind.as_str() {
                _ if stored.is_null() => Value::Null,
                "INTEGER" | "BOOLEAN" => json!(row.get_unchecked::<i64, _>(index)),
                "REAL" => json!(row.get_unchecked::<f64, _>(index)),
                _ => json!(row.get_unchecked::<String, _>(index)),
            };
            (column.name().to_owned(), value)
        })
        .collect()
}
