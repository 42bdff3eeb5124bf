//! `govforge connect`, `doctor`, `completions` and `man` on a scratch machine.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::support::app::TestApp;

/// Every client, with the file for a person and the one in a repository.
const CLIENTS: [(&str, &str, Option<&str>); 9] = [
    ("claude-code", ".claude.json", Some(".mcp.json")),
    ("codex", ".codex/config.toml", Some(".codex/config.toml")),
    ("cursor", ".cursor/mcp.json", Some(".cursor/mcp.json")),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", None),
    ("vscode", VSCODE_USER, Some(".vscode/mcp.json")),
    ("gemini", ".gemini/settings.json", Some(".gemini/settings.json")),
    ("qwen", ".qwen/settings.json", Some(".qwen/settings.json")),
    ("copilot", ".copilot/mcp-config.json", Some(".mcp.json")),
    ("opencode", ".config/opencode/opencode.json", Some("opencode.json")),
];

const VSCODE_USER: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/mcp.json"
} else if cfg!(windows) {
    "AppData/Roaming/Code/User/mcp.json"
} else {
    ".config/Code/User/mcp.json"
};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a verb that has to succeed.
fn fine(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output)
}

/// Runs a verb that has to be refused, and gives why.
fn refused(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{arguments:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stderr(&output)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

fn home(app: &TestApp, file: &str) -> PathBuf {
    app.root().join("home").join(file)
}

fn binary() -> PathBuf {
    dunce::canonicalize(env!("CARGO_BIN_EXE_govforge")).unwrap()
}

#[test]
fn every_client_is_connected_in_both_places_once_and_found_by_the_doctor() {
    for (client, user, project) in CLIENTS {
        let app = TestApp::init();
        let scopes = [
            Some(("--user", home(&app, user))),
            project.map(|file| ("--project", app.here().join(file))),
        ];
        for (scope, file) in scopes.into_iter().flatten() {
            let told = fine(&app, &["connect", client, scope]);
            assert!(told.contains(file.to_str().unwrap()), "{told}");
            let text = read(&file);
            for part in [binary().to_str().unwrap(), app.ledger_path().to_str().unwrap()] {
                assert!(
                    text.contains(&part.replace('\\', "\\\\")),
                    "{part} is missing from {text}"
                );
            }
            let again = fine(&app, &["connect", client, scope]);
            assert!(again.contains("nothing was changed"), "{again}");
            assert_eq!(read(&file), text);
        }
        let healthy = fine(&app, &["doctor"]);
        let scopes = 1 + usize::from(project.is_some());
        assert_eq!(healthy.matches("same ledger, handshake, ").count(), scopes, "{healthy}");
        for (scope, file) in [("--user", Some(user)), ("--project", project)] {
            if file.is_some() {
                // The file that Copilot reads in a repository is Claude Code's.
                let client = match (client, scope) {
                    ("copilot", "--project") => "claude-code",
                    _ => client,
                };
                let told = fine(&app, &["connect", client, scope, "--remove"]);
                assert!(told.starts_with("Removed "), "{told}");
                let told = fine(&app, &["connect", client, scope, "--remove"]);
                assert!(told.contains("nothing was changed"), "{told}");
            }
        }
        let bare = fine(&app, &["doctor"]);
        assert!(!bare.contains("same ledger"), "{bare}");
    }
}

#[test]
fn the_entries_are_as_the_clients_document_them() {
    let app = TestApp::init();
    let (binary, ledger) = (binary(), app.ledger_path());
    let env = json!({ "GOVFORGE_DB": ledger });
    for (client, file, expected) in [
        (
            "claude-code",
            ".mcp.json",
            json!({"mcpServers": {"govforge": {"type": "stdio", "command": binary, "args": [], "env": env}}}),
        ),
        (
            "vscode",
            ".vscode/mcp.json",
            json!({"servers": {"govforge": {"type": "stdio", "command": binary, "args": [], "env": env}}}),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            json!({"mcpServers": {"govforge": {"command": binary, "args": [], "env": env}}}),
        ),
        (
            "opencode",
            "opencode.json",
            json!({"mcp": {"govforge": {"type": "local", "command": [binary], "environment": env, "enabled": true}}}),
        ),
    ] {
        fine(&app, &["connect", client]);
        assert_eq!(read_json(&app.here().join(file)), expected);
    }
    fine(&app, &["connect", "copilot", "--user"]);
    let copilot = &read_json(&home(&app, ".copilot/mcp-config.json"))["mcpServers"]["govforge"];
    assert_eq!((&copilot["type"], &copilot["tools"]), (&json!("local"), &json!(["*"])));
}

#[test]
fn what_else_is_in_the_file_stays_and_the_version_before_is_kept() {
    let app = TestApp::init();
    let json = "{\n    // fonts\n    \"theme\": \"dark\", /* odd */\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"},\n    },\n}\n";
    let toml = "# mine\nmodel = 'o'   # odd\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    for (client, file, before, parts) in [
        (
            "gemini",
            ".gemini/settings.json",
            json,
            ["// fonts", "/* odd */", "{\"command\": \"x\"}"],
        ),
        (
            "codex",
            ".codex/config.toml",
            toml,
            ["# mine", "model = 'o'   # odd", "[mcp_servers.other]"],
        ),
    ] {
        let app_file = home(&app, file);
        std::fs::create_dir_all(app_file.parent().unwrap()).unwrap();
        std::fs::write(&app_file, before).unwrap();
        let told = fine(&app, &["connect", client, "--user"]);
        let after = read(&app_file);
        for part in parts {
            assert!(after.contains(part), "{part} is missing from {after}");
        }
        let backup = app_file.with_file_name(format!(
            "{}.govforge-backup",
            app_file.file_name().unwrap().to_str().unwrap()
        ));
        assert!(told.contains(backup.to_str().unwrap()), "{told}");
        assert_eq!(read(&backup), before);
        fine(&app, &["connect", client, "--user", "--remove"]);
        assert_eq!(read(&app_file).trim_end(), before.trim_end());
    }
}

