//! The workspace on disk, and starting programs in its root.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
}

impl Project {
    /// The workspace `cargo xtask` was called in. The folder is asked for at run time, because a shared target folder
    /// may hold a runner that was built in another checkout.
    pub(crate) fn find() -> Result<Self> {
        let root = match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(own) => Path::new(&own)
                .parent()
                .context("the xtask crate has no parent folder")?
                .to_owned(),
            None => std::env::current_dir()?,
        };
        if !root.join("xtask/Cargo.toml").is_file() {
            bail!("call this as `cargo xtask` inside the workspace");
        }
        Ok(Self { root })
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// Cargo, without the variables that `cargo run` set for this program: build scripts that watch them would build
    /// again on every change between `cargo xtask` and plain `cargo`.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(cargo);
        command.current_dir(&self.root).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_set_by_cargo_run) {
                command.env_remove(name);
            }
        }
        command
    }

    /// What cargo says of the workspace.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let metadata = self.cargo(&["metadata", "--no-deps", "--format-version", "1"]);
        Ok(serde_json::from_slice(&self.output(metadata)?)?)
    }

    /// The folder that cargo builds in.
    pub(crate) fn target_folder(&self) -> Result<PathBuf> {
        let metadata = self.metadata()?;
        let target = metadata.get("target_directory");
        let target = target.and_then(serde_json::Value::as_str);
        Ok(PathBuf::from(
            target.context("cargo names no target folder")?,
        ))
    }

    /// The standard output of a program that must succeed.
    pub(crate) fn output(&self, mut command: Command) -> Result<Vec<u8>> {
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("could not start {}", describe(&command)))?;
        if !output.status.success() {
            bail!("{} ended with {}", describe(&command), output.status);
        }
        Ok(output.stdout)
    }
}

/// The command line as a person would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or_default();
    let mut line = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// Runs with the terminal's own input and output; a program that cannot be started is a failure like any other.
pub(crate) fn succeeds(mut command: Command) -> bool {
    println!("$ {}", describe(&command));
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("could not start {}: {error}", describe(&command));
            false
        }
    }
}

pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

pub(crate) fn is_set_by_cargo_run(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || [
            "CARGO_BIN_NAME",
            "CARGO_CRATE_NAME",
            "CARGO_PRIMARY_PACKAGE",
            "OUT_DIR",
        ]
        .contains(&name)
}
