//! The connections: how many there may be, how long one may be silent, and how they end.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many connections may be open: below the thousand files that a process usually may open,
/// so that the ledger's own can always be opened.
const MOST: usize = 512;

/// How long a connection may take to send the head of a request, and may wait before the next.
const SILENCE: Duration = Duration::from_secs(30);

/// The longest head of a request.
const LONGEST_HEAD: usize = 32 * 1024;

/// How long the calls in flight have to end once the server is told to.
const GRACE: Duration = Duration::from_secs(50);

/// The open connections of a server.
struct Connections {
    /// Which were open, by number, and when each last said something.
    open: Mutex<HashMap<u64, Arc<Open>>>,
    /// Counts up with every request and every connection: what is older has a smaller number.
    turn: AtomicU64,
}

struct Open {
    /// The turn of its last request, or of its beginning.
    heard: AtomicU64,
    /// How many requests it is having answered.
    answering: AtomicU64,
    close: Notify,
}

impl Connections {
    fn turn(&self) -> u64 {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    fn add(&self) -> (u64, Arc<Open>) {
        let number = self.turn();
        let open = Arc::new(Open {
            heard: AtomicU64::new(number),
            answering: AtomicU64::new(0),
            close: Notify::new(),
        });
        self.lock().insert(number, Arc::clone(&open));
        (number, open)
    }

    fn remove(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// Ends the connection that has been silent for longest, if one is silent: a thousand
    /// connections that say nothing keep nobody out who has something to say.
    fn end_a_silent_one(&self) {
        let open = self.lock();
        let silent = open.values().filter(|open| open.answering.load(Ordering::Relaxed) == 0);
        if let Some(oldest) = silent.min_by_key(|open| open.heard.load(Ordering::Relaxed)) {
            // Not chosen a second time while it ends.
            oldest.answering.fetch_add(1, Ordering::Relaxed);
            oldest.close.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts connections until `stop`, then lets the requests in flight end.
pub async fn accept(listener: TcpListener, app: Router, stop: CancellationToken) {
    let connections = Arc::new(Connections { open: Mutex::default(), turn: AtomicU64::new(0) });
    let places = Arc::new(Semaphore::new(MOST));
    let tasks = TaskTracker::new();
    while let Some((stream, place)) = next(&listener, &places, &connections, &stop).await {
        let (number, open) = connections.add();
        let (app, stop) = (app.clone(), stop.clone());
        let connections = Arc::clone(&connections);
        tasks.spawn(async move {
            serve(stream, app, &connections, &open, stop).await;
            connections.remove(number);
            drop(place);
        });
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(GRACE, tasks.wait()).await.is_err() {
        tracing::warn!("calls were still in flight at the end");
    }
}

/// The next connection and its place; `None` once the server is to stop.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    connections: &Connections,
    stop: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let next = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(error) => {
                    // Such as no more open files: it passes.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    };
    let stream = stop.run_until_cancelled(next).await?;
    if places.available_permits() == 0 {
        connections.end_a_silent_one();
    }
    let place = stop.run_until_cancelled(Arc::clone(places).acquire_owned()).await?.ok()?;
    Some((stream, place))
}

async fn serve(
    stream: TcpStream,
    app: Router,
    connections: &Connections,
    open: &Open,
    stop: CancellationToken,
) {
    // Replies are whole when they are sent: there is nothing to wait for.
    let _ = stream.set_nodelay(true);
    let app = TowerToHyperService::new(app);
    let service = service_fn(|request: Request<Incoming>| {
        open.answering.fetch_add(1, Ordering::Relaxed);
        let answer = app.call(request);
        async move {
            let answer = answer.await;
            open.heard.store(connections.turn(), Ordering::Relaxed);
            open.answering.fetch_sub(1, Ordering::Relaxed);
            answer
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(SILENCE).max_buf_size(LONGEST_HEAD);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let stopped = stop.cancelled();
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = open.close.notified() => return,
        () = stopped => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
