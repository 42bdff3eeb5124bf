//! Questions that are open for too long, or that nobody waits for any more: the whole server,
//! driven over pipes, with the person's time as the only thing that is changed.

use std::io::{BufRead as _, BufReader, PipeWriter, Write as _, pipe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use rmcp::service::serve_directly;
use tempfile::TempDir;

use super::*;
use crate::domain::time::System;
use crate::ledger::access::caller::Caller;
use crate::ledger::settings::location::{Environment, Location};
use crate::ledger::settings::missing::Beginning;
use crate::stdio::server::Server;
use crate::stdio::session::Session;
use crate::stdio::transport::LineTransport;

/// A client with a decision to judge, and what it hears from the server.
struct Client {
    input: Option<PipeWriter>,
    lines: Receiver<String>,
    server: Option<JoinHandle<()>>,
    meta: Option<Value>,
    folder: TempDir,
}

impl Client {
    /// A client of that revision, which can ask its user, of a server that `change`d how it asks.
    fn start(revision: &str, change: impl FnOnce(&mut Asking)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        git2::Repository::init(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join(".govforge")).unwrap();
        let location = Location::find(folder.path().to_owned(), Environment::default());
        let caller = Caller::without_token();
        let service = Service::new(location, caller, Arc::new(System), Arc::new(System));
        let mut server = Server::new(service.which_begins(Beginning::Unasked));
        change(&mut server.state.asking);
        let (server_input, input) = pipe().unwrap();
        let (output, server_output) = pipe().unwrap();
        let server = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let transport = LineTransport::new(server_input, server_output).unwrap();
                serve_directly(Session::new(server), transport, None).waiting().await.unwrap();
            });
        });
        let (sender, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let meta = (revision >= "2026-07-28").then(|| {
            json!({
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            })
        });
        let mut client = Self { input: Some(input), lines, server: Some(server), meta, folder };
        if client.meta.is_none() {
            client.post(
                "hello",
                "initialize",
                json!({
                    "protocolVersion": revision,
                    "capabilities": { "elicitation": {} },
                    "clientInfo": { "name": "test", "version": "1" },
                }),
            );
            client.receive();
        }
        let path = client.folder.path().to_owned();
        client.call("create_task", json!({ "project_path": path, "title": "A task" }));
        client.call(
            "record_decision",
            json!({
                "task_id": "TASK-001", "author_agent": "claude", "title": "A decision",
                "human_approval_required": true,
            }),
        );
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn post(&mut self, id: &str, method: &str, mut params: Value) {
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// The next message; they come in the order in which things happen.
    fn receive(&mut self) -> Value {
        // Reached only when a message is missing.
        let patience = Duration::from_secs(60);
        serde_json::from_str(&self.lines.recv_timeout(patience).unwrap()).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.post("call", "tools/call", json!({ "name": tool, "arguments": arguments }));
        let reply = self.receive();
        assert!(reply["result"]["structuredContent"].is_object(), "{tool}: {reply}");
        reply["result"].clone()
    }

    /// Brings a verdict, without waiting.
    fn bring_verdict(&mut self, id: &str) {
        let arguments =
            json!({ "decision_id": "DEC-001", "approver": "Robin", "status": "rejected" });
        let params = json!({ "name": "approve_decision", "arguments": arguments });
        self.post(id, "tools/call", params);
    }

    fn answer(&mut self, question: &Value) {
        let result = json!({
            "action": "accept",
            "content": { "verdict": "approved", "typed_id": "DEC-001" },
        });
        self.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    }

    /// Statuses of the verdicts on record.
    fn verdicts(&mut self) -> Vec<Value> {
        let result = self.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
        let approvals = result["structuredContent"]["approvals"].as_array().unwrap();
        approvals.iter().map(|one| one["status"].clone()).collect()
    }

    fn end(mut self) {
        self.input = None;
        self.server.take().unwrap().join().unwrap();
    }
}

fn text(reply: &Value) -> &str {
    assert_eq!(reply["result"]["isError"], json!(true), "{reply}");
    reply["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_question_that_nobody_answers_in_time_records_nothing() {
    let mut client = Client::start("2025-11-25", |asking| asking.patience = Duration::ZERO);
    client.bring_verdict("verdict");
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create");
    let withdrawn = client.receive();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "the form stays open: {withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let reply = client.receive();
    assert_eq!(reply["id"], "verdict");
    let text = text(&reply);
    assert!(text.contains("A person must decide on DEC-001"), "{text}");
    assert!(text.contains("nobody answered in time") && text.contains("no rejection"), "{text}");
    assert!(client.verdicts().is_empty());

    // The person comes back to a form that the client left open.
    client.answer(&question);
    assert!(client.verdicts().is_empty());
    let result = client.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    assert_eq!(result["structuredContent"]["decision"]["status"], "draft");
    client.end();
}

#[test]
fn a_person_has_ten_minutes_and_a_sealed_question_an_hour() {
    let asking = Asking::new();
    assert_eq!(asking.patience, Duration::from_secs(600));
    assert_eq!(asking.state_life, Duration::from_secs(3600));
}

#[test]
fn a_cancelled_call_withdraws_its_question() {
    let mut client = Client::start("2025-11-25", |_| {});
    client.bring_verdict("verdict");
    let question = client.receive();
    let cancelled = json!({ "requestId": "verdict", "reason": "the agent gave up" });
    let method = "notifications/cancelled";
    client.send(&json!({ "jsonrpc": "2.0", "method": method, "params": cancelled }));
    let withdrawn = client.receive();
    assert_eq!(withdrawn["method"], method);
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    client.answer(&question);
    // A cancelled call has no reply: the next one is that of the next call.
    assert!(client.verdicts().is_empty());
    // The decision can be judged as ever.
    client.bring_verdict("again");
    let question = client.receive();
    client.answer(&question);
    assert_eq!(client.receive()["result"]["structuredContent"]["approval_status"], "approved");
    assert_eq!(client.verdicts(), [json!("approved")]);
    client.end();
}

#[test]
fn a_client_that_goes_away_leaves_no_question_behind() {
    let mut client = Client::start("2025-11-25", |_| {});
    client.bring_verdict("verdict");
    assert_eq!(client.receive()["method"], "elicitation/create");
    client.input = None;
    let reply = client.receive();
    assert!(text(&reply).contains("the client could not ask"), "{reply}");
    // It ends by itself, long before the person's time is over.
    client.end();
}

#[test]
fn a_sealed_question_cannot_be_answered_for_ever() {
    let mut client = Client::start("2026-07-28", |asking| asking.state_life = Duration::ZERO);
    client.bring_verdict("verdict");
    let first = client.receive();
    let state = first["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{first}"));
    let params = json!({
        "name": "approve_decision",
        "arguments": { "decision_id": "DEC-001", "approver": "Robin", "status": "rejected" },
        "requestState": state,
        "inputResponses": {
            "verdict": {
                "action": "accept",
                "content": { "verdict": "approved", "typed_id": "DEC-001" },
            },
        },
    });
    // It is over once a millisecond has passed.
    thread::sleep(Duration::from_millis(2));
    client.post("late", "tools/call", params);
    let reply = client.receive();
    assert!(text(&reply).contains("older than an hour"), "{reply}");
    assert!(client.verdicts().is_empty());
    client.end();
}

#[test]
fn a_state_opens_only_for_the_call_it_was_given_for() {
    let asking = Asking::new();
    let state = asking.seal.seal_with(b"seen", &SealOptions::new().associated_data(b"call"));
    assert_eq!(asking.seal.open_with(&state, b"call").unwrap(), b"seen");
    assert!(asking.seal.open_with(&state, b"another").is_err());
    assert!(Asking::new().seal.open_with(&state, b"call").is_err(), "another process");
}
