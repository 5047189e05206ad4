//! `epitome serve`.

mod log;
mod reload;
mod tenants;

use std::path::Path;

use anyhow::{Context, Result, bail};
use epitome::settings::{Settings, Value};
use epitome_config::{Address, Flag, Loaded, SummarizerKind};
use epitome_engine::configuration;
use epitome_server::{
    Config, ConfiguredWindows, Mode, Pruning, Server, ShownSetting, StoreLocation, Summariser,
    TenantSettings, Writes,
};
use epitome_store::Keys;

use crate::Ending;
use crate::args::ServeArgs;
use crate::config::{files_told, load, summariser_told, upstreams_told, watch, whole};
use crate::store_key;
use crate::summarizer;
use crate::terminal::tell;

pub(crate) fn run(args: &ServeArgs, config: Option<&Path>) -> Result<Ending> {
    let watch = watch(config, flags(args)?);
    let loaded = load(config, flags(args)?, args.quiet)?;
    log::start(args);
    let config = for_tenants(&loaded)?;
    for setting in unused(&loaded) {
        tell!("epitome: the proxy does not use {setting}: that belongs to the library");
    }
    allow_connections();
    let runtime = epitome_server::runtime().context("cannot start")?;
    let served = runtime.block_on(async {
        let store = config.store.clone();
        let server = Server::bind(config).await?;
        let server = match std::env::var("EPITOME_TOKEN") {
            Ok(token) if !token.is_empty() => server.with_token(token),
            _ => server,
        };
        let server = server.with_settings(shown(&loaded));
        if !args.quiet {
            let address = server.address();
            tell!("epitome listens on http://{address}");
            tell!("  OPENAI_BASE_URL=http://{address}/v1");
            tell!("  ANTHROPIC_BASE_URL=http://{address}");
            tell!(
                "  dashboard: http://{address}/epitome/login?token={}",
                server.token()
            );
            match store {
                StoreLocation::Url(url) => {
                    let shown = Address::new(url);
                    tell!("  conversations are kept in {shown}");
                }
                StoreLocation::Encrypted { url, .. } => {
                    let shown = Address::new(url);
                    tell!("  conversations are kept in {shown}, encrypted");
                }
                StoreLocation::None => tell!("  conversations are kept in memory only"),
            }
            tell!("  {}", upstreams_told(&loaded));
            if !loaded.tenants.is_empty() {
                let names: Vec<&str> = loaded.tenants.keys().map(String::as_str).collect();
                tell!("  requests are taken from the tenants {}", names.join(", "));
            }
            if let Some(summariser) = summariser_told(&loaded) {
                tell!("  {summariser}");
            }
            let files = files_told(&loaded);
            tell!("  {}", files.as_deref().unwrap_or("no configuration file"));
        }
        // It ends with the server, and nobody waits for it.
        let mut watching = tokio::task::JoinSet::new();
        watching.spawn(reload::keep_current(watch, server.reloader(), loaded));
        let (mut first, mut second) = (Signals::new(), Signals::new());
        let ended = server.run(async move { first.next().await });
        let at_once = async {
            second.next().await;
            second.next().await;
        };
        tokio::select! {
            ended = ended => ended.context("the server stopped"),
            () = at_once => bail!("ended at once, on a second signal"),
        }
    });
    // Whatever is still at work then has had its time, or was told not to take it.
    runtime.shutdown_background();
    served.map(|()| Ending::Done)
}

/// What a proxy with these flags is told that serves who started it, and nobody else.
pub(crate) fn config_of(args: &ServeArgs, config: Option<&Path>) -> Result<Config> {
    configured(&load(config, flags(args)?, args.quiet)?)
}

/// A request takes up to two descriptors, and many systems give a program 1,024 unless it asks for more. Where it may not
/// have them, it serves with what it has.
fn allow_connections() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const WANTED: u64 = 65_536;
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.map_or(WANTED, |most| most.min(WANTED));
        if limit.current.is_some_and(|current| current < wanted) {
            let limit = Rlimit {
                current: Some(wanted),
                maximum: limit.maximum,
            };
            // Refused: then fewer connections are open at once.
            let _ = setrlimit(Resource::Nofile, limit);
        }
    }
}

/// The settings as the dashboard shows them, each with where it comes from.
fn shown(loaded: &Loaded) -> Vec<ShownSetting> {
    let setting = |entry: epitome_config::Entry| ShownSetting {
        value: entry.toml(),
        origin: entry.origin.to_string(),
        is_default: entry.origin.is_default(),
        path: entry.path,
    };
    loaded.values().map(setting).collect()
}

/// The same, for those whom it names.
fn for_tenants(loaded: &Loaded) -> Result<Config> {
    Ok(Config {
        tenants: tenants::settings(loaded)?,
        ..configured(loaded)?
    })
}

/// What the proxy makes of a configuration.
fn configured(loaded: &Loaded) -> Result<Config> {
    let settings = loaded.for_agent(None).for_any_model().settings;
    let server = &loaded.server;
    Ok(Config {
        listen: server.listen,
        openai_upstream: Some(upstream(&server.openai_upstream)?),
        anthropic_upstream: Some(upstream(&server.anthropic_upstream)?),
        store: encrypted(
            store_location(server.store.as_ref().map(Address::expose))?,
            store_key::keys(server.store_key_file.as_deref())?,
        ),
        window_tokens: None,
        windows: windows(loaded),
        summariser: summariser(loaded, &settings)?,
        hooks: configuration::hooks(&loaded.hooks)?,
        settings,
        mode: if server.observe {
            Mode::Observe
        } else {
            Mode::Act
        },
        pruning: if server.prune {
            Pruning::OldResults
        } else {
            Pruning::Off
        },
        inspection_limit_bytes: usize::try_from(server.inspection_limit_bytes)
            .context("the inspection limit does not fit this machine")?,
        tenants: TenantSettings::default(),
    })
}

