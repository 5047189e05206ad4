//! The scripted upstream, a program of the testkit.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::clients::Scenario;

/// The program while it runs.
pub(crate) struct Upstream {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    pub(crate) url: String,
}

impl Upstream {
    /// Starts what cargo put into the folder `built`; the requests go into `folder`.
    pub(crate) fn start(
        built: &Path,
        folder: &Path,
        window_tokens: u64,
        scenario: Scenario,
    ) -> Result<Self> {
        let mut command = Command::new(built.join("examples/upstream"));
        let bodies = folder.join("requests");
        fs::create_dir_all(&bodies)?;
        command.args(["--window", &window_tokens.to_string(), "--bodies"]);
        command.arg(bodies);
        if scenario == Scenario::Faults {
            command.arg("--faults");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("no upstream")?;
        let mut output = BufReader::new(child.stdout.take().context("the upstream has no output")?);
        let mut url = String::new();
        output.read_line(&mut url)?;
        let url = url.trim().to_owned();
        Ok(Self { child, output, url })
    }

    /// Ends it; what it recorded comes back.
    pub(crate) fn finish(mut self) -> Result<String> {
        drop(self.child.stdin.take());
        let mut records = String::new();
        self.output.read_to_string(&mut records)?;
        self.child.wait()?;
        Ok(records)
    }
}
