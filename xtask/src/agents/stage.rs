//! The programs of one run: the upstream, perhaps `epitome serve`, and the driver of the client.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::clients::{Client, Scenario};
use super::install::Sets;
use super::outcome::Outcome;
use super::upstream::Upstream;
use crate::clock;
use crate::project::Project;

const LONGEST_RUN: Duration = Duration::from_secs(420);
const LONGEST_START: Duration = Duration::from_secs(20);
/// How far into a turn the proxy is killed.
const INTO_THE_TURN: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    With,
    Without,
}

#[derive(Debug)]
pub(crate) struct Stage {
    drivers: PathBuf,
    /// Where cargo puts the programs.
    built: PathBuf,
    /// Where each run leaves its files: of the client, and what the proxy said.
    runs: PathBuf,
}

impl Stage {
    pub(crate) fn new(project: &Project, target: &Path) -> Self {
        Self {
            drivers: project.root.join("crates/epitome-server/tests/clients"),
            built: target.join("debug"),
            runs: target.join("agents/runs"),
        }
    }

    pub(crate) fn run(
        &self,
        sets: &Sets,
        client: &Client,
        scenario: Scenario,
        side: Side,
    ) -> Result<Outcome> {
        let folder = self
            .runs
            .join(format!("{}-{scenario:?}-{side:?}", client.name));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let window_tokens = match (scenario, side) {
            // Without a window there is nothing but the faults, which is what the run with epitome is held against.
            (Scenario::Faults, Side::Without) => u64::from(u32::MAX),
            _ => client.window_tokens,
        };
        let upstream = Upstream::start(&self.built, &folder, window_tokens, scenario)?;
        let mut proxy = match (side, scenario) {
            // Where `wrap` starts the agent, it has a proxy of its own.
            (Side::Without, _) | (Side::With, Scenario::Wrapped) => None,
            (Side::With, _) => Some(Proxy::start(
                &self.built,
                &folder,
                &upstream.url,
                client,
                scenario,
            )?),
        };
        let wrap = (side == Side::With && scenario == Scenario::Wrapped)
            .then(|| self.built.join("epitome"));
        let base_url = proxy
            .as_ref()
            .map_or(upstream.url.as_str(), |proxy| proxy.url.as_str());
        let runs = if scenario == Scenario::Two { 2 } else { 1 };
        let drivers = (1..=runs).map(|run| {
            let seat = Seat {
                scenario,
                base_url,
                wrap: wrap.as_deref(),
                folder: &folder,
                run,
            };
            self.driver(sets, client, &seat)
        });
        let drivers: Vec<Child> = drivers.collect::<Result<_>>()?;
        let kill_at = (scenario == Scenario::Killed).then_some(client.turns / 2 + 1);
        let told = std::thread::scope(|scope| {
            let mut followed = Vec::new();
            let mut drivers = drivers.into_iter();
            // The first one is followed here, because the proxy is killed by what it says.
            let first = drivers.next();
            for driver in drivers {
                followed.push(scope.spawn(move || follow(driver, &mut |_| Ok(()))));
            }
            let mut at_turn = |turn: u64| match (&mut proxy, kill_at) {
                (Some(proxy), Some(at)) if at == turn => {
                    clock::wait(INTO_THE_TURN);
                    proxy.kill_and_restart()
                }
                _ => Ok(()),
            };
            let mut told: Vec<Result<String>> = first
                .map(|driver| follow(driver, &mut at_turn))
                .into_iter()
                .collect();
            for one in followed {
                told.push(
                    one.join()
                        .unwrap_or_else(|_| bail!("a driver could not be followed")),
                );
            }
            told
        });
        drop(proxy);
        let records = upstream.finish()?;
        fs::write(folder.join("requests.jsonl"), &records)?;
        let mut outcome = Outcome::of_records(&records)?;
        for one in told {
            match one {
                Ok(line) => outcome.add_driver(&line),
                Err(error) => outcome
                    .errors
                    .extend(Outcome::broken(format!("{error:#}")).errors),
            }
        }
        fs::write(folder.join("errors.txt"), outcome.errors.join("\n"))?;
        Ok(outcome)
    }

