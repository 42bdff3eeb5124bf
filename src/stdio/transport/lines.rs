//! The lines of the input, read by a thread of their own.
//!
//! A thread, because a read of stdin cannot be interrupted: on the runtime it would keep the
//! process from ending.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

/// The longest line that is taken, in bytes, its end not counted: 16 MiB, rmcp's own limit.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;

/// How much is read ahead of the server, in bytes.
///
/// A client may write all its requests before it reads the first reply. As long as they fit
/// in here, it is not held up.
const READ_AHEAD: usize = MAX_LINE;

/// What a line costs beside its text, in bytes.
const OVERHEAD: usize = 64;

const CHUNK: usize = 64 * 1024;

/// How often an input that does not block is asked again.
const RETRY: Duration = Duration::from_millis(10);

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The text, without its end.
    Text(Vec<u8>),
    /// A line longer than [`MAX_LINE`]; it was read over.
    TooLong,
}

impl Line {
    /// The length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::TooLong => 0,
        }
    }
}

/// The lines that were read and not yet taken.
pub(super) struct Lines {
    queue: mpsc::UnboundedReceiver<Line>,
    ahead: Arc<Ahead>,
}

impl Lines {
    /// Starts the thread that reads `input` until its end. A last line without an end counts.
    ///
    /// # Errors
    ///
    /// The system refuses another thread.
    pub(super) fn read(input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, queue) = mpsc::unbounded_channel();
        let ahead = Arc::<Ahead>::default();
        let reader = Reader { sender, ahead: ahead.clone(), line: Vec::new(), too_long: false };
        thread::Builder::new().name("stdin".to_owned()).spawn(move || reader.run(input))?;
        Ok(Self { queue, ahead })
    }

    /// The next line, `None` at the end of the input. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Line> {
        let line = self.queue.recv().await?;
        self.ahead.give_back(line.len() + OVERHEAD);
        Some(line)
    }
}

/// The bytes that were read ahead.
#[derive(Default)]
struct Ahead {
    bytes: Mutex<usize>,
    shrunk: Condvar,
}

impl Ahead {
    /// Waits until there is room, then takes it. A line larger than all the room gets in alone.
    fn take(&self, bytes: usize) {
        let held = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = self
            .shrunk
            .wait_while(held, |held| *held > 0 && *held + bytes > READ_AHEAD)
            .unwrap_or_else(PoisonError::into_inner);
        *held += bytes;
    }

    fn give_back(&self, bytes: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
        self.shrunk.notify_one();
    }
}

struct Reader {
    sender: mpsc::UnboundedSender<Line>,
    ahead: Arc<Ahead>,
    line: Vec<u8>,
    too_long: bool,
}

impl Reader {
    fn run(mut self, mut input: impl Read) {
        let mut chunk = vec![0; CHUNK];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => {
                    if !self.split(&chunk[..read]) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(RETRY),
                Err(error) => {
                    tracing::debug!(%error, "the input cannot be read further");
                    break;
                }
            }
        }
        if self.too_long || !self.line.is_empty() {
            self.end_line();
        }
    }

    /// Cuts a chunk into lines; `false` when nobody takes them any more.
    fn split(&mut self, chunk: &[u8]) -> bool {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            if self.too_long || self.line.len() + text.len() > MAX_LINE {
                self.too_long = true;
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(text);
            }
            if ends && !self.end_line() {
                return false;
            }
        }
        true
    }

    fn end_line(&mut self) -> bool {
        let text = std::mem::take(&mut self.line);
        let line =
            if std::mem::take(&mut self.too_long) { Line::TooLong } else { Line::Text(text) };
        self.ahead.take(line.len() + OVERHEAD);
        self.sender.send(line).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: impl Read + Send + 'static) -> Vec<Line> {
        let mut lines = Lines::read(input).unwrap();
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn text(text: &[u8]) -> Line {
        Line::Text(text.to_vec())
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        assert_eq!(
            all(&b"a\n\nb\r\nc"[..]).await,
            [text(b"a"), text(b""), text(b"b\r"), text(b"c")]
        );
        assert_eq!(all(&b"a\n"[..]).await, [text(b"a")]);
        assert_eq!(all(&b""[..]).await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_read_over() {
        let fits = io::repeat(b'x').take(MAX_LINE as u64).chain(&b"\nb\n"[..]);
        assert_eq!(all(fits).await, [text(&vec![b'x'; MAX_LINE]), text(b"b")]);
        let over = io::repeat(b'x').take(3 * MAX_LINE as u64).chain(&b"\nb\n"[..]);
        assert_eq!(all(over).await, [Line::TooLong, text(b"b")]);
        let unended = io::repeat(b'x').take(MAX_LINE as u64 + 1);
        assert_eq!(all(unended).await, [Line::TooLong]);
    }

    #[tokio::test]
    async fn an_input_that_does_not_block_is_asked_again() {
        struct Reluctant(u32);
        impl Read for Reluctant {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => Err(io::ErrorKind::WouldBlock.into()),
                    2 => Err(io::ErrorKind::Interrupted.into()),
                    3 => (&b"a\n"[..]).read(buffer),
                    _ => Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
        }
        assert_eq!(all(Reluctant(0)).await, [text(b"a")]);
    }
}
