//! `cargo xtask fresh`: what README tells somebody new, typed in a fresh clone, with nothing else typed.
//!
//! Its first block of commands has to end with a compacted page, and its line with `wrap` with an answer of the real Claude Code, which
//! asks the scripted upstream through epitome. What is not typed is only where the provider is, its key, and where the agent is.

#[cfg(test)]
#[path = "fresh_tests.rs"]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::Verdict;
use crate::agents::{self, Outcome, Scenario, Upstream};
use crate::docs;
use crate::project::{Project, succeeds};

/// What a compacted page says, as README shows it.
const ON_THE_PAGE: [&str; 2] = ["compacted to", "instructions in force"];
/// What the scripted model says to a prompt that is none of its orders.
const ANSWER: &str = "Nothing was ordered.";
const WINDOW_TOKENS: u64 = 200_000;
/// After this many seconds a line that was typed is ended: the first one builds everything.
const LONGEST: &str = "3600";

pub(crate) fn run(project: &Project) -> Result<Verdict> {
    let target = project.target_folder()?;
    let folder = target.join("fresh");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let visitor = Visitor {
        clone: folder.join("epitome"),
        home: folder.join("home"),
        target,
    };
    visitor.arrive(project)?;
    let page = fs::read_to_string(visitor.clone.join("README.md")).context("no README.md")?;
    let shown = Shown::on(&page)?;
    let page = tried("the first command", &visitor.compacts(&shown));
    let agent = match agents::for_session_files(project)? {
        Ok(agents) => visitor.wraps(project, &shown, &agents, &folder),
        Err(reason) => Err(anyhow::anyhow!(reason)),
    };
    let agent = tried("an agent by wrap", &agent);
    Ok(Verdict::good_if(page && agent))
}

fn tried(what: &str, outcome: &Result<String>) -> bool {
    match outcome {
        Ok(said) => println!("fresh: {what}: {said}"),
        Err(problem) => println!("fresh: {what} failed: {problem:#}"),
    }
    outcome.is_ok()
}

/// What is taken out of README.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Its first block of commands.
    first: String,
    /// Its first line that starts an agent.
    wrap: String,
}

impl Shown {
    fn on(page: &str) -> Result<Self> {
        let blocks = docs::commands(page).map_err(anyhow::Error::msg)?;
        let first = blocks.first().context("README has no commands")?;
        let has_wrap = |line: &&&str| line.split_whitespace().any(|word| word == "wrap");
        let wrap = blocks.iter().flatten().find(has_wrap);
        Ok(Self {
            first: first.join("\n"),
            wrap: (*wrap.context("README does not say how `wrap` is called")?).to_owned(),
        })
    }
}

/// Somebody who has the repository's address, a shell and an empty home.
struct Visitor {
    clone: PathBuf,
    home: PathBuf,
    /// Where cargo builds: dependencies that are built already are not built again.
    target: PathBuf,
}

impl Visitor {
    fn arrive(&self, project: &Project) -> Result<()> {
        fs::create_dir_all(&self.home)?;
        let mut git = project.command("git");
        git.args(["clone", "--quiet"])
            .arg(&project.root)
            .arg(&self.clone);
        ensure!(succeeds(git), "the repository could not be cloned");
        Ok(())
    }

    fn compacts(&self, shown: &Shown) -> Result<String> {
        let output = typed(self.shell(&shown.first)?)?;
        let page = String::from_utf8_lossy(&output.stdout);
        Ok(headline(&page)?.to_owned())
    }

    fn wraps(
        &self,
        project: &Project,
        shown: &Shown,
        agents: &Path,
        folder: &Path,
    ) -> Result<String> {
        agents::build(project)?;
        let built = self.target.join("debug");
        let upstream = Upstream::start(&built, folder, WINDOW_TOKENS, Scenario::Wrapped)?;
        let mut path = OsString::from(agents.join("node_modules/.bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut shell = self.shell(&shown.wrap)?;
        shell
            .env("PATH", path)
            .env("ANTHROPIC_BASE_URL", &upstream.url)
            .env("ANTHROPIC_API_KEY", "test-key");
        let output = typed(shell);
        let records = upstream.finish()?;
        let output = output?;
        let answer = String::from_utf8_lossy(&output.stdout);
        ensure!(answer.contains(ANSWER), "the agent's answer is: {answer}");
        let outcome = Outcome::of_records(&records)?;
        ensure!(
            outcome.invalid.is_empty(),
            "invalid: {}",
            outcome.invalid.join("; ")
        );
        let said = String::from_utf8_lossy(&output.stderr);
        let told = last_words(&said).context("epitome does not say what came through it")?;
        ensure!(
            outcome.requests > 0 && told.requests >= outcome.requests,
            "the upstream had {} requests; epitome: {}",
            outcome.requests,
            told.line
        );
        Ok(format!(
            "{} requests at the upstream, none invalid; epitome: {}",
            outcome.requests, told.line
        ))
    }

    /// A shell in the clone that is given the line and nothing of this one's settings.
    fn shell(&self, line: &str) -> Result<Command> {
        let mut command = Command::new("timeout");
        command
            .args([LONGEST, "bash", "-e", "-c", line])
            .current_dir(&self.clone)
            .stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_of_this_shell) {
                command.env_remove(name);
            }
        }
        // The tools of a developer are not in the empty home.
        let own = std::env::home_dir().context("there is no home")?;
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(name).is_none() {
                command.env(name, own.join(folder));
            }
        }
        command
            .env("HOME", &self.home)
            .env("CARGO_TARGET_DIR", &self.target);
        Ok(command)
    }
}

/// What would make another clone, agent or proxy of it, or another build.
fn is_of_this_shell(name: &str) -> bool {
    ["EPITOME_", "ANTHROPIC_", "OPENAI_", "CLAUDE", "XDG_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || crate::project::is_set_by_cargo_run(name)
}

/// Runs to its end; what it says of problems is shown when there are any.
fn typed(mut command: Command) -> Result<Output> {
    let line = command.get_args().last().unwrap_or_default();
    println!("$ {}", line.display());
    let output = command.output().context("could not start a shell")?;
    if !output.status.success() {
        bail!(
            "{}: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// The line that says what became of the conversation, of a page that has all that README shows.
fn headline(page: &str) -> Result<&str> {
    let lines = ON_THE_PAGE.map(|words| page.lines().find(|line| line.contains(words)));
    let [Some(headline), Some(_)] = lines else {
        bail!("the page does not have {ON_THE_PAGE:?}: {page}");
    };
    Ok(headline)
}

/// What epitome says when the agent has ended: `epitome: 3 requests, 0 shortened, 0 tokens less`.
#[derive(Debug, PartialEq, Eq)]
struct LastWords<'a> {
    line: &'a str,
    requests: u64,
}

fn last_words(said: &str) -> Option<LastWords<'_>> {
    said.lines().rev().find_map(|line| {
        let line = line.strip_prefix("epitome: ")?;
        let (number, _) = line.split_once(" requests, ")?;
        let requests = number.replace(',', "").parse().ok()?;
        Some(LastWords { line, requests })
    })
}