    fn driver(&self, sets: &Sets, client: &Client, seat: &Seat<'_>) -> Result<Child> {
        let (scenario, run) = (seat.scenario, seat.run);
        let unset = |reason: String| anyhow::anyhow!(reason);
        let (program, file) = sets.runtime(client).map_err(unset)?;
        let programs = sets.programs(client.set).map_err(unset)?;
        let packages = sets.folder(client.set).map_err(unset)?;
        let own = seat.folder.join(format!("client-{run}"));
        fs::create_dir_all(&own)?;
        let switch_at = (scenario == Scenario::Switched).then_some(client.turns / 2 + 1);
        let settings = json!({
            "client": client.name, "base_url": seat.base_url, "run": run, "wrap": seat.wrap,
            "turns": client.turns, "calls": client.calls, "window": client.window_tokens,
            "model": client.model, "other_model": client.other_model, "switch_at": switch_at,
            "has_own_compaction": scenario == Scenario::Own,
            "has_agents": scenario == Scenario::SubAgents,
            "has_own_providers": scenario == Scenario::Wrapped,
            "work": own.join("work"), "home": own.join("home"),
            "programs": programs, "packages": packages,
        });
        let mut command = Command::new(program);
        command
            .arg(self.drivers.join(file))
            .arg(settings.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(own.join("driver.log"))?);
        command
            .spawn()
            .with_context(|| format!("could not start the driver of {}", client.name))
    }
}

/// Where a driver is put.
struct Seat<'a> {
    scenario: Scenario,
    base_url: &'a str,
    /// The command whose `wrap` starts the agent, where it is started so.
    wrap: Option<&'a Path>,
    folder: &'a Path,
    run: u64,
}

/// Reads what a driver says, turn by turn, to its findings.
fn follow(mut driver: Child, at_turn: &mut dyn FnMut(u64) -> Result<()>) -> Result<String> {
    let begin = clock::now();
    let said = driver.stdout.take().context("a driver has no output")?;
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(said).lines().map_while(Result::ok);
        // Nobody listens any more when the time is up.
        lines.map(|line| sender.send(line)).find(Result::is_err)
    });
    let mut last = String::new();
    loop {
        let left =
            LONGEST_RUN.saturating_sub(clock::now().duration_since(begin).unwrap_or_default());
        match lines.recv_timeout(left) {
            Ok(line) => {
                if let Some(turn) = line
                    .strip_prefix("turn ")
                    .and_then(|turn| turn.parse().ok())
                {
                    at_turn(turn)?;
                }
                // A thread of the client may say something at the very end.
                if line.starts_with('{') || !last.starts_with('{') {
                    last = line;
                }
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                // With the client that it started.
                let group = format!("-{}", driver.id());
                Command::new("kill").args(["-9", "--", &group]).status()?;
                driver.wait()?;
                bail!("the driver was not done after {} s", LONGEST_RUN.as_secs());
            }
        }
    }
    driver.wait()?;
    Ok(last)
}

/// `epitome serve`; it ends with this.
struct Proxy {
    command: Command,
    child: Child,
    url: String,
    port: u16,
}

impl Proxy {
    fn start(
        built: &Path,
        folder: &Path,
        upstream: &str,
        client: &Client,
        scenario: Scenario,
    ) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let settings = folder.join("epitome.toml");
        fs::write(&settings, "")?;
        let mut command = Command::new(built.join("epitome"));
        command
            .current_dir(folder)
            .args(["serve", "--config"])
            .arg(settings)
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .args([
                "--openai-upstream",
                upstream,
                "--anthropic-upstream",
                upstream,
            ])
            .arg("--store")
            .arg(format!("sqlite:{}", folder.join("store.db").display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(
                File::options()
                    .create(true)
                    .append(true)
                    .open(folder.join("epitome.log"))?,
            );
        if scenario != Scenario::Untold {
            command.args(["--window", &client.window_tokens.to_string()]);
        }
        let child = started(&mut command, port)?;
        let url = format!("http://127.0.0.1:{port}");
        Ok(Self {
            command,
            child,
            url,
            port,
        })
    }

    fn kill_and_restart(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = started(&mut self.command, self.port)?;
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A proxy that ended by itself is one whose client has failed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started(command: &mut Command, port: u16) -> Result<Child> {
    let mut child = command.spawn().context("could not start epitome serve")?;
    let begin = clock::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if let Some(status) = child.try_wait()? {
            bail!("epitome serve ended with {status}");
        }
        if clock::now().duration_since(begin).unwrap_or_default() > LONGEST_START {
            child.kill()?;
            bail!("epitome serve does not listen");
        }
        clock::wait(Duration::from_millis(20));
    }
    Ok(child)
}
