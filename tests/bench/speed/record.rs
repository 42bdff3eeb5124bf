//! A ledger as months of work leave it, with every event in the chain: what `govforge audit
//! verify` walks.

use std::path::Path;

use govforge::store::chain;
use govforge::store::engine::{Durability, Ledger};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};
use tokio::runtime::Builder;
use uuid::Uuid;

/// How many events each decision has.
pub const EVENTS: usize = 10;

/// Adds `decisions` decisions to a ledger with one project: a task, two changes, each with a
/// policy run of four results, a review with two findings, and an approval for each.
pub fn fill(path: &Path, decisions: usize) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(path);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let statements = sqlx::raw_sql(AssertSqlSafe(statements(decisions)));
        statements.execute(&mut connection).await.unwrap();
        let ids: Vec<String> = sqlx::query_scalar("SELECT event_id FROM event_queue")
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let own: Vec<Uuid> = ids.iter().map(|id| Uuid::try_parse(id).unwrap()).collect();
        connection.close().await.unwrap();
        let ledger = Ledger::new(path.to_owned());
        let mut write = ledger.write(Durability::Full).await.unwrap();
        chain::take_in(&mut write, &own, None).await.unwrap();
        write.commit().await.unwrap();
        ledger.close().await;
    });
}

/// Ids are in the order of time, as the program's own are: 16 digits of the decision's number
/// and 16 of what it is.
fn statements(decisions: usize) -> String {
    let each = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {decisions})"
    );
    let id = |what: u32| format!("printf('%016x%016x', i, {what})");
    let time = |second: u32| {
        format!("strftime('%Y-%m-%d %H:%M:%f000', 1735689600 + i * 60 + {second}, 'unixepoch')")
    };
    let (author, reviewer, person) =
        ("printf('%032x', 1)", "printf('%032x', 2)", "printf('%032x', 3)");
    let (task, decision, review) = (id(1), id(2), id(3));
    let mut sql = format!(
        "BEGIN;
         INSERT INTO agents VALUES ({author}, 'claude-code', 'CLAUDE', NULL, '2025-01-01'),
         ({reviewer}, 'codex', 'CODEX', NULL, '2025-01-01'),
         ({person}, 'maintainer', 'HUMAN', NULL, '2025-01-01');
         WITH p(i, name) AS (VALUES (1, 'auth_change_requires_review'),
         (2, 'secret_pattern_detection'), (3, 'large_diff_requires_second_review'),
         (4, 'tests_required')) INSERT INTO policies
         SELECT printf('%032x', i), name, 'What ' || name || ' is about.', 1, 'HIGH',
         '{{\"paths\":[\"auth/**\",\"**/login*\"]}}', '2025-01-01' FROM p;
         {each} INSERT INTO tasks SELECT {task}, printf('TASK-%03d', i), p.id,
         'Harden the login of part ' || i, 'The password is compared in plain text. Done when '
         || 'it is compared by its hash in constant time, and a test fails without it.', 'HIGH',
         'OPEN', {author}, {t0}, {t0} FROM n, projects p;
         {each} INSERT INTO decisions SELECT {decision}, printf('DEC-%03d', i), p.id, {task},
         {author}, 'Compare the hash of the password of part ' || i, 'Stores and compares '
         || 'Argon2id hashes, and moves old rows over at the next login.', 'A hash that is slow '
         || 'on purpose makes a stolen table worth little. Argon2id is what current guidance '
         || 'names first; bcrypt cuts passwords at 72 bytes, and PBKDF2 is cheap on a GPU.',
         'APPROVED', 'HIGH', 1, {t1}, {t9} FROM n, projects p;
         {each} INSERT INTO reviews SELECT {review}, printf('REV-%03d', i), {decision},
         {reviewer}, 'CHANGES_REQUESTED', 'The comparison is right. Two things about the rest.',
         {t6} FROM n;
         {each}, m(k) AS (VALUES (1), (2)) INSERT INTO findings
         SELECT printf('%016x%016x', i, 16 + k), {review}, 'HIGH', 'SECURITY',
         'src/auth/login.rs', 10 * k, 10 * k + 3, 'The time tells whether the name is known.',
         'Compute a hash for unknown names too.' FROM n, m;
         {each} INSERT INTO approvals SELECT {approval}, {decision}, {person}, 'APPROVED',
         'Read, and tried by hand.', {t9} FROM n;",
        approval = id(4),
        t0 = time(0),
        t1 = time(1),
        t6 = time(6),
        t9 = time(9),
    );
    let display = "\"display_id\":\"DEC-' || i || '\"";
    let hash = "sha256:' || printf('%064x', i) || '";
    let results = (1..=4).map(|number| {
        format!(
            "{{\"policy\":\"policy_{number}\",\"status\":\"passed\",\"message\":\"Nothing in 3 \
             changed files matches one of the patterns.\"}}"
        )
    });
    let run = format!(
        "{{\"policy_count\":4,\"blocked\":0,\"warnings\":0,\"results\":[{}],\"config_path\":\
         \".govforge/policies.toml\",\"config_hash\":\"{hash}\"}}",
        results.collect::<Vec<_>>().join(",")
    );
    let attached = |commit: u32| {
        format!(
            "{{{display},\"commit_hash\":\"' || printf('%032x%08x', i, {commit}) || '\",\
             \"diff_hash\":\"{hash}\",\"files_changed\":3,\"insertions\":40,\"deletions\":12}}"
        )
    };
    let task_created = "{\"display_id\":\"TASK-' || i || '\",\"title\":\"Harden the login\",\
                        \"risk_level\":\"high\"}";
    let reviewed = "{\"display_id\":\"REV-' || i || '\",\"status\":\"changes_requested\",\
                    \"findings_count\":2}";
    let approved = "{\"approval_id\":\"' || printf('%08x-%04x-%04x-0000-%012x', 0, i >> 16, \
                    i & 65535, 4) || '\",\"comment\":\"Read, and tried by hand.\",\"from\":\
                    \"review_required\",\"to\":\"approved\",\"confirmed\":\"asked\"}";
    let created = format!("{{{display},\"title\":\"Compare the hash\",\"risk_level\":\"high\"}}");
    let requested = format!("{{{display},\"reviewer\":\"codex\",\"focus\":[\"security\"]}}");
    let noted = format!("{{{display}}}");
    let (first, second) = (attached(2), attached(7));
    let events: [(&str, &str, &str, &str); EVENTS] = [
        ("task.created", &task, author, task_created),
        ("decision.created", &decision, author, &created),
        ("decision.git_attached", &decision, author, &first),
        ("decision.policy_evaluated", &decision, author, &run),
        ("review.requested", &decision, author, &requested),
        ("decision.noted", &decision, author, &noted),
        ("review.submitted", &review, reviewer, reviewed),
        ("decision.git_attached", &decision, author, &second),
        ("decision.policy_evaluated", &decision, author, &run),
        ("decision.approved", &decision, person, approved),
    ];
    // One by one, so that what a run stored stands beside its event as it does in a ledger.
    for (number, (event_type, entity, actor, payload)) in (0..).zip(events) {
        let entity_type = event_type.split('.').next().unwrap();
        let (event, at) = (id(32 + number), time(number));
        sql += &format!(
            "{each} INSERT INTO events SELECT {event}, p.id, '{entity_type}', {entity},
             '{event_type}', {actor}, '{payload}', {at} FROM n, projects p;"
        );
        if event_type == "decision.git_attached" {
            sql += &format!(
                "{each} INSERT INTO git_changes SELECT {change}, {decision}, p.root_path, 'main',
                 printf('%032x%08x', i, {number}), printf('%040x', i), '{hash}',
                 '[\"src/auth/login.rs\",\"src/auth/hash.rs\",\"tests/login.rs\"]', 40, 12, {at}
                 FROM n, projects p;",
                change = id(64 + number),
            );
        }
        if event_type == "decision.policy_evaluated" {
            let result = format!("printf('%016x%016x', i, {} + k)", 128 + 16 * number);
            sql += &format!(
                "{each}, m(k) AS (VALUES (1), (2), (3), (4)) INSERT INTO policy_results
                 SELECT {result}, {decision}, printf('%032x', k), 'PASSED',
                 'Nothing in 3 changed files matches one of the patterns.',
                 '{{\"files\":[],\"scanned\":3,\"excused\":0}}', {at} FROM n, m;
                 {each}, m(k) AS (VALUES (1), (2), (3), (4)) INSERT INTO policy_result_runs
                 (policy_result_id, event_id, config_hash) SELECT {result}, {event}, '{hash}'
                 FROM n, m;"
            );
        }
    }
    // In the order in which the calls would have written them.
    sql += "DELETE FROM event_queue;
            INSERT INTO event_queue (event_id) SELECT id FROM events ORDER BY id; COMMIT;";
    sql
}
