//! Serving from the first connection to the end.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::connections;
use super::guard::{Guard, Mode};
use super::rate::Rate;
use crate::company::Service;
use crate::error::{Code, Error, Result};

/// How a server is to run.
#[derive(Debug, Clone)]
pub struct Options {
    pub listen: SocketAddr,
    pub mode: Mode,
    /// Requests that each caller may send in a minute; 0 for any number.
    pub rate: u32,
    /// Under which address browsers reach it.
    pub public_url: Option<String>,
}

/// Serves until a signal, then lets the calls in flight end.
///
/// # Errors
///
/// Refuses an address that the mode does not allow, or that cannot be listened on.
pub fn serve(service: Service, options: Options) -> Result<()> {
    if options.mode == Mode::LocalTrusted && !options.listen.ip().is_loopback() {
        return Err(Error::refused(
            Code::InvalidConfig,
            format!(
                "In local_trusted mode everybody who reaches the server is trusted, so it listens \
                 on the loopback alone, not on {}. Use --mode authenticated, or --listen \
                 127.0.0.1:{}.",
                options.listen,
                options.listen.port()
            ),
        ));
    }
    let failed = |error: io::Error| Error::fault("The server cannot start", error);
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await.map_err(|error| {
            let message = format!("{} cannot be listened on: {error}.", options.listen);
            Error::refused(Code::InvalidConfig, message)
        })?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = CancellationToken::new();
        stop_at_signals(stop.clone()).map_err(failed)?;
        let guard = Guard::new(options.mode, address.port(), options.public_url.as_deref());
        let app = App::new(service.clone(), options.mode, guard, Rate::new(options.rate));
        greet(address, options.mode);
        connections::accept(listener, app.router(), stop).await;
        service.close().await;
        Ok(())
    })
}

fn greet(address: SocketAddr, mode: Mode) {
    let mut told = format!("govforge serves http://{address}/companies/COMPANY/mcp\n");
    if mode == Mode::Authenticated {
        told.push_str(
            "What is sent here can be read on its way: put a proxy with TLS in front of it.\n",
        );
    }
    // Who closed stderr does not want to read it.
    let _ = io::stderr().write_all(told.as_bytes());
}

/// The first signal lets the calls in flight end, a second one ends the process.
#[cfg(unix)]
fn stop_at_signals(stop: CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if stop.is_cancelled() {
                std::process::exit(1);
            }
            stop.cancel();
        }
    });
    Ok(())
}

/// The first Ctrl-C lets the calls in flight end, a second one ends the process.
#[cfg(not(unix))]
fn stop_at_signals(stop: CancellationToken) -> io::Result<()> {
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            if stop.is_cancelled() {
                std::process::exit(1);
            }
            stop.cancel();
        }
    });
    Ok(())
}
