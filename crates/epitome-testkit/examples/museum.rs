//! Writes what the museum keeps of a version: databases and session files, with manifests of what must be true of them.
//!
//! ```text
//! cargo xtask museum NAME
//! ```
//!
//! The conversations are the same every time; ids, times and the tenant's secret are not, so that a second run gives
//! other bytes. What is in the museum already is therefore never written again.

#![expect(
    clippy::indexing_slicing,
    reason = "what is not in a JSON value is null, and a generator may stop"
)]

#[path = "museum/engine.rs"]
mod engine;
#[path = "museum/proxy.rs"]
mod proxy;
#[path = "museum/sessions.rs"]
mod sessions;
#[path = "museum/store.rs"]
mod store;
#[path = "museum/talk.rs"]
mod talk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [epitome, into] = arguments.as_slice() else {
        bail!("call this as `cargo xtask museum NAME`");
    };
    if into.exists() {
        bail!(
            "{} is there already, and what has landed is never changed",
            into.display()
        );
    }
    let epitome = Epitome(fs::canonicalize(epitome).context("no such command")?);
    proxy::make(&part(into, "proxy")?, &epitome).await?;
    Box::pin(engine::make(&part(into, "engine")?)).await?;
    sessions::make(&part(into, "sessions")?, &epitome)
}

fn part(into: &Path, name: &str) -> Result<PathBuf> {
    let folder = into.join(name);
    fs::create_dir_all(&folder)?;
    Ok(fs::canonicalize(folder)?)
}

/// The command of this version.
struct Epitome(PathBuf);

/// What the command said.
struct Said {
    code: Option<i32>,
    json: Value,
}

impl Epitome {
    /// Runs the command for its JSON, away from everybody's settings and from folders that exist on one machine only.
    fn run(&self, arguments: &[&str]) -> Result<Said> {
        let mut command = Command::new(&self.0);
        command.args(arguments).current_dir("/");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EPITOME_")) {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", "/nonexistent");
        let output = command.output()?;
        let json = serde_json::from_slice(&output.stdout).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("epitome {}: {said}", arguments.join(" "))
        })?;
        Ok(Said {
            code: output.status.code(),
            json,
        })
    }
}

/// Writes a list of each kind with one thing on a line: short, and a difference can still be read.
fn write_manifest(path: &Path, value: &Value) -> Result<()> {
    let mut text = String::from("{");
    for (number, (name, value)) in value.as_object().into_iter().flatten().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        match value.as_array() {
            Some(list) => {
                let lines: Vec<String> = list.iter().map(|one| format!("  {one}")).collect();
                text.push_str(&format!("\"{name}\": [\n{}\n]", lines.join(",\n")));
            }
            None => text.push_str(&format!("\"{name}\": {value}")),
        }
    }
    text.push_str("\n}\n");
    fs::write(path, text)?;
    Ok(())
}
