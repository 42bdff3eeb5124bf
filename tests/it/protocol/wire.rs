//! The traffic that a server must survive, and the ways in which it must end.
//!
//! Nothing here touches a ledger.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Far more than anything here takes: what is still running then, hangs.
const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl Server {
    fn start() -> Self {
        Self::start_by(&mut command(env!("CARGO_BIN_EXE_govforge")))
    }

    fn start_by(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = child.stdout.take().map(BufReader::new);
        Self { child, input, output }
    }

    fn send_bytes(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n"));
    }

    /// The next line, `None` at the end of the output.
    fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        (!line.is_empty())
            .then(|| serde_json::from_str(&line).expect("stdout holds JSON-RPC alone"))
    }

    /// Sends bytes and a ping, and gives what is answered before the ping is.
    fn answers_to(&mut self, bytes: impl AsRef<[u8]>) -> Vec<Value> {
        self.send_bytes(bytes);
        self.send(&request("still there", "ping", Value::Null));
        let mut answers = Vec::new();
        loop {
            let answer = self.receive().expect("the server is still there");
            if answer["id"] == "still there" {
                assert_eq!(answer["result"], json!({}));
                return answers;
            }
            answers.push(answer);
        }
    }

    fn error_to(&mut self, bytes: impl AsRef<[u8]>) -> (Value, i64) {
        let answers = self.answers_to(bytes);
        let [answer] = answers.as_slice() else { panic!("not one answer: {answers:?}") };
        (answer["id"].clone(), answer["error"]["code"].as_i64().expect("an error"))
    }

    /// Closes stdin and reads what is left of stdout; the exit must be clean and quiet.
    fn end(mut self) -> Vec<Value> {
        self.input = None;
        let rest = std::iter::from_fn(|| self.receive()).collect();
        self.assert_ended();
        rest
    }

    fn assert_ended(&mut self) {
        let status = self.wait();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(status.success(), "{status}: {log}");
        assert_eq!(log, "");
    }

    fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the rule is for the server")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-folder").join("ledger.db");
    command.env("GOVFORGE_DB", nowhere).env_remove("RUST_LOG");
    command
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "wire", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    request("initialize", "initialize", params)
}

fn self_contained() -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}

#[test]
fn every_revision_with_initialize_is_agreed_to() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = Server::start();
        server.send(&initialize(version));
        assert_eq!(server.receive().unwrap()["result"]["protocolVersion"], version);
        server.send(&notification("notifications/initialized", Value::Null));
        server.send(&request(1, "tools/list", Value::Null));
        assert!(server.receive().unwrap()["result"]["tools"].is_array());
        assert_eq!(server.end(), [] as [Value; 0]);
    }
}

#[test]
fn a_revision_without_initialize_or_an_unknown_one_gets_the_newest_with_it() {
    for version in ["2026-07-28", "2099-01-01", "1"] {
        let mut server = Server::start();
        server.send(&initialize(version));
        assert_eq!(server.receive().unwrap()["result"]["protocolVersion"], "2025-11-25");
    }
}

#[test]
fn a_client_of_2026_07_28_discovers_first() {
    let mut server = Server::start();
    server.send(&request(1, "server/discover", self_contained()));
    let versions = server.receive().unwrap()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!("2026-07-28")), "{versions}");
    server.send(&request(2, "tools/list", self_contained()));
    assert_eq!(server.receive().unwrap()["result"]["resultType"], "complete");
}

#[test]
fn a_client_of_2026_07_28_may_list_at_once() {
    let mut server = Server::start();
    server.send(&request(1, "tools/list", self_contained()));
    let result = &server.receive().unwrap()["result"];
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{result}");
}

#[test]
fn a_request_before_initialize_is_answered() {
    let mut server = Server::start();
    server.send(&request(1, "tools/list", Value::Null));
    assert!(server.receive().unwrap()["result"]["tools"].is_array());
    server.send(&initialize("2025-06-18"));
    assert_eq!(server.receive().unwrap()["result"]["protocolVersion"], "2025-06-18");
    server.send(&request(2, "tools/list", Value::Null));
    assert_eq!(server.receive().unwrap()["id"], 2, "also before `initialized`");
}

#[test]
fn initialize_may_come_twice() {
    let mut server = Server::start();
    for version in ["2024-11-05", "2025-11-25"] {
        server.send(&initialize(version));
        assert_eq!(server.receive().unwrap()["result"]["protocolVersion"], version);
    }
}

#[test]
fn notifications_and_responses_are_not_answered_at_any_time() {
    let mut server = Server::start();
    let told = [
        notification("notifications/initialized", Value::Null),
        notification("notifications/no_such", json!({})),
        notification("notifications/cancelled", json!({ "requestId": 1 })),
        notification("notifications/cancelled", json!({ "requestId": [] })),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "x" } }),
    ];
    for when in ["before", "after"] {
        for message in &told {
            assert_eq!(server.answers_to(format!("{message}\n")), [] as [Value; 0], "{when}");
        }
        server.send(&initialize("2025-11-25"));
        server.receive();
    }
}

#[test]
fn blank_lines_are_passed_over() {
    assert_eq!(Server::start().answers_to("\n\r\n \t\n\u{feff}\n"), [] as [Value; 0]);
}

#[test]
fn lines_that_are_no_json_are_parse_errors() {
    let mut server = Server::start();
    let lines: [&[u8]; 5] = [b"hello\n", b"{\n", b"\xff\xfe\n", b"\0\0\n", b"{\"id\":\n"];
    for line in lines {
        assert_eq!(server.error_to(line), (Value::Null, -32700), "{line:?}");
    }
}

