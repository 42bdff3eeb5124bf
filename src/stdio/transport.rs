//! JSON-RPC over two byte streams, one message a line, for clients that are not perfect.
//!
//! rmcp's own transport drops what it cannot read. This one owes an answer to every line
//! that may wait for one:
//!
//! | line | answer |
//! | --- | --- |
//! | blank; a response; a notification that is unknown or wrong | none |
//! | no JSON, no UTF-8, nested more than 127 deep | -32700 |
//! | JSON but no message, an id that is no string or whole number, an empty batch | -32600 |
//! | longer than 16 MiB (the rest of it is read over) | -32600 |
//! | a request of an unknown method | -32601 |
//! | a request with wrong params | -32602 |
//!
//! The error bears the id of the message where one can be read, else null. `params: null` is
//! like none. A byte order mark, CRLF and a last line without an end are accepted. Escapes of
//! lone surrogates stand for U+FFFD.
//!
//! A batch is answered with an array where the client negotiated 2025-03-26, the only
//! revision that has batches, and with one error -32600 elsewhere.
//!
//! What is in flight is bounded: past that, requests wait in the input, of which 16 MiB are
//! read ahead. At the end of the input the transport reports it only when every request has
//! its answer, and that is written.

mod lines;
mod message;
mod output;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcError,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use lines::{Line, Lines, MAX_LINE};
use message::{Content, Message};
use output::Output;

/// Everything in flight together takes this many shares: a line takes one, and one more for
/// each [`SHARE`] of its length.
const SHARES: u32 = 256;

/// The length that takes one more share, in bytes.
const SHARE: usize = 64 * 1024;

/// How long the end of the input waits for another reply: longer than a write may wait for
/// the ledger's lock (30 s).
const DRAIN: Duration = Duration::from_secs(45);

/// The transport of one client.
pub(super) struct LineTransport {
    lines: Lines,
    output: Output,
    shares: Arc<Semaphore>,
    /// A line that was taken and waits for its share.
    held: Option<Line>,
    ready: VecDeque<ClientJsonRpcMessage>,
    asked: HashMap<i64, Asked>,
    batches: HashMap<i64, Batch>,
    /// What this server asked of the client and has no answer to.
    questions: HashSet<RequestId>,
    last_key: i64,
    takes_batches: bool,
    /// The line just taken holds `initialize`, and decides how the next ones are read.
    initializing: bool,
}

/// A request in flight.
///
/// Inside the server it bears a key in place of the client's id: ids of requests in flight
/// may be equal, and an id may be used again while a cancelled request still runs.
struct Asked {
    id: RequestId,
    home: Home,
}

/// Where an answer goes.
enum Home {
    Alone(OwnedSemaphorePermit),
    Batch(i64),
}

struct Batch {
    open: usize,
    replies: Vec<Vec<u8>>,
    share: OwnedSemaphorePermit,
}

