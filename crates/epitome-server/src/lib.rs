//! The epitome proxy: any agent, unchanged bytes, no overflow.
//!
//! - settings: [`Config`]; a running server: [`Server`]
//! - `control` is what people see and steer under `/epitome/`
//! - `proxy` takes requests and passes answers on; `keeper` decides what goes out; `index` knows conversations by
//!   their chains; `epoch` is a compaction frozen for a chain; `models` is what is
//!   believed of models; `journal` is the store as
//!   the request path sees it; `serving` holds the clients' connections, `runtime` their threads, `upstream` is the way to the provider; `neighbours` keeps
//!   web pages and loops out; `access` logs requests; `clients` whose they are; `tenants` who asks, each with a keeper of its own, `quota` how much each may use; `address` what may be shown of a URL
//!
//! Only this crate knows HTTP. Only `clock` reads the time.
#![warn(missing_docs)]

mod access;
mod address;
mod advice;
mod answer;
mod clients;
mod clock;
mod config;
mod control;
mod epoch;
mod histories;
mod index;
mod journal;
mod keeper;
mod models;
mod neighbours;
mod open_store;
mod proxy;
mod quota;
mod runtime;
mod server;
mod serving;
mod shape;
mod status;
mod tally;
mod tenants;
mod token;
mod upstream;
mod words;

/// The target of the lines of the access log, to switch them on or off by.
pub const ACCESS_LOG: &str = access::TARGET;

pub use config::{
    Config, ConfiguredWindows, HostName, INSPECTION_LIMIT_BYTES, KeyDigest, Mode, Network,
    NoHostName, NoKeyDigest, NoNetwork, Period, Pruning, QuotaLimits, ShownSetting, StartError,
    StoreLocation, Summariser, TenantConfig, TenantSettings, Writes, fresh_key,
};
pub use runtime::runtime;
pub use server::{Figures, Reloader, Server};
