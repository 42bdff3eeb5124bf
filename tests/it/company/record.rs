//! What stands on the record of a company, and that it proves itself.

use std::path::Path;
use std::process::Output;

use serde_json::json;

use super::fixtures::world;
use crate::support::company::Company;
use crate::support::ledger::Ledger;

fn acme() -> Company {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/company");
    Company::start(&world(&folder, "acme"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What each statement does to a company shows, in the ledger and in an export of it.
#[test]
fn what_is_changed_in_a_company_past_the_program_shows() {
    let company = acme();
    company.call("alice", "create-task", &json!({ "title": "A", "projectId": "<id of Shop>" }));
    let app = &company.app;
    let sound = app.govforge(&["audit", "verify", "--strict"]);
    assert!(sound.status.success(), "{}", text(&sound));
    let path = app.ledger_path();
    drop(app.govforge(&["audit", "head"]));
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    drop(ledger);
    let original = std::fs::read(&path).unwrap();
    let copy = app.root().join("copy.db");
    let there = crate::support::app::TestApp::empty();
    let there = there.with_env("GOVFORGE_DB", copy.to_str().unwrap());
    for (statements, told) in [
        ("UPDATE aoa_tasks SET title = 'Another'", "the company's task ACME-1"),
        ("UPDATE aoa_tasks SET assignee_user_id = created_by_user_id", "was changed"),
        ("UPDATE aoa_companies SET status = 'paused'", "the company's company"),
        ("UPDATE aoa_user_roles SET role = 'founder'", "the company's member"),
        ("DELETE FROM aoa_user_roles", "the company's member"),
        ("UPDATE aoa_members SET status = 'suspended'", "the company's member"),
        ("UPDATE aoa_users SET name = 'mallory' WHERE name = 'alice'", "the company's member"),
        ("UPDATE aoa_mcp_keys SET role = NULL, project_ids = NULL", "the company's mcp key"),
        ("UPDATE aoa_mcp_keys SET hash = 'ab' WHERE name = 'bob''s laptop'", "the company's mcp key"),
        ("DELETE FROM aoa_agent_projects", "the company's agent"),
        ("UPDATE aoa_agents SET status = 'active'", "the company's agent"),
        ("INSERT INTO aoa_grants SELECT 'aa', company_id, user_id, NULL, 'tasks:assign', created_at
            FROM aoa_members LIMIT 1", "the company's member"),
        ("INSERT INTO aoa_labels SELECT 'aa', id, 'label', created_at FROM aoa_companies LIMIT 1",
            "the row aa of aoa_labels was added: no event vouches for it"),
        ("INSERT INTO aoa_mcp_keys SELECT 'aa', company_id, user_id, name, 'ab', NULL, NULL,
            created_at, NULL, NULL FROM aoa_mcp_keys LIMIT 1", "the row aa of aoa_mcp_keys"),
        ("INSERT INTO aoa_events SELECT 'aa', company_id, entity_type, entity_id, event_type,
            actor, user_id, agent_id, key_id, session_id, run_id, payload_json, created_at
            FROM aoa_events LIMIT 1", "the event aa of a company was added past the chain"),
        ("DROP TRIGGER aoa_events_are_not_changed;
            UPDATE aoa_events SET actor = 'board' WHERE event_type = 'task.created'",
            "the event task.created"),
        ("DROP TRIGGER aoa_events_are_not_deleted; DELETE FROM aoa_events", "was removed"),
        ("CREATE TRIGGER planted AFTER INSERT ON aoa_tasks BEGIN
            UPDATE aoa_tasks SET status = 'done'; END", "the trigger \"planted\""),
    ] {
        std::fs::write(&copy, &original).unwrap();
        Ledger::open(&copy).unwrap().execute(statements);
        let output = there.govforge(&["audit", "verify"]);
        assert_eq!(output.status.code(), Some(1), "{statements}");
        assert!(text(&output).contains(told), "{statements}: {}", text(&output));
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(app.root().join(format!("copy.db{side}")));
        }
    }
    let export = app.root().join("export.jsonl");
    let exported = app.govforge(&["export", "--output", export.to_str().unwrap()]);
    assert!(exported.status.success(), "{exported:?}");
    let verified = app.govforge(&["audit", "verify", export.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", text(&verified));
}

/// Statements that the file itself refuses.
#[test]
fn versions_and_events_of_a_company_cannot_be_rewritten_by_plain_statements() {
    let company = acme();
    let mut ledger = Ledger::open(&company.app.ledger_path()).unwrap();
    ledger.execute(
        "INSERT INTO aoa_artifacts SELECT 'a', id, 'A', 'document', 'active', NULL, NULL,
            created_at, created_at FROM aoa_companies LIMIT 1;
         INSERT INTO aoa_artifact_versions SELECT 'v', id, 'a', 1, 'text', NULL, 'mcp', NULL, NULL,
            NULL, 'ab', NULL, NULL, created_at FROM aoa_companies LIMIT 1",
    );
    for statement in [
        "UPDATE aoa_artifact_versions SET content = 'another'",
        "DELETE FROM aoa_artifact_versions",
        "REPLACE INTO aoa_artifact_versions SELECT * FROM aoa_artifact_versions",
        "INSERT OR REPLACE INTO aoa_artifact_versions SELECT 'w', company_id, artifact_id,
            version_number, 'another', NULL, source, NULL, NULL, NULL, sha256, NULL, NULL,
            created_at FROM aoa_artifact_versions",
        "UPDATE aoa_events SET payload_json = '{}'",
        "DELETE FROM aoa_events",
        "REPLACE INTO aoa_events SELECT * FROM aoa_events",
    ] {
        assert!(ledger.try_execute(statement).is_err(), "{statement}");
    }
}

/// No secret is in the ledger or in the log, in clear.
#[test]
fn no_key_is_stored_or_logged_in_clear() {
    let company = acme();
    for who in ["alice", "coder"] {
        company.call(who, "me", &json!(null));
    }
    let keys: Vec<String> = ["alice", "bob", "coder", "frank"]
        .iter()
        .map(|who| company.credential(who)[0].1.trim_start_matches("Bearer ").to_owned())
        .collect();
    for entry in std::fs::read_dir(company.app.here()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        for key in &keys {
            let found = bytes.windows(key.len()).any(|part| part == key.as_bytes());
            assert!(!found, "{} holds a key", path.display());
        }
    }
}
