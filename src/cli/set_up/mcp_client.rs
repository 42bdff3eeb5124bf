//! A small MCP client over the pipes of a child process: what an agent's program does when
//! it starts `govforge`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::cli::Failure;

/// A server that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often, and how long each time, a server that fell silent is given to end.
const GRACE_STEPS: u32 = 40;
const GRACE_STEP: Duration = Duration::from_millis(50);

/// A running server and the conversation with it.
pub struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<String>,
    log: PathBuf,
    last_id: u64,
    server: String,
}

/// A command that runs this same binary in `directory` with nothing of the caller's
/// environment but what programs need to start at all: the demo shows what a fresh machine
/// would, whatever `GOVFORGE_DB` or `GIT_DIR` say here, or a token that is kept at home.
#[allow(clippy::disallowed_methods, reason = "the demo plays the client, which starts the server")]
pub fn this_binary(directory: &Path) -> Result<Command, Failure> {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::Fault(format!("The path of this program is unknown: {error}")))?;
    let mut command = Command::new(binary);
    command.current_dir(directory).env_clear();
    // Without one, the home directory is that of the account.
    command.env("HOME", directory).env("USERPROFILE", directory);
    for name in ["SystemRoot", "TEMP", "TMP", "TMPDIR", "RUST_LOG"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// A command as a client's configuration gives it, started in `directory` with the caller's
/// environment and the given variables.
#[allow(
    clippy::disallowed_methods,
    reason = "the doctor plays the client, which starts the server"
)]
pub fn configured(
    program: &Path,
    arguments: &[String],
    variables: &BTreeMap<String, String>,
    directory: &Path,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).envs(variables).current_dir(directory);
    command
}

impl Client {
    /// Starts a server and shakes hands. Its log goes to the file `log`.
    ///
    /// # Errors
    /// The server does not start, ends, or refuses the handshake.
    pub fn start(mut command: Command, log: PathBuf) -> Result<Self, Failure> {
        let started = File::create(&log).and_then(|stderr| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn()
        });
        let mut child = started
            .map_err(|error| Failure::Fault(format!("The server could not be started: {error}")))?;
        let requests = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("stdout was piped")).lines();
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut client = Self { child, requests, replies, log, last_id: 0, server: String::new() };
        let greeting = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "govforge", "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        client.server = greeting["serverInfo"]["name"].as_str().unwrap_or_default().to_owned();
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// What the server calls itself.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// A JSON-RPC error, or a server that ends or falls silent.
    pub fn request(&mut self, method: &str, params: Json) -> Result<Json, Failure> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let line = match self.replies.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(self.silent(method)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(method)),
            };
            let reply: Json = serde_json::from_str(&line).map_err(|_| {
                Failure::Fault(format!("The server wrote something that is not JSON: {line}"))
            })?;
            if reply["id"] != id {
                continue;
            }
            if let Some(error) = reply.get("error") {
                return Err(Failure::Fault(format!(
                    "The server answered `{method}` with error {}: {}",
                    error["code"],
                    error["message"].as_str().unwrap_or_default(),
                )));
            }
            return Ok(reply["result"].clone());
        }
    }

    /// Calls a tool and gives its structured result.
    ///
    /// # Errors
    /// As [`Client::request`], and a call that the server refuses.
    pub fn call(&mut self, tool: &str, arguments: &Json) -> Result<Json, Failure> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        if result["isError"] == true {
            let reason = result["content"][0]["text"].as_str().unwrap_or_default();
            return Err(Failure::Refused(format!("The server refused `{tool}`. {reason}")));
        }
        Ok(result["structuredContent"].clone())
    }

    /// Reads a resource and gives the JSON it holds.
    ///
    /// # Errors
    /// As [`Client::request`], and content that is not JSON.
    pub fn read(&mut self, uri: &str) -> Result<Json, Failure> {
        let result = self.request("resources/read", json!({"uri": uri}))?;
        let text = result["contents"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text)
            .map_err(|_| Failure::Fault(format!("The resource {uri} holds no JSON: {text}")))
    }

    /// Closes the conversation and waits for the server to end.
    ///
    /// # Errors
    /// It ends with anything but 0.
    pub fn close(mut self) -> Result<(), Failure> {
        self.requests = None;
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.died("after the last call", status)),
            Err(error) => Err(Failure::Fault(format!("The server is lost: {error}"))),
        }
    }

    fn send(&mut self, message: &Json) -> Result<(), Failure> {
        let sent = self.requests.as_mut().map(|pipe| {
            writeln!(pipe, "{message}")?;
            pipe.flush()
        });
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended(message["method"].as_str().unwrap_or_default())),
        }
    }

    fn silent(&self, method: &str) -> Failure {
        Failure::Fault(format!(
            "The server has not answered `{method}` for {} seconds.{}",
            PATIENCE.as_secs(),
            self.last_words(),
        ))
    }

    fn ended(&mut self, method: &str) -> Failure {
        match self.end() {
            Ok(status) => self.died(&format!("instead of answering `{method}`"), status),
            Err(error) => Failure::Fault(format!("The server is lost: {error}")),
        }
    }

    /// Waits for a server that has closed its output; one that goes on running is killed.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        self.requests = None;
        for _ in 0..GRACE_STEPS {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(GRACE_STEP);
        }
        self.child.kill()?;
        self.child.wait()
    }

    fn died(&self, when: &str, status: ExitStatus) -> Failure {
        let how = match status.code() {
            Some(code) => format!("with exit code {code}"),
            None => "by a signal".to_owned(),
        };
        Failure::Fault(format!("The server ended {how} {when}.{}", self.last_words()))
    }

    fn last_words(&self) -> String {
        match std::fs::read_to_string(&self.log) {
            Ok(text) if !text.trim().is_empty() => format!(" Its log:\n{}", text.trim_end()),
            _ => " Its log is empty.".to_owned(),
        }
    }
}

/// No server outlives the verb, also when a step failed.
impl Drop for Client {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
