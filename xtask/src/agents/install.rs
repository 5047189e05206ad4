//! Puts the clients where they are run from, in the versions of `xtask/agents.toml`; what is there stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::clients::{Client, Driver};
use crate::project::Project;

/// The set that the tests of session files use too.
pub(crate) const AGENTS: &str = "npm.agents";

const VERSIONS: &str = "xtask/agents.toml";
/// Written when a folder is complete: what it was filled with.
const STAMP: &str = "installed.txt";

type Packages = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Versions {
    npm: BTreeMap<String, Packages>,
    pip: BTreeMap<String, Packages>,
}

/// The folders by the names of their tables, such as `npm.agents`; or why one could not be filled.
#[derive(Debug)]
pub(crate) struct Sets(BTreeMap<String, Result<PathBuf, String>>);

impl Sets {
    /// Fills the folders that are wanted, all at the same time: most of it is waiting for the registries.
    pub(crate) fn prepare<'a>(
        project: &Project,
        target: &Path,
        wanted: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let text = fs::read_to_string(project.root.join(VERSIONS))
            .with_context(|| format!("could not read {VERSIONS}"))?;
        let versions: Versions =
            toml::from_str(&text).with_context(|| format!("{VERSIONS} is not as it should be"))?;
        let mut wanted: Vec<&str> = wanted.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let filled = std::thread::scope(|scope| {
            let fill = |name: &'a str| {
                (
                    name,
                    scope.spawn({
                        let versions = &versions;
                        move || versions.fill(target, name)
                    }),
                )
            };
            let running: Vec<_> = wanted.into_iter().map(fill).collect();
            let ended = running.into_iter().map(|(name, one)| {
                let outcome = one
                    .join()
                    .unwrap_or_else(|_| Err("the installation panicked".to_owned()));
                (name.to_owned(), outcome)
            });
            ended.collect()
        });
        Ok(Self(filled))
    }

    /// Why a client cannot be driven, if it cannot.
    pub(crate) fn missing(&self, client: &Client) -> Option<String> {
        client
            .sets()
            .into_iter()
            .find_map(|set| self.folder(set).err())
    }

    pub(crate) fn folder(&self, set: &str) -> Result<PathBuf, String> {
        let unknown = || Err(format!("{VERSIONS} has no table {set}"));
        self.0.get(set).cloned().unwrap_or_else(unknown)
    }

    /// The program that runs a driver, and the driver's file.
    pub(crate) fn runtime(&self, client: &Client) -> Result<(PathBuf, &'static str), String> {
        Ok(match client.driver {
            Driver::Plain(file) => (PathBuf::from("python3"), file),
            Driver::Python(file) => (self.folder(client.set)?.join("bin/python"), file),
            Driver::Node(file) => (self.programs(AGENTS)?.join("node"), file),
        })
    }

    /// Where the programs of a set are.
    pub(crate) fn programs(&self, set: &str) -> Result<PathBuf, String> {
        let part = if set.starts_with("npm.") {
            "node_modules/.bin"
        } else {
            "bin"
        };
        Ok(self.folder(set)?.join(part))
    }
}

impl Versions {
    fn fill(&self, target: &Path, name: &str) -> Result<PathBuf, String> {
        let packages = match name.split_once('.') {
            Some(("npm", set)) => self.npm.get(set),
            Some(("pip", set)) => self.pip.get(set),
            _ => None,
        };
        let packages = packages.ok_or_else(|| format!("{VERSIONS} has no table {name}"))?;
        let folder = target.join("agents").join(name);
        let stamp = folder.join(STAMP);
        let wanted: String = packages
            .iter()
            .map(|(name, version)| format!("{name} {version}\n"))
            .collect();
        if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
            return Ok(folder);
        }
        println!("installing {name} into {}", folder.display());
        let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(problem)?;
        }
        fs::create_dir_all(&folder).map_err(problem)?;
        if name.starts_with("npm.") {
            npm(&folder, packages)
        } else {
            pip(&folder, packages)
        }
        .map_err(|reason| format!("{name} could not be installed: {reason}"))?;
        fs::write(stamp, wanted).map_err(problem)?;
        Ok(folder)
    }
}

fn npm(folder: &Path, packages: &Packages) -> Result<(), String> {
    let manifest = json!({"private": true, "dependencies": packages});
    fs::write(folder.join("package.json"), manifest.to_string())
        .map_err(|error| error.to_string())?;
    let mut command = Command::new("npm");
    command
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder);
    finish(command)
}

fn pip(folder: &Path, packages: &Packages) -> Result<(), String> {
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(folder);
    finish(environment)?;
    let mut command = Command::new(folder.join("bin/python"));
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    command.args(
        packages
            .iter()
            .map(|(name, version)| format!("{name}=={version}")),
    );
    finish(command)
}

/// The reason of a failure is the last thing that was said about an error.
fn finish(mut command: Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = || said.lines().filter(|line| !line.trim().is_empty());
    let told = lines().find(|line| line.to_lowercase().contains("error"));
    Err(told
        .or_else(|| lines().next_back())
        .unwrap_or("no reason given")
        .trim()
        .to_owned())
}
