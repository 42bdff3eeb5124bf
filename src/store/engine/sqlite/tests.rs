use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use super::connections::SETTLE;
use super::*;
use crate::error::Code;
use crate::store::engine::sqlite::schema::MIGRATIONS;
use crate::store::engine::{Missing, query};
use crate::store::row::Columns as _;

async fn version(path: &Path) -> i64 {
    let mut connection =
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path)).await.unwrap();
    sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.unwrap()
}

async fn execute(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_missing_ledger_reads_as_empty_and_is_created_by_a_write() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("deeper/govforge.db"));
    let mut transaction = ledger.read().await.unwrap();
    let projects = query("SELECT COUNT(*) AS number FROM projects");
    assert_eq!(projects.fetch_number(&mut transaction).await.unwrap(), 0);
    assert!(!ledger.exists());
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
    assert!(ledger.exists());
    assert_eq!(version(ledger.path()).await, MIGRATIONS.len() as i64);
}

#[tokio::test]
async fn a_ledger_of_the_first_version_is_brought_up_to_date_with_its_events_queued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("govforge.db");
    execute(&path, MIGRATIONS[0]).await;
    execute(
        &path,
        "PRAGMA user_version = 1;
         INSERT INTO projects VALUES ('p', 'shop', '/shop', 'main', 't', 't');
         INSERT INTO events VALUES ('e2', 'p', 'task', 't', 'x', NULL, NULL, '2');
         INSERT INTO events VALUES ('e1', 'p', 'task', 't', 'x', NULL, NULL, '1');",
    )
    .await;
    let ledger = LedgerFile::new(path.clone());
    let mut read = ledger.read().await.unwrap();
    let queued = query("SELECT event_id || origin AS event FROM event_queue ORDER BY turn");
    let queued = queued.fetch_all(&mut read).await.unwrap();
    let queued: Vec<String> = queued.iter().map(|row| row.text("event").unwrap()).collect();
    assert_eq!(queued, ["e1earlier", "e2earlier"]);
    assert_eq!(version(&path).await, MIGRATIONS.len() as i64);
}

#[tokio::test]
async fn a_newer_ledger_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("govforge.db");
    execute(&path, "CREATE TABLE projects (id TEXT); PRAGMA user_version = 999").await;
    let before = std::fs::read(&path).unwrap();
    let error = LedgerFile::new(path.clone()).write(Durability::Full).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::UnusableLedger));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.db");
    execute(&path, "CREATE TABLE bookmarks (id TEXT)").await;
    let error = LedgerFile::new(path.clone()).write(Durability::Full).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::UnusableLedger));
    std::fs::write(&path, b"no database at all, but long enough to be taken for one").unwrap();
    let error = LedgerFile::new(path).read().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::UnusableLedger));
}

async fn agents(ledger: &LedgerFile) -> i64 {
    let mut read = ledger.read().await.unwrap();
    query("SELECT COUNT(*) AS number FROM agents").fetch_number(&mut read).await.unwrap()
}

