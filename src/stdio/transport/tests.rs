//! The transport and the session together, driven over real pipes.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{LineTransport, SHARES};
use crate::stdio::session::Session;

/// Has the tools `wait` (until the gate is open), `panic`, and `size` (of its arguments).
struct Handler {
    gate: Arc<Semaphore>,
    running: AtomicUsize,
    most: Arc<AtomicUsize>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let text = match &*call.name {
            "wait" => {
                drop(self.gate.acquire().await);
                "waited".to_owned()
            }
            "size" => json!(call.arguments).to_string().len().to_string(),
            _ => panic!("a tool that panics"),
        };
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

struct Client {
    input: Option<PipeWriter>,
    output: Option<BufReader<PipeReader>>,
    gate: Arc<Semaphore>,
    most: Arc<AtomicUsize>,
    server: Option<JoinHandle<()>>,
}

impl Client {
    fn start() -> Self {
        let (server_input, input) = pipe().unwrap();
        let (output, server_output) = pipe().unwrap();
        let gate = Arc::new(Semaphore::new(0));
        let most = Arc::<AtomicUsize>::default();
        let handler =
            Handler { gate: gate.clone(), running: AtomicUsize::new(0), most: most.clone() };
        let server = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.unwrap().block_on(async {
                let transport = LineTransport::new(server_input, server_output).unwrap();
                serve_directly(Session::new(handler), transport, None).waiting().await.unwrap();
            });
        });
        let output = Some(BufReader::new(output));
        Self { input: Some(input), output, gate, most, server: Some(server) }
    }

    fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next line, `None` at the end of the output.
    fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    fn open_gate(&self) {
        self.gate.close();
    }

    fn end_input(&mut self) {
        self.input = None;
    }

    fn join(&mut self) {
        self.server.take().unwrap().join().unwrap();
    }
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", Value::Null)
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool }))
}

fn initialize(version: &str) -> Value {
    request(
        "initialize",
        "initialize",
        json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    )
}

fn cancelled(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into() });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Params of a request that needs no session, with the fields that 2026-07-28 requires.
fn self_contained(version: &str) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn ids_come_back_as_they_were() {
    let mut client = Client::start();
    for id in
        [json!(7), json!(-1), json!(0), json!("7"), json!(""), json!(9_007_199_254_740_993_u64)]
    {
        client.send(&ping(id.clone()));
        assert_eq!(client.receive().unwrap(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
}

#[test]
fn requests_of_one_id_are_all_answered() {
    let mut client = Client::start();
    client.send(&call(1, "wait"));
    client.send(&ping(1));
    assert_eq!(client.receive().unwrap()["result"], json!({}));
    client.open_gate();
    assert_eq!(text(&client.receive().unwrap()), "waited");
}

#[test]
fn the_reply_to_a_cancelled_request_never_answers_a_later_one() {
    let mut client = Client::start();
    client.send(&call(1, "wait"));
    client.send(&cancelled(1));
    // Lines are read in order: once this is answered, the cancellation has been read.
    client.send(&ping(2));
    assert_eq!(client.receive().unwrap()["id"], 2);
    client.send(&call(1, "size"));
    client.open_gate();
    assert_eq!(text(&client.receive().unwrap()), "4");
    client.end_input();
    assert_eq!(client.receive(), None);
}

#[test]
fn cancelling_what_is_not_in_flight_changes_nothing() {
    let mut client = Client::start();
    client.send(&cancelled(5));
    client.send(&ping(5));
    assert_eq!(client.receive().unwrap()["id"], 5);
    client.send(&cancelled(5));
    client.send(&ping(6));
    assert_eq!(client.receive().unwrap()["id"], 6);
}

#[test]
fn the_end_of_the_input_waits_for_replies_in_flight() {
    let mut client = Client::start();
    client.send(&call(1, "wait"));
    client.send_bytes(ping(2).to_string().as_bytes());
    client.end_input();
    assert_eq!(client.receive().unwrap()["id"], 2, "a last line without an end counts");
    client.open_gate();
    assert_eq!(client.receive().unwrap()["id"], 1);
    assert_eq!(client.receive(), None);
    client.join();
}

#[test]
fn a_client_that_reads_no_more_ends_the_server() {
    let mut client = Client::start();
    client.output = None;
    client.send(&ping(1));
    client.join();
}

#[test]
fn what_is_in_flight_is_bounded_and_nothing_is_lost() {
    let mut client = Client::start();
    let asked = SHARES as usize + 50;
    for id in 0..asked {
        client.send(&call(id, "wait"));
    }
    client.send_bytes(b"neither is an error\n");
    client.open_gate();
    client.end_input();
    let mut ids: Vec<_> =
        std::iter::from_fn(|| client.receive()).map(|reply| reply["id"].as_u64()).collect();
    ids.sort_unstable();
    let expected: Vec<_> = std::iter::once(None).chain((0..asked as u64).map(Some)).collect();
    assert_eq!(ids, expected);
    assert!(client.most.load(Ordering::SeqCst) <= SHARES as usize);
}

#[test]
fn requests_may_all_be_written_before_a_reply_is_read() {
    let mut client = Client::start();
    for id in 0..10_000 {
        client.send(&ping(id));
    }
    for id in 0..10_000 {
        assert_eq!(client.receive().unwrap()["id"], id);
    }
}

#[test]
fn a_batch_is_answered_with_an_array_where_batches_exist() {
    let mut client = Client::start();
    client.send(&initialize("2025-03-26"));
    client.send(&json!([
        ping(1),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        request(2, "no/such", json!({})),
        7,
        call(3, "size"),
        call(4, "wait"),
        cancelled(4),
    ]));
    assert_eq!(client.receive().unwrap()["id"], "initialize");
    let replies = client.receive().unwrap();
    let mut codes: Vec<_> = replies
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| (reply["id"].as_i64(), reply["error"]["code"].as_i64()))
        .collect();
    codes.sort_unstable();
    let expected =
        [(None, Some(-32600)), (Some(1), None), (Some(2), Some(-32601)), (Some(3), None)];
    assert_eq!(codes, expected);
}

#[test]
fn a_batch_that_asks_nothing_is_not_answered() {
    let mut client = Client::start();
    client.send(&initialize("2025-03-26"));
    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]));
    client.send(&ping(1));
    assert_eq!(client.receive().unwrap()["id"], "initialize");
    assert_eq!(client.receive().unwrap()["id"], 1);
}