#[test]
fn an_entry_that_two_clients_share_goes_only_with_both() {
    let app = TestApp::init();
    fine(&app, &["connect", "claude-code"]);
    let file = app.here().join(".mcp.json");
    let before = read(&file);
    let told = refused(&app, &["connect", "copilot", "--remove"]);
    assert!(told.contains("Claude Code's too"), "{told}");
    assert!(told.contains("`govforge connect claude-code --remove`"), "{told}");
    assert_eq!(read(&file), before);
    let told = fine(&app, &["connect", "claude-code", "--remove"]);
    assert!(told.contains("It was Copilot's too"), "{told}");
    // Nothing is left to lose.
    assert!(fine(&app, &["connect", "copilot", "--remove"]).contains("nothing was changed"));
    fine(&app, &["connect", "copilot", "--user"]);
    fine(&app, &["connect", "copilot", "--user", "--remove"]);
}

#[test]
fn git_does_not_see_the_backup() {
    let app = TestApp::init().with_commit("Connect by hand", &[(".vscode/mcp.json", Some("{}\n"))]);
    app.git(&["add", "-A"]);
    app.git(&["commit", "-q", "-m", "All"]);
    let told = fine(&app, &["connect", "vscode"]);
    let backup = app.here().join(".govforge/backups/.vscode/mcp.json");
    assert!(told.contains(backup.to_str().unwrap()), "{told}");
    assert_eq!(read(&backup), "{}\n");
    assert_eq!(app.git(&["status", "--porcelain"]), " M .vscode/mcp.json\n");
}

#[test]
fn print_shows_and_writes_nothing() {
    let app = TestApp::init();
    let told = fine(&app, &["connect", "codex", "--print"]);
    assert!(told.contains("[mcp_servers.govforge]\ncommand = "), "{told}");
    let told = fine(&app, &["connect", "vscode", "--print"]);
    assert!(told.contains("\"servers\": {\n    \"govforge\": {\n"), "{told}");
    assert!(!app.here().join(".codex").exists() && !app.here().join(".vscode").exists());
    fine(&app, &["connect", "vscode"]);
    let before = read(&app.here().join(".vscode/mcp.json"));
    let told = fine(&app, &["connect", "vscode", "--print", "--remove"]);
    assert!(told.starts_with("Would remove servers.govforge from "), "{told}");
    assert_eq!(read(&app.here().join(".vscode/mcp.json")), before);
}