async fn add_agent(write: &mut WriteTransaction<'_>) {
    let text = "INSERT INTO agents (id, name, type, created_at) \
                VALUES ('00', 'claude', 'CLAUDE', '2026-05-10 14:02:11.000000')";
    query(text).execute(write).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_without_records_that_was_removed_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    assert_eq!(agents(&ledger).await, 1);
    std::fs::remove_file(ledger.path()).unwrap();
    assert_eq!(agents(&ledger).await, 0);
    assert!(!ledger.exists());
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    assert_eq!(agents(&ledger).await, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_with_records_that_was_removed_is_missed_until_another_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    let mut write = ledger.write(Durability::Full).await.unwrap();
    let project = "INSERT INTO projects VALUES ('p', 'shop', '/shop', 'main', 't', 't')";
    query(project).execute(&mut write).await.unwrap();
    write.commit().await.unwrap();
    std::fs::remove_file(ledger.path()).unwrap();
    for _ in 0..2 {
        let errors =
            [ledger.read().await.unwrap_err(), ledger.write(Durability::Full).await.unwrap_err()];
        assert!(errors.iter().all(|error| error.code() == Some(Code::LedgerMissing)));
        assert!(!ledger.exists());
    }
    replace(ledger.path()).await;
    assert_eq!(agents(&ledger).await, 0);
}

#[tokio::test]
async fn what_is_missing_may_be_refused() {
    let directory = tempfile::tempdir().unwrap();
    for meaning in [Missing::Gone, Missing::Refused(Refusal::new(Code::LedgerMissing, "none"))] {
        let ledger = LedgerFile::new(directory.path().join("govforge.db"));
        let ledger = ledger.when_missing(WhenMissing::new(move |_path| meaning.clone()));
        assert_eq!(ledger.read().await.unwrap_err().code(), Some(Code::LedgerMissing));
        let error = ledger.write(Durability::Full).await.unwrap_err();
        assert_eq!(error.code(), Some(Code::LedgerMissing));
        assert!(!ledger.exists());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_success_is_reported_into_a_file_that_was_removed() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    std::fs::remove_file(ledger.path()).unwrap();
    assert_eq!(write.commit().await.unwrap_err().code(), Some(Code::LedgerBusy));
}

/// Puts another ledger, without records, in the place of `path`.
#[cfg(unix)]
async fn replace(path: &Path) {
    let backup = path.with_file_name("backup.db");
    let other = LedgerFile::new(backup.clone());
    other.write(Durability::Full).await.unwrap().commit().await.unwrap();
    other.close().await;
    std::fs::rename(&backup, path).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_that_was_replaced_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    replace(ledger.path()).await;
    assert_eq!(agents(&ledger).await, 0);
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    assert_eq!(agents(&LedgerFile::new(ledger.path().to_owned())).await, 1);
}

/// Two servers had the old file open: neither plays the old log into the new file, and each
/// sees what the other writes there.
#[cfg(unix)]
#[tokio::test]
async fn servers_that_had_the_old_ledger_open_meet_again_in_the_new_one() {
    for removed in [&[][..], &["", "-wal", "-shm"], &["", "-wal"]] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("govforge.db");
        let (first, second) = (LedgerFile::new(path.clone()), LedgerFile::new(path.clone()));
        first.write(Durability::Full).await.unwrap().commit().await.unwrap();
        let mut write = second.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        write.commit().await.unwrap();
        if !removed.is_empty() {
            for suffix in removed {
                std::fs::remove_file(format!("{}{suffix}", path.display())).unwrap();
            }
        } else {
            replace(&path).await;
        }
        assert_eq!(agents(&first).await, 0);
        let mut write = first.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        write.commit().await.unwrap();
        assert_eq!(agents(&second).await, 1);
        second.write(Durability::Full).await.unwrap().commit().await.unwrap();
        first.close().await;
        second.close().await;
        assert_eq!(agents(&LedgerFile::new(path)).await, 1);
    }
}

/// Opens a connection of another program that holds the write lock.
async fn lock(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    other
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_is_a_refusal_that_can_be_sent_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = LedgerFile::new(directory.path().join("govforge.db"));
    ledger.patience = Duration::from_millis(50);
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
    let other = lock(ledger.path()).await;
    let error = ledger.write(Durability::Full).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::LedgerBusy));
    assert!(error.to_string().ends_with("send it again."), "{error}");
    assert_eq!(agents(&ledger).await, 0, "reading does not wait");
    other.close().await.unwrap();
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
}

/// Calls that are cancelled while they wait, and in the middle: each time another may begin,
/// and reading goes on.
#[tokio::test]
async fn cancelled_writes_leave_no_trace() {
    const CALLS: u32 = 20;
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
    let other = lock(ledger.path()).await;
    for call in 0..CALLS {
        let waiting = ledger.write(Durability::Full);
        let patience = Duration::from_millis(u64::from(call));
        tokio::time::timeout(patience, waiting).await.unwrap_err();
        assert_eq!(agents(&ledger).await, 0);
    }
    other.close().await.unwrap();
    for call in 0..CALLS {
        // Cut off anywhere between the first wait and the acknowledged commit.
        let whole = async {
            let mut write = ledger.write(Durability::Full).await.unwrap();
            let text = "INSERT INTO agents (id, name, type, created_at) \
                        VALUES ($1, $1, 'HUMAN', '2026-05-10 14:02:11.000000')";
            query(text).bind(call).execute(&mut write).await.unwrap();
            write.commit().await.unwrap();
        };
        let mut whole = std::pin::pin!(whole);
        for _ in 0..call {
            let turn = tokio::time::timeout(Duration::from_micros(50), whole.as_mut());
            if turn.await.is_ok() {
                break;
            }
        }
    }
    let before = agents(&ledger).await;
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    assert_eq!(agents(&ledger).await, before + 1);
}

