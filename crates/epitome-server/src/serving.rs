//! Connections of clients, from the first to the last.
//!
//! A server that is told to end lets every answer finish, and waits for nothing else: connections on which nothing happens
//! are closed at once, those that hold a part of a request get a moment to send the rest.

use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::clock::{Timer, sleep, within};
use crate::tenants::Peer;

/// How long a connection may take for a head. It counts while nothing is sent too, so that it is longer than clients keep
/// their own idle connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a request that has begun may still take when the server is told to end.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait where the system has no more room for connections.
const FULL: Duration = Duration::from_secs(1);

/// Serves connections until `shutdown` is done, then lets answers finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    peers: Peers,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let connections = TaskTracker::new();
    let ending = CancellationToken::new();
    let door = Door {
        router,
        peers,
        connections: connections.clone(),
        ending: ending.clone(),
    };
    // On a thread that serves connections: who waits for the end may stand on another one, which each of them would wake.
    let accepting = connections.spawn(door.accept(listener, shutdown));
    AbortOnDropHandle::new(accepting).await.ok();
    ending.cancel();
    connections.close();
    connections.wait().await;
}

/// Where connections come in.
struct Door {
    router: Router,
    peers: Peers,
    connections: TaskTracker,
    ending: CancellationToken,
}

impl Door {
    async fn accept(self, listener: TcpListener, shutdown: impl Future<Output = ()> + Send) {
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut shutdown => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // Small pieces of an answer leave as they come.
                    let _ = stream.set_nodelay(true);
                    let peer = (self.peers == Peers::Told).then(|| Peer(peer.ip()));
                    let (router, ending) = (self.router.clone(), self.ending.clone());
                    self.connections
                        .spawn(converse(stream, peer, router, ending));
                }
                Err(error) if is_of_one_client(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    sleep(FULL).await;
                }
            }
        }
    }
}

/// Whether requests are told from where they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peers {
    /// They are.
    Told,
    /// Nobody asks.
    Untold,
}

fn is_of_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

/// One connection. What goes wrong with it is between it and its client.
async fn converse(
    stream: TcpStream,
    peer: Option<Peer>,
    router: Router,
    ending: CancellationToken,
) {
    let phase = Arc::new(SharedPhase::default());
    let service = TowerToHyperService::new(router);
    let exchange = {
        let phase = Arc::clone(&phase);
        service_fn(move |request: http::Request<Incoming>| {
            let phase = Arc::clone(&phase);
            let mut request =
                request.map(|body| Body::new(Received::new(body, Arc::clone(&phase))));
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            let answer = service.call(request);
            async move {
                let answer = answer.await?;
                let answered = |body| Answered { body, phase };
                Ok::<_, std::convert::Infallible>(answer.map(answered))
            }
        })
    };
    let connection = http1::Builder::new()
        .timer(Timer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), exchange);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = ending.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    while within(GRACE, connection.as_mut()).await.is_err() {
        if phase.get() != Phase::Answering {
            return;
        }
    }
}

/// How far the exchange on a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// There is none, or only a part of a head.
    Idle,
    /// The body of the request is on its way.
    Receiving,
    /// All of the request is here, and not all of the answer has left.
    Answering,
}

#[derive(Debug, Default)]
struct SharedPhase(AtomicU8);

impl SharedPhase {
    fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    fn get(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            0 => Phase::Idle,
            1 => Phase::Receiving,
            _ => Phase::Answering,
        }
    }
}

/// The body of a request, which says when all of it is here.
struct Received {
    body: Incoming,
    phase: Arc<SharedPhase>,
}

impl Received {
    fn new(body: Incoming, phase: Arc<SharedPhase>) -> Self {
        phase.set(match http_body::Body::is_end_stream(&body) {
            true => Phase::Answering,
            false => Phase::Receiving,
        });
        Self { body, phase }
    }
}

impl http_body::Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.phase.set(Phase::Answering);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer, which says when it has left.
struct Answered {
    body: Body,
    phase: Arc<SharedPhase>,
}

impl http_body::Body for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        self.phase.set(Phase::Idle);
    }
}