#[test]
fn deep_nesting_is_a_parse_error() {
    let line = format!("{}\n", "[".repeat(1_000_000));
    assert_eq!(Server::start().error_to(line), (Value::Null, -32700));
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted() {
    let mut server = Server::start();
    let ping = request(1, "ping", Value::Null);
    for line in [format!("\u{feff}{ping}\n"), format!("{ping}\r\n")] {
        assert_eq!(server.answers_to(line)[0]["result"], json!({}));
    }
}

#[test]
fn a_batch_is_one_error_or_answered_in_2025_03_26() {
    let mut server = Server::start();
    let batch = format!("{}\n", json!([request(1, "ping", Value::Null)]));
    assert_eq!(server.error_to(&batch), (Value::Null, -32600));
    assert_eq!(server.error_to("[]\n"), (Value::Null, -32600));
    server.send(&initialize("2025-03-26"));
    server.receive();
    assert_eq!(server.answers_to(&batch), [json!([{ "jsonrpc": "2.0", "id": 1, "result": {} }])]);
    assert_eq!(server.error_to("[]\n"), (Value::Null, -32600));
}

#[test]
fn params_may_be_null() {
    let line = format!("{}\n", request(1, "tools/list", Value::Null));
    assert!(Server::start().answers_to(line)[0]["result"]["tools"].is_array());
}

#[test]
fn what_is_no_request_is_an_error_under_its_id() {
    let mut server = Server::start();
    let wrong = [
        (r#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32600),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a"), -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":0.5,"method":"ping"}"#, json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null), -32600),
        ("17", json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#, json!(2), -32601),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":1}}"#, json!(3), -32602),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}"#, json!(4), -32602),
        (r#"{"jsonrpc":"2.0","id":5,"method":"resources/read"}"#, json!(5), -32602),
    ];
    for (line, id, code) in wrong {
        assert_eq!(server.error_to(format!("{line}\n")), (id, code), "{line}");
    }
}

#[test]
fn requests_of_one_id_are_all_answered() {
    let mut server = Server::start();
    for _ in 0..3 {
        server.send(&request(1, "tools/list", Value::Null));
    }
    let answers = server.end();
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn a_line_of_4_mib_is_taken() {
    let text = "x".repeat(4 * 1024 * 1024);
    let params = json!({ "_meta": { "text": text } });
    let line = format!("{}\n", request(1, "tools/list", params));
    assert!(Server::start().answers_to(line)[0]["result"]["tools"].is_array());
}

#[test]
fn a_line_beyond_the_limit_is_one_error() {
    let mut server = Server::start();
    let line = format!("\"{}\"\n", "x".repeat(16 * 1024 * 1024));
    assert_eq!(server.error_to(line), (Value::Null, -32600));
}

#[test]
fn ten_thousand_requests_written_at_once_are_all_answered() {
    let mut server = Server::start();
    let requests: String =
        (0..10_000).map(|id| format!("{}\n", request(id, "ping", Value::Null))).collect();
    server.send_bytes(requests);
    let mut ids: Vec<_> =
        server.end().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..10_000).collect::<Vec<_>>());
}

#[test]
fn the_end_of_stdin_sends_the_replies_in_flight() {
    let mut server = Server::start();
    server.send(&initialize("2025-11-25"));
    for id in 0..50 {
        server.send(&request(id, "tools/list", Value::Null));
    }
    server.send_bytes(request(50, "ping", Value::Null).to_string());
    assert_eq!(server.end().len(), 52, "the last line had no end");
}

#[test]
fn the_end_of_stdin_without_a_request_is_a_clean_end() {
    assert_eq!(Server::start().end(), [] as [Value; 0]);
}

#[test]
fn a_closed_stdout_is_a_quiet_end() {
    let mut server = Server::start();
    server.output = None;
    server.send(&request(1, "tools/list", Value::Null));
    server.assert_ended();
}

#[cfg(unix)]
#[test]
fn signals_are_a_clean_end_while_stdin_is_open() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut server = Server::start();
        server.send(&request(1, "ping", Value::Null));
        server.receive();
        let script = format!("kill -{signal} {}", server.child.id());
        assert!(command("sh").args(["-c", &script]).status().unwrap().success());
        server.assert_ended();
    }
}

/// A client that reads nothing: the server's output is stuck, and its exit must not be.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_server_whose_client_does_not_read() {
    let mut server = Server::start();
    let requests: String =
        (0..3_000).map(|id| format!("{}\n", request(id, "tools/list", Value::Null))).collect();
    server.send_bytes(requests);
    server.receive();
    let script = format!("kill -TERM {}", server.child.id());
    assert!(command("sh").args(["-c", &script]).status().unwrap().success());
    assert!(server.wait().success());
}

#[cfg(unix)]
#[test]
fn the_server_does_not_outlive_its_parent() {
    // The shell is the parent; this test holds the other ends of the server's stdin and stdout.
    let script = r#"exec 3<&0; "$0" <&3 3<&- & wait"#;
    let mut parent =
        Server::start_by(command("sh").args(["-c", script, env!("CARGO_BIN_EXE_govforge")]));
    parent.send(&request(1, "ping", Value::Null));
    assert_eq!(parent.receive().unwrap()["id"], 1);
    parent.child.kill().unwrap();

    let mut output = parent.output.take().unwrap();
    let (report, ended) = mpsc::channel();
    thread::spawn(move || report.send(output.read_to_end(&mut Vec::new()).unwrap()));
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(0), "stdout ends when the server does");
}