#[test]
fn a_malformed_file_is_refused_and_left() {
    for (client, file, text, part) in [
        ("claude-code", ".mcp.json", "{\"mcpServers\": {", "not valid JSON: look at line 1"),
        ("claude-code", ".mcp.json", "{} // strict", "not valid JSON"),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"mcpServers\": []}",
            "other than an object at mcpServers",
        ),
        ("codex", ".codex/config.toml", "a = 1\n= 2\n", "not valid TOML: look at line 2"),
    ] {
        let app = TestApp::init().with_file(&format!("shop/{file}"), text);
        for arguments in [vec!["connect", client], vec!["connect", client, "--remove"]] {
            let told = refused(&app, &arguments);
            assert!(told.contains(part) && told.contains("not touched"), "{told}");
        }
        let folder = app.here().join(file);
        assert_eq!(read(&folder), text);
        let beside: Vec<_> = std::fs::read_dir(folder.parent().unwrap())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().file_name().to_string_lossy().contains("backup")
            })
            .collect();
        assert!(beside.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let app = TestApp::init().with_file("dotfiles/claude.json", "{\"theme\": \"dark\"}\n");
    let target = app.root().join("dotfiles/claude.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, home(&app, ".claude.json")).unwrap();
    fine(&app, &["connect", "claude-code", "--user"]);
    assert!(home(&app, ".claude.json").is_symlink());
    assert_eq!(read_json(&target)["theme"], "dark");
    assert!(read_json(&target)["mcpServers"]["govforge"].is_object());
    for file in [&target, &app.root().join("dotfiles/claude.json.govforge-backup")] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn without_a_client_it_names_those_that_are_found() {
    let app = TestApp::init().with_env("PATH", "/nowhere");
    assert!(refused(&app, &["connect"]).contains("No client was found"));
    let app =
        app.with_file("home/.codex/config.toml", "").with_file("home/.gemini/settings.json", "{}");
    assert!(refused(&app, &["connect"]).contains("Found on this machine: codex, gemini."));
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out() {
    let app = TestApp::init();
    assert!(refused(&app, &["connect", "cline", "--project"]).contains("--user"));
    let output = app.govforge(&["connect", "claud-code"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'claude-code'"), "{}", stderr(&output));
    let output = app.govforge(&["connect", "codex", "--user", "--project"]);
    assert_eq!(output.status.code(), Some(2));
    let app = app.in_folder("nowhere");
    assert!(refused(&app, &["connect", "codex", "--project"]).contains("no git repository"));
}

#[test]
fn the_doctor_says_what_is_wrong_and_how_to_mend_it() {
    let app = TestApp::empty().with_repo("shop");
    let output = app.govforge(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("FAIL  ledger: "), "{}", stdout(&output));
    assert!(stdout(&output).contains("govforge init"), "{}", stdout(&output));
    assert!(!home(&app, ".govforge").exists(), "the doctor writes nothing");

    let app = app
        .with_commit("Start the shop", &[("README.md", Some("# Shop\n"))])
        .registered()
        .with_file("shop/.govforge/policies.toml", "[[policies]]\nnonsense = 1\n")
        .with_file(
            "home/.codex/config.toml",
            "[mcp_servers.govforge]\ncommand = \"/gone/govforge\"\n",
        )
        .with_file("home/.cursor/mcp.json", "{")
        .with_file("home/.gemini/settings.json", "{}")
        .with_file("elsewhere.txt", "");
    let other = app.root().join("other.db");
    let entry =
        json!({"mcpServers": {"govforge": {"command": binary(), "env": {"GOVFORGE_DB": other}}}});
    let app = app.with_file("home/.claude.json", &entry.to_string());
    let output = app.govforge(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stdout(&output);
    for part in [
        "ok    repository: ",
        "ok    ledger: ",
        "ok    here: this directory belongs to shop",
        "FAIL  project shop: The policy file ",
        "Correct it; `govforge policy check` looks at it again.",
        "FAIL  codex (user): ",
        "starts /gone/govforge, which is no program. Run `govforge connect codex --user`.",
        "FAIL  cursor (user): ",
        "FAIL  claude-code (user): ",
        "uses the ledger ",
        "note  gemini: installed, not connected: `govforge connect gemini`.",
    ] {
        assert!(told.contains(part), "{part} is missing from\n{told}");
    }
    assert!(stderr(&output).contains("4 of "), "{}", stderr(&output));
    assert!(!other.exists());

    let app = app.with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"maybe\"\n");
    let told = stdout(&app.govforge(&["doctor"]));
    assert!(told.contains("config.toml has a mistake in line 2, column 11"), "{told}");
}

#[cfg(unix)]
#[test]
fn the_doctor_starts_nothing_that_a_repository_brings_along() {
    use std::os::unix::fs::PermissionsExt as _;
    let app = TestApp::init();
    let script = app.here().join("govforge");
    let trace = app.root().join("was-started");
    std::fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let entry = json!({"mcpServers": {"govforge": {"command": "./govforge"}}});
    let app = app.with_file("shop/.mcp.json", &entry.to_string());
    let told = fine(&app, &["doctor"]);
    assert!(told.contains("note  claude-code (project): "), "{told}");
    assert!(!trace.exists());

    // The same in the person's own configuration is tried, and is no server.
    let entry = json!({"mcpServers": {"govforge": {"command": script}}});
    let app = app.with_file("home/.cursor/mcp.json", &entry.to_string());
    let output = app.govforge(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("but the handshake fails"), "{}", stdout(&output));
    assert!(trace.exists());
}

#[test]
fn the_doctor_on_a_damaged_ledger_ends_with_1_and_leaves_it() {
    let app = TestApp::init();
    std::fs::write(app.ledger_path(), "no ledger ".repeat(999)).unwrap();
    let output = app.govforge(&["doctor"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("FAIL  ledger: "), "{}", stdout(&output));
    assert_eq!(read(&app.ledger_path()), "no ledger ".repeat(999));
}

#[test]
fn the_catalogue_entries_are_of_this_version() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/distribution");
    for file in ["manifest.json", "server.json"] {
        let entry = read_json(&folder.join(file));
        assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"), "{file}");
    }
}

#[test]
fn completions_and_manual_pages_name_every_verb() {
    let app = TestApp::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let page = fine(&app, &["completions", shell]);
        assert!(page.contains("connect") && page.contains("doctor"), "{shell}");
    }
    let page = fine(&app, &["man"]);
    assert!(page.contains(".TH govforge 1") && page.contains("doctor"), "{page}");
    let page = fine(&app, &["man", "connect"]);
    assert!(page.contains(".TH govforge-connect 1") && page.contains("\\-\\-remove"), "{page}");
    let unknown = app.govforge(&["man", "conect"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("The verbs are init, "), "{}", stderr(&unknown));
}
