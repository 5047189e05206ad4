//! `epitome serve`.

use anyhow::{Context, Result, bail};
use epitome::PresetName;
use epitome_server::{Config, Mode, Server, StoreLocation};
use tracing_subscriber::EnvFilter;

use crate::Ending;
use crate::args::ServeArgs;

pub(crate) fn run(args: &ServeArgs) -> Result<Ending> {
    if args.preset != PresetName::Default {
        let name = args.preset;
        bail!(
            "the proxy knows only the preset default so far; {name} works with `epitome compact`"
        );
    }
    let default_level = if args.quiet { "warn" } else { "info" };
    let filter =
        EnvFilter::try_from_env("EPITOME_LOG").unwrap_or_else(|_| EnvFilter::new(default_level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(
            std::io::IsTerminal::is_terminal(&std::io::stderr())
                && std::env::var_os("NO_COLOR").is_none(),
        )
        .init();
    let config = Config {
        listen: args.listen,
        openai_upstream: Some(args.openai_upstream.clone()),
        anthropic_upstream: Some(args.anthropic_upstream.clone()),
        store: store_location(args.store.as_deref())?,
        window_tokens: args.window,
        mode: if args.observe {
            Mode::Observe
        } else {
            Mode::Act
        },
        inspection_limit_bytes: args.inspection_limit,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    runtime.block_on(async {
        let store = config.store.clone();
        let server = Server::bind(config).await?;
        if !args.quiet {
            let address = server.address();
            eprintln!("epitome listens on http://{address}");
            eprintln!("  OPENAI_BASE_URL=http://{address}/v1");
            eprintln!("  ANTHROPIC_BASE_URL=http://{address}");
            match store {
                StoreLocation::Url(url) => eprintln!("  conversations are kept in {url}"),
                StoreLocation::None => eprintln!("  conversations are kept in memory only"),
            }
        }
        server.run(stopped()).await.context("the server stopped")
    })?;
    Ok(Ending::Done)
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

/// Done when the process is asked to end.
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            interrupt.await.ok();
            return;
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupt.await.ok();
}
