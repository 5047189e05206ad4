//! How a server is set up.

use std::net::SocketAddr;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where OpenAI-shaped requests go: scheme, host and an optional path before `/v1`.
    pub openai_upstream: Option<http::Uri>,
    /// Where Anthropic-shaped requests go.
    pub anthropic_upstream: Option<http::Uri>,
    /// Where conversations are kept.
    pub store: StoreLocation,
    /// The window of models that the table does not know.
    pub window_tokens: Option<u64>,
    /// Whether requests are changed or only watched.
    pub mode: Mode,
    /// Bodies above this are streamed through unread.
    pub inspection_limit_bytes: usize,
}

/// Where conversations are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// In memory of this process only.
    None,
    /// In a database, such as `sqlite:PATH`.
    Url(String),
}

/// What the server does with a request that would overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Compacts it.
    Act,
    /// Says what it would do and touches nothing.
    Observe,
}

/// Bodies up to 64 MiB are inspected unless set otherwise.
pub const INSPECTION_LIMIT_BYTES: usize = 64 << 20;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Anybody on the network could read everybody's conversations.
    #[error(
        "refusing to listen on {0}: without tenant settings everybody would share one tenant; \
         listen on a loopback address such as 127.0.0.1:7700"
    )]
    NotLoopback(SocketAddr),
    /// An upstream is no usable address.
    #[error("upstream {0} is not an http:// or https:// address with a host")]
    BadUpstream(http::Uri),
    /// The address is taken or not allowed.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store cannot be opened.
    #[error("cannot open the store {location}: {source}")]
    Store {
        /// Where.
        location: String,
        /// What it said.
        source: epitome_store::Error,
    },
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), StartError> {
        if !self.listen.ip().is_loopback() {
            return Err(StartError::NotLoopback(self.listen));
        }
        for upstream in [&self.openai_upstream, &self.anthropic_upstream]
            .into_iter()
            .flatten()
        {
            let scheme = upstream.scheme_str();
            if !matches!(scheme, Some("http" | "https")) || upstream.host().is_none() {
                return Err(StartError::BadUpstream(upstream.clone()));
            }
        }
        Ok(())
    }
}