fn flags(args: &ServeArgs) -> Result<Vec<Flag>> {
    let text = |name: &str, path: &str, value: Option<String>| {
        value.map(|value| Flag::new(name, path, Value::Text(value)))
    };
    let address = |uri: &Option<http::Uri>| uri.as_ref().map(ToString::to_string);
    let flags = [
        text(
            "--listen",
            "server.listen",
            args.listen.map(|address| address.to_string()),
        ),
        text(
            "--openai-upstream",
            "server.openai_upstream",
            address(&args.openai_upstream),
        ),
        text(
            "--anthropic-upstream",
            "server.anthropic_upstream",
            address(&args.anthropic_upstream),
        ),
        text("--store", "server.store", args.store.clone()),
        text(
            "--key-file",
            "server.store_key_file",
            args.key_file
                .as_ref()
                .map(|file| file.display().to_string()),
        ),
        text(
            "--preset",
            "preset",
            args.preset.map(|preset| preset.to_string()),
        ),
        args.window
            .map(|window| whole("--window", "window", window)),
        args.inspection_limit
            .map(|limit| whole("--inspection-limit", "server.inspection_limit_bytes", limit)),
        args.observe
            .then(|| Flag::new("--observe", "server.observe", Value::Switch(true))),
    ];
    let mut flags: Vec<Flag> = flags.into_iter().flatten().collect();
    flags.extend(summarizer::flags(args.summarizer.as_deref())?);
    Ok(flags)
}

/// The model that writes summaries in the background, if there is one.
fn summariser(loaded: &Loaded, settings: &Settings) -> Result<Option<Summariser>> {
    let section = &loaded.summarizer;
    if section.kind == SummarizerKind::None {
        bail!(
            "a proxy without summaries would forget what it removes: use --summarizer extractive, which needs no model"
        );
    }
    let lender = configuration::lender(section, settings).map(Writes::Client);
    let caller = configuration::caller(section, settings, None)?.map(Writes::Model);
    lender
        .or(caller)
        .map(|writes| {
            Ok(Summariser {
                writes,
                style: configuration::style(section, settings),
                templates: configuration::templates(section)?,
            })
        })
        .transpose()
}

/// The windows that are set: for every model, or by name.
fn windows(loaded: &Loaded) -> ConfiguredWindows {
    let loaded = loaded.clone();
    ConfiguredWindows::by(move |model| {
        loaded
            .for_agent(None)
            .for_model(model)
            .settings
            .common
            .window
    })
}

/// What is set and the proxy does not use yet: nothing is ignored in silence.
fn unused(loaded: &Loaded) -> Vec<String> {
    const USED: [&str; 12] = [
        "server.listen",
        "server.openai_upstream",
        "server.anthropic_upstream",
        "server.store",
        "server.store_key_file",
        "server.observe",
        "server.prune",
        "server.inspection_limit_bytes",
        "server.principal_header",
        "server.trusted_peers",
        "server.hosts",
        "window",
    ];
    // The host's own business: a proxy has no turns, no session files and no memory folder.
    const LIBRARY: [&str; 2] = ["memory", "server"];
    let is_used = |path: &str| {
        let section = path.split(['.', '[']).next().unwrap_or_default();
        USED.contains(&path) || !LIBRARY.contains(&section)
    };
    loaded
        .values()
        .filter(|entry| !entry.origin.is_default() && !is_used(&entry.path))
        .map(|entry| format!("{} ({})", entry.path, entry.origin))
        .collect()
}

fn upstream(address: &Address) -> Result<http::Uri> {
    let parsed = address.expose().parse();
    parsed.with_context(|| format!("upstream {address} is not an http:// or https:// address"))
}

/// Where conversations are kept: where the user says, or in the user's data folder.
pub(crate) fn store_location(given: Option<&str>) -> Result<StoreLocation> {
    match given {
        Some("none") => Ok(StoreLocation::None),
        Some(url) => Ok(StoreLocation::Url(url.to_owned())),
        None => {
            let folder = std::env::var_os("XDG_DATA_HOME")
                .map(std::path::PathBuf::from)
                .filter(|folder| folder.is_absolute())
                .or_else(|| Some(std::env::home_dir()?.join(".local/share")))
                .context("no home folder: say where conversations are kept with --store sqlite:PATH or --store none")?;
            let path = folder.join("epitome").join("epitome.db");
            Ok(StoreLocation::Url(format!("sqlite:{}", path.display())))
        }
    }
}

/// The same with keys, where there are any.
fn encrypted(location: StoreLocation, keys: Keys) -> StoreLocation {
    match location {
        StoreLocation::Url(url) if !keys.is_empty() => StoreLocation::Encrypted { url, keys },
        location => location,
    }
}

/// What asks a process to end: the keyboard, or whoever started it.
struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            terminate: {
                use tokio::signal::unix::{SignalKind, signal};
                signal(SignalKind::terminate()).ok()
            },
        }
    }

    /// Done when the process is asked to end, once more.
    async fn next(&mut self) {
        let interrupt = tokio::signal::ctrl_c();
        #[cfg(unix)]
        if let Some(terminate) = &mut self.terminate {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        interrupt.await.ok();
    }
}
