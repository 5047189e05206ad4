//! A model server for tests: it answers by script, refuses what the providers refuse and records everything.

mod agent;
mod anthropic;
mod cache;
mod config;
mod errors;
mod fault;
mod hook;
mod kept;
mod openai_chat;
mod openai_responses;
mod playback;
mod record;
mod rendered;
mod reply;
mod service;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use config::{Chunking, Echo, ModelConfig, Respond, Script};
pub use fault::{Fault, Faults};
pub use hook::{Asked, Counts, Refuses, has_equal_neighbours};
pub use record::{Delivery, Recorded};
pub use reply::{Answer, Call, Reply};

use service::Service;

/// A running model server. It stops, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    service: Arc<Service>,
    // Dropping the set ends the accept loop, which owns the connections in turn.
    _tasks: JoinSet<()>,
}

impl ScriptedModel {
    /// Starts a server on a free local port.
    ///
    /// # Panics
    ///
    /// When no local port can be bound.
    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    pub async fn start(config: ModelConfig) -> Self {
        Self::bind(SocketAddr::from(([127, 0, 0, 1], 0)), config)
            .await
            .expect("a free local port")
    }

    /// Starts a server on a given address.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound.
    pub async fn bind(address: SocketAddr, config: ModelConfig) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let service = Arc::new(Service::new(config));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&service)));
        Ok(Self {
            address,
            service,
            _tasks: tasks,
        })
    }

    /// Where the server listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as clients want it, without a final slash: `http://127.0.0.1:1234`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What has been received so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.service.records().all()
    }

    /// Gives the server another window, as a restart with other options does. Windows by name stay.
    pub fn set_window(&self, window_tokens: u64) {
        self.service.set_window(window_tokens);
    }

    /// Gives one model another window.
    pub fn set_window_of(&self, model: &str, window_tokens: u64) {
        self.service.set_window_of(model, window_tokens);
    }

    /// Forgets what has been received. Request numbers go on counting.
    pub fn clear(&self) {
        self.service.records().clear();
    }
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A failed accept is one lost client (or too many open files): the next may do better.
                if let Ok((stream, _)) = accepted {
                    // Small pieces must leave as small pieces.
                    let _ = stream.set_nodelay(true);
                    let service = Arc::clone(&service);
                    connections.spawn(async move {
                        let serve = service_fn(move |request| {
                            let service = Arc::clone(&service);
                            async move { service.serve(request).await }
                        });
                        // A client that hangs up or a scripted cut ends here as an error; both are normal.
                        let _ = http1::Builder::new()
                            .serve_connection(TokioIo::new(stream), serve)
                            .await;
                    });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