#[test]
fn a_batch_is_one_error_where_batches_do_not_exist() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start();
        client.send(&initialize(version));
        client.send(&json!([ping(1)]));
        assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], version);
        let reply = client.receive().unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32600)));
    }
}

#[test]
fn a_long_line_is_taken_and_a_longer_one_refused() {
    let mut client = Client::start();
    let text = "x".repeat(4 * 1024 * 1024);
    let params = json!({ "name": "size", "arguments": { "text": text } });
    client.send(&request(1, "tools/call", params));
    let size = client.receive().unwrap()["result"]["content"][0]["text"].clone();
    assert_eq!(size, (text.len() + r#"{"text":""}"#.len()).to_string());

    client.send_bytes(&vec![b'x'; super::MAX_LINE + 1]);
    client.send_bytes(b"\n");
    client.send(&ping(2));
    assert_eq!(client.receive().unwrap()["error"]["code"], -32600);
    assert_eq!(client.receive().unwrap()["id"], 2);
}

#[test]
fn a_panic_is_an_error_of_its_own_request() {
    let mut client = Client::start();
    client.send(&call(1, "panic"));
    client.send(&ping(2));
    assert_eq!(client.receive().unwrap()["error"]["code"], -32603);
    assert_eq!(client.receive().unwrap()["result"], json!({}));
}

#[test]
fn requests_before_initialize_are_answered() {
    let mut client = Client::start();
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    client.send(&request(2, "prompts/list", Value::Null));
    client.send(&initialize("2025-06-18"));
    assert_eq!(
        client.receive().unwrap(),
        json!({ "jsonrpc": "2.0", "id": 2, "result": { "prompts": [] } })
    );
    assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], "2025-06-18");
}

#[test]
fn initialize_may_come_again_and_its_answer_counts() {
    let mut client = Client::start();
    client.send(&initialize("2024-11-05"));
    // A revision that has no initialize: the newest one that has it is agreed on.
    client.send(&initialize("2026-07-28"));
    client.send(&ping(1));
    client.send(&request(2, "prompts/list", Value::Null));
    assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(client.receive().unwrap()["result"], json!({}));
    assert_eq!(client.receive().unwrap()["result"], json!({ "prompts": [] }));
}

#[test]
fn a_session_of_self_contained_requests_needs_no_initialize() {
    let mut client = Client::start();
    client.send(&request(1, "server/discover", self_contained("2026-07-28")));
    assert_eq!(client.receive().unwrap()["result"]["supportedVersions"][4], "2026-07-28");
    client.send(&request(2, "prompts/list", self_contained("2026-07-28")));
    let result =
        json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "prompts": [] });
    assert_eq!(client.receive().unwrap()["result"], result);
    client.send(&request(3, "prompts/list", Value::Null));
    assert_eq!(client.receive().unwrap()["error"]["code"], -32602);
    client.send(&initialize("2025-11-25"));
    assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], "2025-11-25");
    client.send(&request(4, "prompts/list", Value::Null));
    assert_eq!(client.receive().unwrap()["result"], json!({ "prompts": [] }));
}

#[test]
fn an_unknown_revision_opens_no_session() {
    let mut client = Client::start();
    client.send(&request(1, "prompts/list", self_contained("2099-01-01")));
    assert_eq!(client.receive().unwrap()["error"]["code"], -32022);
    client.send(&request(2, "prompts/list", Value::Null));
    assert_eq!(client.receive().unwrap()["result"], json!({ "prompts": [] }));
}
