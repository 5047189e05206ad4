//! How a server is set up.

mod host;
mod key;
mod network;
mod tenants;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use epitome::settings::Settings;
use epitome_engine::Hooks;
use epitome_engine::model::{Caller, Lender, Purse, SpendLedger};
use epitome_engine::summarise::{Style, Templates};
use epitome_store::Keys;

use epitome_store::TenantId;

use crate::address::shown;
pub use host::{HostName, NoHostName};
pub use key::{KeyDigest, NoKeyDigest, fresh_key};
pub use network::{Network, NoNetwork};
pub use tenants::{Period, QuotaLimits, TenantConfig, TenantSettings};

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
    /// The window that the user set for every model; it beats whatever else is known.
    pub window_tokens: Option<u64>,
    /// The windows that the user set by model; they beat the one for every model.
    pub windows: ConfiguredWindows,
    /// The design and its settings.
    pub settings: Settings,
    /// The model that writes summaries in the background; without one the built-in summariser does.
    pub summariser: Option<Summariser>,
    /// What is told of compactions, and asked before those that are made in the background.
    pub hooks: Hooks,
    /// Whether requests are changed or only watched.
    pub mode: Mode,
    /// Whether old tool results give way before anything is summarised.
    pub pruning: Pruning,
    /// Bodies above this are streamed through unread.
    pub inspection_limit_bytes: usize,
    /// Whose requests are taken.
    pub tenants: TenantSettings,
}

/// A setting as people see it: without secrets, and with where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// Its name, such as `server.listen`.
    pub path: String,
    /// Its value, as it would stand in a file.
    pub value: String,
    /// Where the value comes from.
    pub origin: String,
    /// Whether nobody set it.
    pub is_default: bool,
}

/// A model that writes summaries, and how it is asked.
#[derive(Clone, Debug)]
pub struct Summariser {
    /// Who it is.
    pub writes: Writes,
    /// How it is asked.
    pub style: Style,
    /// What it is told.
    pub templates: Templates,
}

/// Whose model writes summaries.
#[derive(Clone, Debug)]
pub enum Writes {
    /// This one, for all conversations.
    Model(Caller),
    /// Each client's own, with what the client brings along for it.
    Client(Lender),
}

impl Writes {
    /// What was spent.
    pub(crate) fn spending(&self) -> &SpendLedger {
        match self {
            Self::Model(caller) => caller.spending(),
            Self::Client(lender) => lender.spending(),
        }
    }

    /// The same, paid for from this purse.
    pub(crate) fn paid_from(self, purse: Arc<Purse>) -> Self {
        match self {
            Self::Model(caller) => Self::Model(caller.paid_from(purse)),
            Self::Client(lender) => Self::Client(lender.paid_from(purse)),
        }
    }

    /// The same, spending on the account of what it takes the place of: a change of settings is no new purse.
    pub(crate) fn on_account_of(self, earlier: &Self) -> Self {
        match self {
            Self::Model(caller) => Self::Model(caller.on_account(earlier.spending())),
            Self::Client(lender) => Self::Client(lender.on_account(earlier.spending())),
        }
    }
}

/// The windows that the user set, by model.
#[derive(Clone, Default)]
pub struct ConfiguredWindows(Option<Arc<ByModel>>);

type ByModel = dyn Fn(&str) -> Option<u64> + Send + Sync;

impl ConfiguredWindows {
    /// None at all: providers and the table decide.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// The same, and `tokens` for models of which it says nothing.
    #[must_use]
    pub(crate) fn or(self, tokens: Option<u64>) -> Self {
        match tokens {
            Some(tokens) => Self::by(move |model| self.of(model).or(Some(tokens))),
            None => self,
        }
    }

    /// What `find` says of a model's name.
    #[must_use]
    pub fn by(find: impl Fn(&str) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// The window that is set for a model.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<u64> {
        self.0.as_ref().and_then(|find| find(model))
    }
}

