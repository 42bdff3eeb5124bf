//! `govforge serve`: the endpoint of the companies.

use std::net::SocketAddr;

use crate::cli::Failure;
use crate::company::Service;
use crate::http::guard::Mode;
use crate::http::serve::{Options, serve};

/// Serve the companies over HTTP: an MCP endpoint for each
///
/// POST /companies/COMPANY/mcp takes MCP (streamable HTTP, stateless, JSON) and plain JSON-RPC.
/// The ledger is the one of every other verb. In local_trusted mode, the default, it listens on
/// the loopback alone, and who sends no credential is the person of this machine; in authenticated
/// mode everybody brings a key, a token or a session, and TLS belongs in front of it. SIGTERM lets
/// the calls in flight end.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4114")]
    listen: SocketAddr,
    /// How callers are trusted
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// How many requests each caller may send in a minute; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 600)]
    rate: u32,
    /// Under which address browsers reach it, such as https://aoa.example.com
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

/// Serves until a signal.
///
/// # Errors
/// Refuses an address that the mode does not allow, or that is taken.
pub fn run(service: Service, args: &Args) -> Result<(), Failure> {
    let options = Options {
        listen: args.listen,
        mode: args.mode,
        rate: args.rate,
        public_url: args.public_url.clone(),
    };
    Ok(serve(service, options)?)
}
