//! Callers that mean no good, or are just slow: large, broken and endless bodies, connections that
//! say nothing, and the end in the middle of it all.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::fixtures::world;
use crate::support::app::TestApp;
use crate::support::company::{Company, tool_call};
use crate::support::http::read_reply;
use crate::support::ledger::Ledger;

fn acme() -> Company {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/company");
    Company::start(&world(&folder, "acme"))
}

fn head(company: &Company, more: &str) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         {more}\r\n",
        company.path(),
        company.endpoint.address
    )
}

fn ping() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string()
}

#[test]
fn a_body_that_is_too_large_is_refused_and_one_of_half_a_mebibyte_is_not() {
    let company = acme();
    let large = vec![b' '; 10 << 20];
    let reply = company.endpoint.request("POST", &company.path(), &[], Some(&large));
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], -32600);
    // Without a length, in chunks.
    let mut stream = company.endpoint.connect();
    stream.write_all(head(&company, "Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
    let chunk = vec![b' '; 1 << 20];
    for _ in 0..10 {
        stream.write_all(b"100000\r\n").unwrap();
        stream.write_all(&chunk).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(read_reply(stream).status, 413);
    let description = "\u{1f980}".repeat((512 << 10) / 4);
    let with = json!({ "title": "Large", "description": description });
    let task = company.call("board", "create-task", &with);
    assert_eq!(task["description"], description);
}

#[test]
fn a_body_comes_in_chunks_slowly_and_one_that_breaks_off_changes_nothing() {
    let company = acme();
    let message = tool_call("create-task", &json!({ "title": "Slow" })).to_string();
    let mut stream = company.endpoint.connect();
    stream.write_all(head(&company, "Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
    for part in message.as_bytes().chunks(7) {
        stream.write_all(format!("{:x}\r\n", part.len()).as_bytes()).unwrap();
        stream.write_all(part).unwrap();
        stream.write_all(b"\r\n").unwrap();
        stream.flush().unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let reply = read_reply(stream);
    assert_eq!(reply.status, 200, "{}", reply.body);

    let mut stream = company.endpoint.connect();
    let length = format!("Content-Length: {}\r\n", message.len());
    stream.write_all(head(&company, &length).as_bytes()).unwrap();
    stream.write_all(&message.as_bytes()[..message.len() - 1]).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    assert!(!rest.contains("200 OK"), "{rest}");
    let mut ledger = Ledger::open(&company.app.ledger_path()).unwrap();
    assert_eq!(ledger.column("SELECT title FROM aoa_tasks"), ["Slow"]);
}

#[test]
fn a_thousand_connections_that_say_nothing_keep_nobody_out() {
    let company = acme();
    // Fewer where the system lets this process open no more.
    let mut silent = Vec::new();
    for _ in 0..1000 {
        match std::net::TcpStream::connect(&company.endpoint.address) {
            Ok(stream) => silent.push(stream),
            Err(_) => break,
        }
        if silent.len() > 900 {
            break;
        }
    }
    drop(silent.split_off(silent.len().saturating_sub(20)));
    assert!(silent.len() > 600, "{} connections are too few to tell", silent.len());
    for _ in 0..3 {
        assert_eq!(company.call("alice", "me", &Value::Null)["name"], "alice");
    }
    // Those that had to make room were closed, the oldest first.
    let mut first = silent.swap_remove(0);
    first.set_read_timeout(Some(crate::support::http::PATIENCE)).unwrap();
    assert_eq!(first.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn several_requests_come_over_one_connection() {
    let company = acme();
    let mut stream = company.endpoint.connect();
    let body = ping();
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        company.path(),
        company.endpoint.address,
        body.len()
    );
    // One after the other, without waiting for the first answer.
    stream.write_all(request.repeat(3).as_bytes()).unwrap();
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while text.matches("\"result\":{}").count() < 3 {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

/// SIGTERM under load: what was acknowledged is in the ledger, and the end is a clean one.
#[cfg(unix)]
#[test]
fn a_signal_lets_the_calls_in_flight_end_and_loses_no_acknowledged_write() {
    let company = acme();
    let (acknowledged, stop) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let address = company.endpoint.address.clone();
    let company = &company;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (acknowledged, stop, address) = (&acknowledged, &stop, &address);
            scope.spawn(move || {
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let title = format!("Task {number} of {writer}");
                    let body = tool_call("create-task", &json!({ "title": title })).to_string();
                    let Ok(mut stream) = std::net::TcpStream::connect(address) else { break };
                    stream.set_read_timeout(Some(crate::support::http::PATIENCE)).unwrap();
                    let length = format!("Content-Length: {}\r\n", body.len());
                    let request = head(company, &length) + &body;
                    if stream.write_all(request.as_bytes()).is_err() {
                        break;
                    }
                    let mut reply = String::new();
                    let _ = stream.read_to_string(&mut reply);
                    if reply.starts_with("HTTP/1.1 200") && reply.contains("\"result\"") {
                        acknowledged.lock().unwrap().push(title);
                    }
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 20 {
            std::thread::yield_now();
        }
        let kill = std::process::Command::new("kill")
            .args(["-TERM", &company.endpoint.process_id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        stop.store(true, Ordering::Relaxed);
    });
    let path = company.app.ledger_path();
    let mut ledger = Ledger::open(&path).unwrap();
    let kept = ledger.column("SELECT title FROM aoa_tasks");
    for title in acknowledged.lock().unwrap().iter() {
        assert!(kept.contains(title), "{title} was acknowledged and is lost");
    }
    let verified = company.app.govforge(&["audit", "verify", "--strict"]);
    assert!(verified.status.success(), "{verified:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_is_a_clean_end() {
    let company = acme();
    let silent = company.endpoint.connect();
    let id = company.endpoint.process_id().to_string();
    let kill = std::process::Command::new("kill").args(["-TERM", &id]).status();
    assert!(kill.unwrap().success());
    let (code, stderr) = company.endpoint.wait();
    assert_eq!(code, Some(0), "{stderr}");
    drop(silent);
}

#[test]
fn who_trusts_everybody_listens_on_the_loopback_alone() {
    let app = TestApp::empty().with_env("GOVFORGE_DB", "ledger.db");
    let mut command = app.command();
    let command = command.args(["serve", "--listen", "0.0.0.0:0"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--mode authenticated"), "{text}");
}
