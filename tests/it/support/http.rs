//! `govforge serve` as a child process, and an HTTP client that sends exactly what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a machine under load; reached only when an answer is missing.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running endpoint.
pub struct Endpoint {
    child: Child,
    /// Such as `127.0.0.1:40837`.
    pub address: String,
    stderr: Option<JoinHandle<String>>,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, which must be JSON; null for none.
    pub fn json(&self) -> Value {
        match self.body.as_str() {
            "" => Value::Null,
            body => serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body}")),
        }
    }
}

impl Endpoint {
    /// Starts `govforge serve` on a free port, with further arguments.
    pub fn start(mut command: Command, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the endpoint starts");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut greeting = String::new();
        while !greeting.contains("govforge serves") {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended: {greeting}");
            greeting.push_str(&line);
        }
        let address = greeting.split("http://").nth(1).unwrap().split('/').next().unwrap();
        let address = address.to_owned();
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            greeting + &String::from_utf8_lossy(&text)
        });
        Self { child, address, stderr: Some(stderr) }
    }

    /// The operating system's id of the process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// A connection that has said nothing yet.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the endpoint accepts");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request on a connection of its own and waits for the reply. `Host`,
    /// `Content-Length` and, with a body, `Content-Type` are added unless given.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Option<&[u8]>,
    ) -> Reply {
        let mut stream = self.connect();
        let has = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let mut add = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
        if !has("host") {
            add("Host", &self.address);
        }
        if let Some(body) = body {
            if !has("content-type") {
                add("Content-Type", "application/json");
            }
            if !has("content-length") && !has("transfer-encoding") {
                add("Content-Length", &body.len().to_string());
            }
        }
        headers.iter().for_each(|(name, value)| add(name, value));
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses the head may have closed by now.
        let _ = stream.write_all(body.unwrap_or_default());
        read_reply(stream)
    }

    /// Waits for the end after a signal or by itself: the exit code, and what it wrote to stderr.
    pub fn wait(mut self) -> (Option<i32>, String) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "the endpoint does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        (status.code(), self.end())
    }

    fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads the reply that a connection gives.
pub fn read_reply(stream: TcpStream) -> Reply {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a reply comes");
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no reply: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Reply { status, headers, body: String::from_utf8(body).unwrap() }
}
