//! Whether a request may come from where it says that it comes: a page of another origin, or a
//! name that somebody pointed at this machine, must not reach a server that trusts its callers.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};

use super::answer::Problem;
use crate::domain::excerpt::quoted;

/// How the server trusts its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Mode {
    /// On the loopback only: who sends no credential is the person of this machine
    #[default]
    #[value(name = "local_trusted")]
    LocalTrusted,
    /// Everybody brings a credential
    #[value(name = "authenticated")]
    Authenticated,
}

/// Whose requests are let in.
#[derive(Debug, Clone)]
pub struct Guard {
    mode: Mode,
    port: u16,
    /// Scheme, name and port under which browsers reach the server, such as
    /// `https://aoa.example.com`.
    public: Option<String>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    pub fn new(mode: Mode, port: u16, public_url: Option<&str>) -> Self {
        Self { mode, port, public: public_url.map(origin_of) }
    }

    /// Refuses a request that names another host, or that a page of another origin sent.
    ///
    /// # Errors
    ///
    /// 403, over HTTP always.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"));
        let host = text(HOST);
        if self.mode == Mode::LocalTrusted && !host.is_some_and(|host| self.is_own_host(host)) {
            let named = host.unwrap_or_default();
            return Err(refused(format!(
                "The host {} is not this server: in local_trusted mode it answers to localhost \
                 and 127.0.0.1 at port {} alone.",
                quoted(named),
                self.port
            )));
        }
        let Some(origin) = text(ORIGIN) else { return Ok(()) };
        let is_own = self.public.as_deref() == Some(origin)
            || match (self.mode, origin.split_once("://")) {
                (Mode::LocalTrusted, Some(("http", host))) => self.is_own_host(host),
                (Mode::Authenticated, Some((_, origin))) => Some(origin) == host,
                (_, _) => false,
            };
        match is_own {
            true => Ok(()),
            false => {
                Err(refused(format!("A page of {} may not call this server.", quoted(origin))))
            }
        }
    }

    /// Whether a name and port are those of this server on the loopback.
    fn is_own_host(&self, host: &str) -> bool {
        LOOPBACK.iter().any(|name| {
            let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
            rest.is_some_and(|_| match host[name.len()..].strip_prefix(':') {
                Some(port) => port.parse() == Ok(self.port),
                None => host.len() == name.len() && self.port == 80,
            })
        })
    }
}

fn refused(message: String) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, -32003, message)
}

/// The origin of a URL: what stands before its path.
fn origin_of(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase())
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(&headers).is_ok()
    }

    #[test]
    fn on_the_loopback_only_the_own_names_and_the_own_pages_are_let_in() {
        let guard = Guard::new(Mode::LocalTrusted, 4114, None);
        for host in ["127.0.0.1:4114", "localhost:4114", "LocalHost:4114", "[::1]:4114"] {
            assert!(allows(&guard, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:4114",
            "localhost",
            "localhost:80",
            "localhost.evil.example:4114",
            "127.0.0.1:4114:4114",
            "localhost@evil.example:4114",
            "",
        ] {
            assert!(!allows(&guard, host, None), "{host}");
        }
        assert!(allows(&guard, "localhost:4114", Some("http://localhost:4114")));
        for origin in
            ["http://localhost:3000", "http://evil.example", "null", "https://localhost:4114"]
        {
            assert!(!allows(&guard, "localhost:4114", Some(origin)), "{origin}");
        }
        assert!(Guard::new(Mode::LocalTrusted, 4114, None).check(&HeaderMap::new()).is_err());
    }

    #[test]
    fn elsewhere_a_page_is_of_the_host_that_it_calls() {
        let guard = Guard::new(Mode::Authenticated, 4114, Some("https://AoA.example.com/board"));
        assert!(allows(&guard, "10.0.0.7:4114", None));
        assert!(allows(&guard, "10.0.0.7:4114", Some("https://aoa.example.com")));
        assert!(allows(&guard, "aoa.local", Some("https://aoa.local")));
        assert!(!allows(&guard, "10.0.0.7:4114", Some("https://evil.example")));
    }
}