impl fmt::Debug for ConfiguredWindows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "ConfiguredWindows(by model)",
            None => "ConfiguredWindows(none)",
        })
    }
}

/// Where conversations are kept. What is shown of it has no password.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// In memory of this process only.
    None,
    /// In a database, such as `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    Url(String),
    /// In a database whose values are encrypted.
    Encrypted {
        /// The database.
        url: String,
        /// The keys; the first one writes.
        keys: Keys,
    },
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Url(url) => f.debug_tuple("Url").field(&shown(url)).finish(),
            Self::Encrypted { url, keys } => f
                .debug_struct("Encrypted")
                .field("url", &shown(url))
                .field("keys", keys)
                .finish(),
        }
    }
}

/// What the server does with a request that would overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Compacts it.
    Act,
    /// Says what it would do and touches nothing.
    Observe,
}

/// What becomes of old tool results in a request that would be compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pruning {
    /// They are compacted with the rest.
    #[default]
    Off,
    /// A line stands for each, and where that makes room enough nothing is summarised.
    OldResults,
}

/// Bodies up to 64 MiB are inspected unless set otherwise.
pub const INSPECTION_LIMIT_BYTES: usize = 64 << 20;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Anybody on the network could read everybody's conversations.
    #[error(
        "refusing to listen on {0}: without tenant settings everybody would share one tenant; \
         say in epitome.toml who may use it ([tenants.NAME], see docs/tenants.md), \
         or listen on a loopback address such as 127.0.0.1:7700"
    )]
    NotLoopback(SocketAddr),
    /// No request could ever be one of this tenant's.
    #[error(
        "nobody can be known as the tenant {0}: give it `keys` (`epitome config key` makes one), `key_env`, `key_file`, \
         `provider_keys` or `principals`"
    )]
    UnknowableTenant(TenantId),
    /// Names would be believed that nobody may say.
    #[error(
        "the tenant {0} has principals, and nobody is trusted to name them: set server.trusted_peers to the addresses of \
         the proxy that checks who asks"
    )]
    NoTrustedPeers(TenantId),
    /// A name that a header gives would be believed of pages too.
    #[error(
        "the tenant {0} has principals, and the proxy answers to any name: set server.hosts to those it is reached by, or a web \
         page behind the proxy that checks who asks could speak for them under a name of its own"
    )]
    NoHosts(TenantId),
    /// Whose conversations are whose is settled at the start.
    #[error("the first tenant and the last one begin and end with the server: start it again")]
    TenantsNeedRestart,
    /// What is spent is counted in a store.
    #[error(
        "the tenant {0} has a quota, and nothing is kept to count by: set server.store to a database"
    )]
    QuotaWithoutStore(TenantId),
    /// One of two tenants could not be told from the other.
    #[error("the tenants {0} and {1} share a key or a principal: each belongs to one of them")]
    SharedKey(TenantId, TenantId),
    /// An upstream is no usable address.
    #[error("upstream {} is not an http:// or https:// address with a host", shown(&.0.to_string()))]
    BadUpstream(http::Uri),
    /// Requests would go round in circles.
    #[error("upstream {} is this proxy itself: name the provider's address", shown(&.0.to_string()))]
    OwnUpstream(http::Uri),
    /// The address is taken or not allowed.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store cannot be opened.
    #[error("cannot open the store {}: {source}", shown(location))]
    Store {
        /// Where.
        location: String,
        /// What it said.
        source: epitome_store::Error,
    },
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), StartError> {
        self.tenants.check()?;
        if self.store == StoreLocation::None
            && let Some(limited) = self.tenants.limited()
        {
            return Err(StartError::QuotaWithoutStore(limited.clone()));
        }
        if !self.listen.ip().is_loopback() && !self.tenants.are_set() {
            return Err(StartError::NotLoopback(self.listen));
        }
        if !self.listen.ip().is_loopback()
            && self.tenants.hosts.is_empty()
            && let Some(named) = self.tenants.with_principals()
        {
            return Err(StartError::NoHosts(named.clone()));
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