/// A read transaction that stayed open would keep the log from being moved into the file.
#[tokio::test]
async fn an_idle_ledger_holds_no_lock_and_its_log_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    assert_eq!(agents(&ledger).await, 1);
    let log = directory.path().join("govforge.db-wal");
    let settled = async {
        while log.metadata().unwrap().len() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(10 * SETTLE, settled).await.unwrap();
    let copy = directory.path().join("copy.db");
    std::fs::copy(ledger.path(), &copy).unwrap();
    assert_eq!(agents(&LedgerFile::new(copy)).await, 1);
}

#[tokio::test]
async fn the_durability_of_the_writer_is_the_one_asked_for() {
    for (durability, pragma) in [(Durability::Full, 2), (Durability::Normal, 1)] {
        let directory = tempfile::tempdir().unwrap();
        let ledger = LedgerFile::new(directory.path().join("govforge.db"));
        ledger.write(durability).await.unwrap().commit().await.unwrap();
        // Whoever opens the file first, it is the writer's that counts.
        let again = LedgerFile::new(ledger.path().to_owned());
        assert_eq!(agents(&again).await, 0);
        for ledger in [ledger, again] {
            let mut write = ledger.write(durability).await.unwrap();
            let set = query("PRAGMA synchronous").fetch_one(&mut write).await.unwrap();
            assert_eq!(set.integer("synchronous").unwrap(), pragma);
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn devices_and_paths_that_are_not_utf_8_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = tempfile::tempdir().unwrap();
    let not_utf_8 = directory.path().join(std::ffi::OsStr::from_bytes(b"ledger-\xff.db"));
    for path in [PathBuf::from("/dev/null"), not_utf_8] {
        let error = LedgerFile::new(path).write(Durability::Full).await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_that_was_moved_elsewhere_holds_every_record() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(directory.path().join("govforge.db"));
    let mut write = ledger.write(Durability::Full).await.unwrap();
    add_agent(&mut write).await;
    write.commit().await.unwrap();
    let elsewhere = directory.path().join("elsewhere.db");
    std::fs::rename(ledger.path(), &elsewhere).unwrap();
    assert_eq!(agents(&ledger).await, 0);
    assert_eq!(agents(&LedgerFile::new(elsewhere)).await, 1);
}

#[tokio::test]
async fn a_ledger_of_the_version_before_is_brought_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("govforge.db");
    execute(&path, MIGRATIONS[0]).await;
    execute(&path, "PRAGMA user_version = 1").await;
    let ledger = LedgerFile::new(path.clone());
    let mut read = ledger.read().await.unwrap();
    let runs = query("SELECT COUNT(*) AS number FROM policy_result_runs");
    assert_eq!(runs.fetch_number(&mut read).await.unwrap(), 0);
    assert_eq!(version(&path).await, MIGRATIONS.len() as i64);
}

/// As after a restore from a backup, and after a process that ended while it made the file.
#[tokio::test]
async fn a_ledger_without_a_log_gets_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("govforge.db");
    let ledger = LedgerFile::new(path.clone());
    ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
    ledger.close().await;
    execute(&path, "PRAGMA journal_mode = DELETE").await;
    assert_eq!(agents(&LedgerFile::new(path.clone())).await, 0);
    let mode = sqlx::query_scalar::<_, String>("PRAGMA journal_mode");
    let options = SqliteConnectOptions::new().filename(&path);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    assert_eq!(mode.fetch_one(&mut other).await.unwrap(), "wal");
}
