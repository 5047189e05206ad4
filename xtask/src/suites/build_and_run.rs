//! Builds the test binaries to learn their names, then runs them through cargo, and some of them on another database.

use std::io::{PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::notices;
use super::on_postgres::{self, Again};
use super::tally::{Suite, Tally};
use crate::project::{Project, describe};

/// Silence after which output is taken to be complete once cargo has ended.
const SETTLE: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    Dev,
    Release,
}

#[derive(Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) profile: Profile,
    /// Part of the test names to run; all when `None`.
    pub(crate) filter: Option<&'a str>,
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

#[derive(Debug)]
pub(crate) enum Run {
    DidNotBuild,
    Ran {
        suites: Vec<Suite>,
        is_success: bool,
    },
}

/// Libraries, binaries, integration tests, examples (built only) and documentation tests of the whole workspace; no
/// benchmarks. Every suite runs even when an earlier one failed.
pub(super) fn build_and_run(
    project: &Project,
    selection: &Selection<'_>,
    notice_file: &Path,
    again: Again,
) -> Result<Run> {
    let mut arguments = vec!["test", "--workspace", "--locked"];
    if matches!(selection.profile, Profile::Release) {
        arguments.push("--release");
    }
    let Some(built) = build(project, &arguments)? else {
        return Ok(Run::DidNotBuild);
    };
    let names = built.iter().map(Binary::entry).collect();

    arguments.push("--no-fail-fast");
    arguments.extend(selection.filter);
    let mut command = project.cargo(&arguments);
    command
        .env(notices::VARIABLE, notice_file)
        .envs(selection.environment.iter().copied());
    let mut tally = Tally::new(names);
    let mut is_success = run(command, &mut tally)?.success();
    let mut suites = tally.finish();
    for binary in &built {
        let suite = on_postgres::again(project, selection, notice_file, binary, again)?;
        is_success &= suite.as_ref().is_none_or(|suite| !suite.is_failed());
        suites.extend(suite);
    }
    Ok(Run::Ran { suites, is_success })
}

/// Runs a program whose output goes to the terminal and into the tally.
pub(super) fn run(mut command: Command, tally: &mut Tally) -> Result<ExitStatus> {
    println!("$ {}", describe(&command));
    // One pipe for both streams keeps cargo's announcements and the test results in order.
    let (reader, writer) = std::io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("could not start {}", describe(&command)))?;
    // The command still holds the writing end, without which the reader would never see the end of the output.
    drop(command);

    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || forward(reader, &sender));
    follow(&mut child, &lines, tally)?;
    Ok(child.wait()?)
}

/// A test binary that was built.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) executable: PathBuf,
    /// The folder of its package.
    pub(super) folder: PathBuf,
    pub(super) suite: String,
}

impl Binary {
    fn entry(&self) -> (String, String) {
        let file = self.executable.file_name().unwrap_or_default();
        (file.to_string_lossy().into_owned(), self.suite.clone())
    }
}

#[derive(Deserialize)]
struct Message {
    manifest_path: Option<String>,
    target: Option<Target>,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// `None` when something did not compile; the compiler has said what.
fn build(project: &Project, arguments: &[&str]) -> Result<Option<Vec<Binary>>> {
    let mut command = project.cargo(arguments);
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    println!("$ {}", describe(&command));
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        return Ok(None);
    }
    let mut built = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Message =
            serde_json::from_str(line).context("could not read cargo's build messages")?;
        built.extend(binary_of(&message));
    }
    Ok(Some(built))
}

fn binary_of(message: &Message) -> Option<Binary> {
    let executable = PathBuf::from(message.executable.as_deref()?);
    let folder = Path::new(message.manifest_path.as_deref()?).parent()?;
    let package = folder.file_name()?.to_string_lossy();
    let target = message.target.as_ref()?;
    let suite = match target.kind.first().map(String::as_str) {
        Some("test") => format!("{package} tests/{}", target.name),
        Some("bin") => format!("{package} (command)"),
        Some("example") => format!("{package} examples/{}", target.name),
        _ => package.into_owned(),
    };
    Some(Binary {
        executable,
        folder: folder.to_owned(),
        suite,
    })
}

/// Copies the output to the terminal as it comes, and each whole line to the channel.
fn forward(mut reader: PipeReader, lines: &Sender<String>) {
    let mut chunk = [0; 8192];
    let mut pending = Vec::new();
    while let Ok(length @ 1..) = reader.read(&mut chunk) {
        let fresh = chunk.get(..length).unwrap_or_default();
        let mut terminal = std::io::stdout().lock();
        // A closed terminal must not end the tests before their verdict.
        let _ = terminal.write_all(fresh).and_then(|()| terminal.flush());
        pending.extend_from_slice(fresh);
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            if lines
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
        }
    }
}

/// Until the output ends, or cargo has ended and it stays quiet: a server that a test left behind may hold the pipe
/// open for ever.
fn follow(child: &mut Child, lines: &Receiver<String>, tally: &mut Tally) -> Result<()> {
    loop {
        match lines.recv_timeout(SETTLE) {
            Ok(line) => tally.line(&line),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
