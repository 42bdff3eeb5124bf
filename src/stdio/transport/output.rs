//! The lines of the output, written by a thread of their own.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};

/// How often an output that does not block is asked again.
const RETRY: Duration = Duration::from_millis(2);

/// How long the last lines may take once there will be no more.
const CLOSING: Duration = Duration::from_secs(1);

/// A line to be written, and the share that is free again when that is done.
type Queued = (Vec<u8>, Option<OwnedSemaphorePermit>);

/// Writes whole lines in the order in which they come.
pub(super) struct Output {
    queue: Option<mpsc::Sender<Queued>>,
    broken: watch::Receiver<bool>,
}

impl Output {
    /// Starts the thread that writes to `output`.
    ///
    /// # Errors
    ///
    /// The system refuses another thread.
    pub(super) fn write(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, lines) = mpsc::channel();
        let (report, broken) = watch::channel(false);
        thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || write_all(&lines, output, &report))?;
        Ok(Self { queue: Some(queue), broken })
    }

    /// Queues a line, which ends in a line feed.
    pub(super) fn push(&self, line: Vec<u8>, share: Option<OwnedSemaphorePermit>) {
        if let Some(queue) = &self.queue {
            // The thread ends only after the queue does.
            let _ = queue.send((line, share));
        }
    }

    /// A future that ends when nobody reads the output any more.
    pub(super) fn broken(&self) -> impl Future<Output = ()> + use<> {
        let mut broken = self.broken.clone();
        async move {
            if broken.wait_for(|broken| *broken).await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Takes no more lines and waits a second at most until the queued ones are written.
    pub(super) async fn close(&mut self) {
        self.queue = None;
        let ended = async { while self.broken.changed().await.is_ok() {} };
        if tokio::time::timeout(CLOSING, ended).await.is_err() {
            tracing::debug!("the client does not read; the last replies are given up");
        }
    }
}

fn write_all(lines: &mpsc::Receiver<Queued>, mut output: impl Write, report: &watch::Sender<bool>) {
    for (line, share) in lines {
        if *report.borrow() {
            continue;
        }
        if let Err(error) = write_line(&mut output, &line) {
            tracing::debug!(%error, "the output is closed");
            report.send_replace(true);
        }
        drop(share);
    }
}

fn write_line(output: &mut impl Write, line: &[u8]) -> io::Result<()> {
    let mut rest = line;
    while !rest.is_empty() {
        match output.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) => retry(error)?,
        }
    }
    while let Err(error) = output.flush() {
        retry(error)?;
    }
    Ok(())
}

/// `Ok` when the same can be tried again, for example on a pipe that does not block.
fn retry(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock => {
            thread::sleep(RETRY);
            Ok(())
        }
        _ => Err(error),
    }
}
