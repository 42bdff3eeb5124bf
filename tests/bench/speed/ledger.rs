//! Ledgers of any size, made by SQL alone, and what a write costs SQLite itself.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _};
use tokio::runtime::Builder;

use crate::support::ledger::Ledger;

/// How many reviews are open, and how many decisions wait for a person, at any size: the
/// lists grow with these alone.
const OPEN: usize = 20;

/// Adds `decisions` decisions to a ledger with one project and no task: a task for every ten,
/// a thousand agents, a change and a review for each decision, and ten events.
pub fn fill(path: &Path, decisions: usize) {
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {decisions})"
    );
    let time = "strftime('%Y-%m-%d %H:%M:%f000', 1735689600 + i * 60, 'unixepoch')";
    let closed = "CASE WHEN i <= MAX_OPEN THEN 'REVIEW_REQUIRED' ELSE 'APPROVED' END"
        .replace("MAX_OPEN", &OPEN.to_string());
    let tasks = decisions.div_ceil(10);
    let mut ledger = Ledger::open(path).expect("the project is registered");
    ledger.execute(&format!(
        "BEGIN;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO agents SELECT printf('a%031x', i), 'agent ' || i, 'HUMAN', NULL, {time}
         FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {tasks})
         INSERT INTO tasks SELECT printf('b%031x', i), printf('TASK-%03d', i), p.id, 'Task ' || i,
         NULL, 'MEDIUM', 'CLOSED', printf('a%031x', 1 + i % 1000), {time}, {time}
         FROM n, projects p;
         {numbers} INSERT INTO decisions SELECT printf('d%031x', i), printf('DEC-%03d', i), p.id,
         printf('b%031x', 1 + i % {tasks}), printf('a%031x', 1 + i % 1000), 'Decision ' || i,
         'What changes in decision ' || i, 'Because of reason ' || i, {closed}, 'MEDIUM', i % 2,
         {time}, {time} FROM n, projects p;
         {numbers} INSERT INTO git_changes SELECT printf('c%031x', i), printf('d%031x', i),
         p.root_path, 'main', printf('%040x', i), NULL, 'sha256:' || printf('%064x', i),
         '[\"src/main.rs\"]', i % 100, i % 50, {time} FROM n, projects p;
         {numbers} INSERT INTO reviews SELECT printf('e%031x', i), printf('REV-%03d', i),
         printf('d%031x', i), printf('a%031x', 1 + i % 1000), 'COMMENTED', 'Review ' || i, {time}
         FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {decisions}),
         m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 10)
         INSERT INTO events SELECT printf('f%023x%08x', i, j), p.id,
         CASE j WHEN 10 THEN 'review' ELSE 'decision' END,
         printf(CASE j WHEN 10 THEN 'e%031x' ELSE 'd%031x' END, i), 'decision.noted', NULL,
         '{{\"display_id\":\"DEC\"}}', {time} FROM n, m, projects p;
         /* As if each had been taken into the chain by the write that made it. */
         DELETE FROM event_queue;
         COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"
    ));
}

/// What a write of about the same rows costs without anything around it, at the same
/// durability: `BEGIN IMMEDIATE`, three rows in three statements, `COMMIT`.
pub fn raw_writes(directory: &Path, count: usize) -> Vec<Duration> {
    let options = SqliteConnectOptions::new()
        .filename(directory.join("raw.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let tables = "CREATE TABLE IF NOT EXISTS a (id TEXT PRIMARY KEY, text TEXT); \
                      CREATE TABLE IF NOT EXISTS b (id TEXT PRIMARY KEY, text TEXT); \
                      CREATE TABLE IF NOT EXISTS c (id TEXT PRIMARY KEY, text TEXT);";
        sqlx::raw_sql(tables).execute(&mut connection).await.unwrap();
        let mut times = Vec::new();
        for number in 0..count {
            // One string, so that the way to SQLite's thread is gone once.
            let write = format!(
                "BEGIN IMMEDIATE; INSERT INTO a VALUES ('{number:032}', 'Task {number}'); \
                 INSERT INTO b VALUES ('{number:032}', '{{}}'); \
                 INSERT INTO c VALUES ('{number:032}', 'sha256'); COMMIT;"
            );
            let begin = Instant::now();
            let write = sqlx::raw_sql(AssertSqlSafe(write));
            write.execute(&mut connection).await.unwrap();
            times.push(begin.elapsed());
        }
        connection.close().await.unwrap();
        times
    })
}
