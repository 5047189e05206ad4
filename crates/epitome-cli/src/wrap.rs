//! `epitome wrap`: an agent behind a proxy of its own, which ends with it.

mod agent;

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use epitome::reference::vibe::grouped;
use epitome_config::may_be_secret;
use epitome_server::{Figures, Server};

use crate::Ending;
use crate::args::{ServeArgs, WrapArgs};
use crate::clock::new_id;
use crate::print;
use crate::serve;
use crate::terminal::tell;
use agent::Start;

pub(crate) fn run(args: &WrapArgs, config: Option<&Path>) -> Result<Ending> {
    if args.print {
        let address = SocketAddr::from(([127, 0, 0, 1], 7_700));
        let start = Start::of(args.agent, address, Path::new("epitome-pi.js"));
        print(&start.told(&args.arguments))?;
        return Ok(Ending::Done);
    }
    let config = serve::config_of(&asked(args)?, config)?;
    let runtime = epitome_server::runtime().context("cannot start")?;
    let (status, figures) = runtime.block_on(async {
        let server = Server::bind(config).await?;
        behind(server, args).await
    })?;
    runtime.shutdown_background();
    if !args.quiet {
        tell!("epitome: {}", told(figures));
    }
    Ok(match status.code() {
        Some(0) => Ending::Done,
        Some(code) => Ending::Code(u8::try_from(code).unwrap_or(1)),
        None => Ending::No,
    })
}

/// Runs the agent in front of the server, then ends the server.
async fn behind(server: Server, args: &WrapArgs) -> Result<(ExitStatus, Option<Figures>)> {
    let folder = Folder::new()?;
    let start = Start::of(
        args.agent,
        server.address(),
        &folder.0.join("epitome-pi.js"),
    );
    start.prepare()?;
    let witness = server.reloader();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = server.run(async move {
        let _ = ended.await;
    });
    let agent = async {
        // What the keyboard says is for the agent, which is told by the terminal itself.
        let mut interrupts = tokio::task::JoinSet::new();
        interrupts.spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} });
        let mut command = tokio::process::Command::new(start.program);
        command.args(&start.arguments).args(&args.arguments);
        // What opens the store and the dashboard is the proxy's: an agent runs what others wrote.
        for (name, _) in std::env::vars_os() {
            if may_be_secret(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command.envs(start.variables.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true);
        let status = command.status().await.with_context(|| {
            format!(
                "{} cannot be started: install it, or see `epitome wrap {} --print`",
                start.program, start.name
            )
        });
        let figures = witness.figures();
        let _ = end.send(());
        status.map(|status| (status, figures))
    };
    let (served, agent) = tokio::join!(serving, agent);
    served.context("the proxy stopped")?;
    agent
}

/// The flags, with what the environment says of where requests go now.
fn asked(args: &WrapArgs) -> Result<ServeArgs> {
    let mut serve = args.serve();
    let now = |names: &[&str]| -> Result<Option<http::Uri>> {
        let set = names.iter().find_map(|name| {
            let value = std::env::var(name).ok()?;
            (!value.is_empty()).then_some((name, value))
        });
        let Some((name, value)) = set else {
            return Ok(None);
        };
        let bare = value
            .trim_end_matches('/')
            .trim_end_matches("/v1")
            .to_owned();
        let parsed = bare
            .parse()
            .with_context(|| format!("{name} is no address"))?;
        Ok(Some(parsed))
    };
    if serve.openai_upstream.is_none() {
        serve.openai_upstream = now(agent::names_of_openai(args.agent))?;
    }
    if serve.anthropic_upstream.is_none() {
        serve.anthropic_upstream = now(agent::names_of_anthropic(args.agent))?;
    }
    Ok(serve)
}

fn told(figures: Option<Figures>) -> String {
    let Some(figures) = figures.filter(|figures| figures.requests > 0) else {
        return String::from(
            "no request came through; the agent may be set to another address, see `epitome wrap AGENT --print`",
        );
    };
    let saved = figures.tokens_before.saturating_sub(figures.tokens_after);
    format!(
        "{} requests, {} shortened, {} tokens less",
        grouped(figures.requests),
        grouped(figures.shortened),
        grouped(saved)
    )
}

/// A folder for what the agent has to read, gone when the agent is. An agent may run what stands there, so that it is new and
/// nobody else can write to it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("epitome-wrap-{}", new_id()));
        let mut private = std::fs::DirBuilder::new();
        private.mode(0o700);
        private
            .create(&path)
            .with_context(|| path.display().to_string())?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
