//! Serving one client over stdin and stdout, from the first byte to the exit.

use std::io::{self, IsTerminal as _, Write as _};

use rmcp::ServerHandler;
use rmcp::service::serve_directly;
use tokio::runtime::Builder;

use crate::error::{Error, Result};
use crate::stdio::session::Session;
use crate::stdio::transport::LineTransport;
use crate::stdio::watch::Watch;

const GREETING: &str = "\
govforge speaks MCP on stdin and stdout and now waits for a client's messages, one JSON a line.
It is meant to be started by a client: `govforge --help` says how to wire it. Ctrl-C ends it.
";

/// Serves MCP until the client closes stdin or stdout, a signal arrives or the parent ends.
///
/// `handler` is made inside the runtime; `finish` is awaited when nothing is in flight any
/// more. At the end of stdin the replies in flight are sent
/// first; after a signal they have a third of a second. Either way the caller should end the
/// process at once, with exit code 0: work that cannot be interrupted may still be running on
/// other threads, and it must not hold the process back.
///
/// # Errors
///
/// A fault when the system refuses a thread, or the protocol's loop fails.
pub fn serve<H: ServerHandler>(
    handler: impl FnOnce() -> H,
    finish: impl Future<Output = ()>,
) -> Result<()> {
    if io::stdin().is_terminal() {
        // A person who closed stderr does not want to read it.
        let _ = io::stderr().write_all(GREETING.as_bytes());
    }
    let refused = |error: io::Error| Error::fault("The server cannot start", error);
    let watch = Watch::install().map_err(refused)?;
    // One thread: what takes long runs on the blocking threads, and a handshake that is
    // handled in order needs no locks.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(refused)?;
    let served = runtime.block_on(async {
        let transport = LineTransport::new(io::stdin(), io::stdout()).map_err(refused)?;
        let service = serve_directly(Session::new(handler()), transport, None);
        let stop = service.cancellation_token();
        watch.start(|| stop.cancel()).map_err(refused)?;
        let served = service.waiting().await;
        finish.await;
        served.map_err(|error| Error::fault("The server failed", error))
    });
    runtime.shutdown_background();
    served.map(|reason| tracing::info!(?reason, "served"))
}