impl LineTransport {
    /// Starts to read `input` and to write to `output`, each on a thread of its own.
    ///
    /// # Errors
    ///
    /// The system refuses the threads.
    pub(super) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self {
            lines: Lines::read(input)?,
            output: Output::write(output)?,
            shares: Arc::new(Semaphore::new(SHARES as usize)),
            held: None,
            ready: VecDeque::new(),
            asked: HashMap::new(),
            batches: HashMap::new(),
            questions: HashSet::new(),
            last_key: 0,
            takes_batches: false,
            initializing: false,
        })
    }

    /// Takes a line, once there is a share for it; `None` at the end of the input.
    async fn next(&mut self) -> Option<(Line, OwnedSemaphorePermit)> {
        if self.initializing {
            drop(self.shares.acquire_many(SHARES).await);
            self.initializing = false;
        }
        if self.held.is_none() {
            self.held = self.lines.next().await;
        }
        let extra = u32::try_from(self.held.as_ref()?.len() / SHARE).unwrap_or(SHARES);
        let share = self.shares.clone().acquire_many_owned(SHARES.min(1 + extra)).await.ok()?;
        self.held.take().map(|line| (line, share))
    }

    /// Waits until every share is back: all that was asked is answered, and that is written.
    async fn drain(&self) {
        if tokio::time::timeout(DRAIN, self.shares.acquire_many(SHARES)).await.is_err() {
            tracing::warn!(in_flight = self.asked.len(), "ended with requests in flight");
        }
    }

    fn accept(&mut self, line: &Line, share: OwnedSemaphorePermit) {
        let content = match line {
            Line::Text(text) => message::read(text),
            Line::TooLong => Content::One(Message::Rejected(
                None,
                ErrorData::invalid_request(
                    format!("Invalid request: the line is longer than {MAX_LINE} bytes"),
                    None,
                ),
            )),
        };
        match content {
            Content::Blank => {}
            Content::One(message) => self.open(message, || Home::Alone(share)),
            Content::Batch(messages) if self.takes_batches => self.open_batch(messages, share),
            Content::Batch(_) => {
                let error = ErrorData::invalid_request(
                    "Invalid request: batches exist only in revision 2025-03-26; send one \
                     message a line",
                    None,
                );
                self.output.push(error_line(None, &error), Some(share));
            }
        }
    }

    fn open_batch(&mut self, messages: Vec<Message>, share: OwnedSemaphorePermit) {
        let owed =
            |message: &&Message| matches!(message, Message::Request(..) | Message::Rejected(..));
        let open = messages.iter().filter(owed).count();
        self.last_key += 1;
        let key = self.last_key;
        self.batches.insert(key, Batch { open, replies: Vec::new(), share });
        for message in messages {
            self.open(message, || Home::Batch(key));
        }
        if open == 0 {
            self.batches.remove(&key);
        }
    }

    fn open(&mut self, message: Message, home: impl FnOnce() -> Home) {
        match message {
            Message::Request(id, request) => {
                self.initializing |= matches!(*request, ClientRequest::InitializeRequest(_));
                self.last_key += 1;
                self.asked.insert(self.last_key, Asked { id, home: home() });
                let key = RequestId::Number(self.last_key);
                self.ready.push_back(ClientJsonRpcMessage::request(*request, key));
            }
            Message::Told(message) => self.tell(*message),
            Message::Ignored => {}
            Message::Rejected(id, error) => self.settle(home(), Some(error_line(id, &error))),
        }
    }

    fn tell(&mut self, mut message: ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(told) = &mut message
            && let ClientNotification::CancelledNotification(cancelled) = &mut told.notification
        {
            let id = cancelled.params.request_id.as_ref();
            let newest = self.asked.iter().filter(|(_, asked)| Some(&asked.id) == id);
            let Some(key) = newest.map(|(key, _)| *key).max() else { return };
            cancelled.params.request_id = Some(RequestId::Number(key));
            // rmcp sends no reply to a cancelled request.
            if let Some(asked) = self.asked.remove(&key) {
                self.settle(asked.home, None);
            }
        }
        match &message {
            JsonRpcMessage::Response(response) => drop(self.questions.remove(&response.id)),
            JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => {
                self.questions.remove(id);
            }
            _ => {}
        }
        self.ready.push_back(message);
    }

    /// At the end of the input nobody answers any more: the calls that wait for the client
    /// are told, and can still be answered themselves.
    fn give_up_questions(&mut self) {
        for id in std::mem::take(&mut self.questions) {
            let error = ErrorData::internal_error("The client closed its output", None);
            self.ready.push_back(ClientJsonRpcMessage::error(error, Some(id)));
        }
    }

    /// Sends the reply home, `None` where there will be none.
    fn settle(&mut self, home: Home, reply: Option<Vec<u8>>) {
        match (home, reply) {
            (Home::Alone(share), Some(reply)) => self.output.push(reply, Some(share)),
            (Home::Alone(_), None) => {}
            (Home::Batch(key), reply) => {
                let Some(batch) = self.batches.get_mut(&key) else { return };
                batch.replies.extend(reply);
                batch.open -= 1;
                if batch.open == 0
                    && let Some(batch) = self.batches.remove(&key)
                    && !batch.replies.is_empty()
                {
                    self.output.push(array_line(&batch.replies), Some(batch.share));
                }
            }
        }
    }

    fn reply(&mut self, mut message: ServerJsonRpcMessage) {
        let key = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(request) => {
                self.questions.insert(request.id.clone());
                return self.output.push(line(&message), None);
            }
            JsonRpcMessage::Notification(_) => return self.output.push(line(&message), None),
        };
        let asked = match key {
            Some(RequestId::Number(key)) => self.asked.remove(key),
            _ => None,
        };
        let Some(asked) = asked else { return };
        match &mut message {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(result) = &response.result {
                    self.takes_batches = result.protocol_version == ProtocolVersion::V_2025_03_26;
                }
                response.id = asked.id;
            }
            JsonRpcMessage::Error(error) => error.id = Some(asked.id),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        self.settle(asked.home, Some(line(&message)));
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    /// Queues the message. When nobody reads it, that shows as the end of the input.
    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.reply(message);
        std::future::ready(Ok(()))
    }

    /// The next message. Dropping the future loses nothing.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let broken = self.output.broken();
            let next = tokio::select! {
                biased;
                () = broken => return None,
                next = self.next() => next,
            };
            let Some((line, share)) = next else {
                if !self.questions.is_empty() {
                    self.give_up_questions();
                    continue;
                }
                tokio::select! {
                    () = self.output.broken() => {}
                    () = self.drain() => {}
                }
                return None;
            };
            self.accept(&line, share);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.close().await;
        Ok(())
    }
}

fn line(message: &impl serde::Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("the keys of every message are strings");
    line.push(b'\n');
    line
}

/// JSON-RPC wants `"id": null` where rmcp leaves the id out.
fn error_line(id: Option<RequestId>, error: &ErrorData) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

fn array_line(replies: &[Vec<u8>]) -> Vec<u8> {
    let members: Vec<_> = replies.iter().map(|reply| reply.trim_ascii_end()).collect();
    [b"[".as_slice(), &members.join(&b','), b"]\n"].concat()
}
