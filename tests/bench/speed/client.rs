//! A client that adds as little as possible to what it measures: it writes a line and reads
//! one, on its own thread.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, last_id: 0 }
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub fn initialize(&mut self) {
        let client = json!({ "name": "speed", "version": "1" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
        });
        self.request("initialize", &params);
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.stdin.write_all(format!("{told}\n").as_bytes()).unwrap();
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.timed(method, params).1
    }

    /// The reply, and the time from the first byte sent to the last one read.
    pub fn timed(&mut self, method: &str, params: &Value) -> (Duration, Value) {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = format!("{request}\n");
        let mut line = String::new();
        let begin = Instant::now();
        self.stdin.write_all(request.as_bytes()).unwrap();
        self.stdout.read_line(&mut line).unwrap();
        let elapsed = begin.elapsed();
        let reply: Value = serde_json::from_str(&line).expect("an answer");
        assert_eq!(reply["id"], json!(id));
        (elapsed, reply)
    }

    /// Calls a tool that must succeed.
    pub fn call(&mut self, tool: &str, arguments: &Value) {
        let reply = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert!(reply["result"]["structuredContent"].is_object(), "{tool}: {reply}");
    }

    pub fn end(mut self) {
        drop(self.stdin);
        self.child.wait().unwrap();
    }
}

/// The most memory that a process had so far, of its own and shared, as text.
pub fn memory_peak(process_id: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process_id}/status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.map_or_else(|| "not known here".to_owned(), |kib| format!("{:.1} MiB", kib / 1024.0))
}
