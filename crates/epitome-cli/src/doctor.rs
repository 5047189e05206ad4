//! `epitome doctor`: what works and what does not, from the configuration to a conversation that is shortened on its way.

mod canary;
mod http;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use epitome_config::{Address, Loaded};
use epitome_server::StoreLocation;
use epitome_store::{AnyStore, Conversations, Keys, Store, TenantId};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::args::DoctorArgs;
use crate::clock::within;
use crate::config::{file_names, load};
use crate::history::block_on;
use crate::serve::store_location;
use crate::store_key;
use crate::terminal::{Page, Patience};
use crate::{Ending, print};

/// How long an address is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// One thing that was looked at.
struct Check {
    name: &'static str,
    state: State,
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It works.
    Good,
    /// It works, and there is something to know.
    Note,
    /// It does not work.
    Bad,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

pub(crate) fn run(args: &DoctorArgs, config: Option<&Path>) -> Result<Ending> {
    let waiting = Patience::unless(args.json, "looking at upstreams, store and proxy");
    let checks = block_on(async { Ok(checks(config).await) })?;
    drop(waiting);
    let is_bad = checks.iter().any(|check| check.state == State::Bad);
    match args.json {
        true => print(&(object(&checks).to_string() + "\n"))?,
        false => page(&checks).print()?,
    }
    Ok(match is_bad {
        true => Ending::No,
        false => Ending::Done,
    })
}

async fn checks(config: Option<&Path>) -> Vec<Check> {
    let mut checks = Vec::new();
    match load(config, Vec::new(), true) {
        Ok(loaded) => {
            checks.push(configuration(&loaded));
            checks.push(store(&loaded).await);
            let server = &loaded.server;
            for (name, address) in [
                ("openai upstream", &server.openai_upstream),
                ("anthropic upstream", &server.anthropic_upstream),
            ] {
                checks.push(upstream(name, address).await);
            }
            checks.push(window(&loaded));
            checks.push(canary().await);
            checks.push(proxy(server.listen).await);
        }
        Err(error) => {
            checks.push(bad("configuration", format!("{error:#}")));
            checks.push(canary().await);
        }
    }
    checks
}

fn configuration(loaded: &Loaded) -> Check {
    let files =
        file_names(loaded).unwrap_or_else(|| "no file, so everything is as it comes".into());
    match loaded.warnings.as_slice() {
        [] => good("configuration", files),
        warnings => {
            let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
            note("configuration", format!("{files}; {}", told.join("; ")))
        }
    }
}

async fn store(loaded: &Loaded) -> Check {
    let given = loaded.server.store.as_ref().map(Address::expose);
    let url = match store_location(given) {
        Ok(StoreLocation::Url(url) | StoreLocation::Encrypted { url, .. }) => url,
        Ok(StoreLocation::None) => {
            return note(
                "store",
                "none is set: conversations are kept in memory only".into(),
            );
        }
        Err(error) => return bad("store", format!("{error:#}")),
    };
    let shown = Address::new(url.clone());
    let is_missing = url
        .strip_prefix("sqlite:")
        .is_some_and(|path| !Path::new(path.trim_start_matches("//")).exists());
    if is_missing {
        return note(
            "store",
            format!("{shown} is made by the first start of a proxy"),
        );
    }
    let keys = match store_key::keys(loaded.server.store_key_file.as_deref()) {
        Ok(keys) => keys,
        Err(error) => return bad("store", format!("{error:#}")),
    };
    match counted(&url, &keys).await {
        Ok(count) => good("store", format!("{shown} holds {count}")),
        Err(error) => bad("store", format!("{shown}: {error:#}")),
    }
}

async fn counted(url: &str, keys: &Keys) -> Result<String> {
    const MOST: u32 = 1_000;
    let store = AnyStore::open_read_only_with(url, keys).await?;
    let rows = store.conversations(&TenantId::local(), MOST).await?.len();
    store.close().await;
    Ok(match rows {
        1_000 => String::from("1000 conversations or more"),
        1 => String::from("1 conversation"),
        rows => format!("{rows} conversations"),
    })
}

async fn upstream(name: &'static str, address: &Address) -> Check {
    let reached = reached(address).await;
    match reached {
        Ok(()) => good(name, format!("{address} can be reached")),
        Err(error) => bad(
            name,
            format!(
                "{address} cannot be reached: {error:#}; agents that use it will fail with or without epitome"
            ),
        ),
    }
}

async fn reached(address: &Address) -> Result<()> {
    let uri: ::http::Uri = address.expose().parse().context("no http:// address")?;
    let host = uri.host().context("no host in it")?;
    let usual = if uri.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    let port = uri.port_u16().unwrap_or(usual);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let connected = within(PATIENCE, TcpStream::connect((host, port))).await;
    connected.context("no answer in time")??;
    Ok(())
}

fn window(loaded: &Loaded) -> Check {
    let resolved = loaded.for_agent(None).for_any_model();
    let name = resolved.settings.design().name;
    match resolved.settings.common.window {
        Some(tokens) => good(
            "window",
            format!("{tokens} tokens for every model, preset {name}"),
        ),
        None => good(
            "window",
            format!("as each model has it, by the table and by what providers say; preset {name}"),
        ),
    }
}

async fn canary() -> Check {
    match canary::fly().await {
        Ok(told) => good("canary", told),
        Err(error) => bad(
            "canary",
            format!("a conversation that outgrows its window did not come through: {error:#}"),
        ),
    }
}

/// The proxy that agents would speak to.
async fn proxy(listen: SocketAddr) -> Check {
    let health = within(PATIENCE, http::get(listen, "/healthz")).await;
    let Ok(Ok(answer)) = health else {
        return note(
            "proxy",
            format!(
                "none listens on {listen}: start one with `epitome serve`, or run an agent with `epitome wrap`"
            ),
        );
    };
    let health: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
    let count = |name: &str| health.get(name).and_then(Value::as_u64).unwrap_or(0);
    match (
        health.get("status").and_then(Value::as_str),
        count("requests"),
    ) {
        (None, _) => bad("proxy", format!("something else listens on {listen}")),
        (Some("ok"), 0) => note(
            "proxy",
            format!(
                "no request has arrived at {listen}: point your agent there with OPENAI_BASE_URL=http://{listen}/v1 or \
                 ANTHROPIC_BASE_URL=http://{listen}, or run it with `epitome wrap`"
            ),
        ),
        (Some("ok"), requests) => good(
            "proxy",
            format!(
                "{requests} requests came to {listen}, {} were shortened",
                count("acted_on")
            ),
        ),
        (Some(status), _) => {
            let why = health.get("why").and_then(Value::as_array);
            let why: Vec<&str> = why
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            bad("proxy", format!("{listen} is {status}: {}", why.join("; ")))
        }
    }
}

const fn good(name: &'static str, message: String) -> Check {
    Check {
        name,
        state: State::Good,
        message,
    }
}

const fn note(name: &'static str, message: String) -> Check {
    Check {
        name,
        state: State::Note,
        message,
    }
}

const fn bad(name: &'static str, message: String) -> Check {
    Check {
        name,
        state: State::Bad,
        message,
    }
}

/// What works is said in one breath; what does not stands out.
fn page(checks: &[Check]) -> Page {
    let mut page = Page::default();
    for check in checks {
        let (state, name) = (check.state.as_str(), check.name);
        let line = format!("{state:<4}  {name}: {}", check.message);
        match check.state {
            State::Bad => page.heading(line),
            State::Good | State::Note => page.line(line),
        }
    }
    page
}

fn object(checks: &[Check]) -> Value {
    let checks: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({"name": check.name, "state": check.state.as_str(), "message": check.message})
        })
        .collect();
    json!({ "checks": checks })
}
