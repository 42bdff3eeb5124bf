//! The server as a child process, and the client's end of the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Long enough for a machine under load; reached only when an answer is missing.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a client speaks: its revision decides the handshake.
pub struct Client {
    revision: String,
    handshake: bool,
    capabilities: Value,
}

impl Client {
    /// A client of that revision: with `initialize`, or from 2026-07-28 on with `_meta` in
    /// every request.
    pub fn of(revision: &str) -> Self {
        Self { revision: revision.to_owned(), handshake: true, capabilities: json!({}) }
    }

    /// A client that sends nothing by itself.
    pub fn silent() -> Self {
        Self { handshake: false, ..Self::of("") }
    }

    /// The client can show its user a form.
    pub fn that_can_ask(mut self) -> Self {
        self.capabilities = json!({ "elicitation": {} });
        self
    }

    fn sends_meta(&self) -> bool {
        self.revision.as_str() >= "2026-07-28"
    }
}

/// A running server. Every line that it prints is checked to be JSON-RPC.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Result<Value, String>>,
    stderr: Option<JoinHandle<String>>,
    meta: Option<Value>,
    last_id: u64,
}

impl Server {
    /// Starts the command and shakes hands.
    pub fn start(mut command: Command, client: &Client) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n') {
                let Ok(line) = line else { break };
                if sender.send(read_message(&line)).is_err() {
                    break;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let meta = client.sends_meta().then(|| {
            json!({
                "io.modelcontextprotocol/protocolVersion": client.revision,
                "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": client.capabilities,
            })
        });
        let stdin = child.stdin.take();
        let mut server = Self { child, stdin, lines, stderr: Some(stderr), meta, last_id: 0 };
        if client.handshake && !client.sends_meta() {
            let mut params = initialize_params(&client.revision);
            params["capabilities"] = client.capabilities.clone();
            let reply = server.request("initialize", params);
            assert!(reply.get("result").is_some(), "initialize failed: {reply}");
            server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        server
    }

    /// The operating system's id of the process.
    #[cfg(target_os = "linux")]
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message as it is.
    pub fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// Sends a request and waits for its reply: `{"result": ..}` or `{"error": ..}`.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.reply_to(id)
    }

    /// Sends a request without waiting; gives its id.
    pub fn post(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if let Some(meta) = &self.meta {
            if params.is_null() {
                params = json!({});
            }
            params["_meta"] = meta.clone();
        }
        let mut message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        self.last_id
    }

    /// Waits for the reply with that id; what the server says meanwhile is passed over.
    pub fn reply_to(&mut self, id: u64) -> Value {
        self.replies_to(&[id]).remove(0)
    }

    /// Waits for the replies with these ids, in whatever order they come.
    pub fn replies_to(&mut self, ids: &[u64]) -> Vec<Value> {
        let mut replies = vec![Value::Null; ids.len()];
        while replies.contains(&Value::Null) {
            let line = self.lines.recv_timeout(PATIENCE);
            let mut message = match line {
                Ok(Ok(message)) => message,
                Ok(Err(wrong)) => panic!("stdout holds something else than JSON-RPC: {wrong}"),
                Err(_) => panic!("no reply to one of {ids:?}; stderr: {}", self.end()),
            };
            let place = ids.iter().position(|id| message["id"] == json!(id));
            if let (Some(place), None) = (place, message.get("method")) {
                let fields = message.as_object_mut().unwrap();
                fields.shift_remove("jsonrpc");
                fields.shift_remove("id");
                replies[place] = message;
            }
        }
        replies
    }

    /// Waits for a request of the server's own; gives its id and the request.
    pub fn question(&mut self) -> (Value, Value) {
        loop {
            let message = match self.lines.recv_timeout(PATIENCE) {
                Ok(Ok(message)) => message,
                Ok(Err(wrong)) => panic!("stdout holds something else than JSON-RPC: {wrong}"),
                Err(_) => panic!("the server asks nothing; stderr: {}", self.end()),
            };
            assert!(message.get("method").is_some(), "an answer instead of a question: {message}");
            if !message["id"].is_null() {
                return (message["id"].clone(), message);
            }
        }
    }

    /// Answers a request of the server's own.
    pub fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Calls a tool: the structured result, or the text of the refusal or the error.
    pub fn try_call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.request("tools/call", params);
        if reply.get("error").is_some() || reply["result"]["isError"] == json!(true) {
            let text = reply["result"]["content"][0]["text"].as_str().map(str::to_owned);
            return Err(text.unwrap_or_else(|| reply.to_string()));
        }
        Ok(reply["result"]["structuredContent"].clone())
    }

    /// Calls a tool that must succeed.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        match self.try_call(tool, arguments) {
            Ok(result) => result,
            Err(text) => panic!("{tool} failed: {text}"),
        }
    }

    /// Closes stdin and waits for the end: exit code 0, and nothing but JSON-RPC on stdout.
    /// Gives what it wrote to stderr.
    pub fn close(mut self) -> String {
        self.stdin = None;
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "the server outlives the end of its input");
            std::thread::sleep(Duration::from_millis(2));
        };
        let stderr = self.end();
        assert!(status.success(), "the server ended with {status}; stderr: {stderr}");
        for line in self.lines.try_iter() {
            line.unwrap_or_else(|wrong| panic!("stdout holds something else: {wrong}"));
        }
        stderr
    }

    /// Kills the process at once, and gives what it had said until then.
    pub fn kill(mut self) -> Vec<Value> {
        self.stdin = None;
        self.end();
        // It may have been in the middle of a line.
        self.lines.iter().filter_map(Result::ok).collect()
    }

    fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a client of that revision sends as `initialize`.
pub fn initialize_params(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "suite", "version": "1" },
    })
}

fn read_message(line: &[u8]) -> Result<Value, String> {
    let text = || String::from_utf8_lossy(line).into_owned();
    let message: Value = serde_json::from_slice(line).map_err(|_| text())?;
    let is_reply = message.get("result").is_some() != message.get("error").is_some();
    if message["jsonrpc"] == "2.0" && (is_reply || message.get("method").is_some()) {
        Ok(message)
    } else {
        Err(text())
    }
}
