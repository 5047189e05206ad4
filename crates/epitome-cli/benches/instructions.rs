//! Instructions of `epitome compact`, counted by valgrind: they do not depend on what else the machine does, so two builds of the
//! command can be compared where times cannot.
//!
//! With `--against PATH` the same goes through another build of the command, and this one may take one tenth more.

#![expect(
    clippy::print_stdout,
    reason = "a benchmark is a program for developers: it prints"
)]

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const OURS: &str = env!("CARGO_BIN_EXE_epitome");
/// What this build may take of the other one's instructions.
const LIMIT: f64 = 1.10;
/// Smaller sessions are mostly the start of the process.
const LEAST_BYTES: u64 = 300_000;

fn main() -> ExitCode {
    let sessions = recorded();
    if sessions.is_empty() {
        println!("no recorded session: nothing was counted; EPITOME_DATA names the folder");
        return ExitCode::SUCCESS;
    }
    let outcome = against().map_or_else(
        || alone(&sessions).map(|()| true),
        |other| compared(&sessions, &other),
    );
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn against() -> Option<PathBuf> {
    let mut words = std::env::args().skip_while(|word| word != "--against");
    words.nth(1).map(PathBuf::from)
}

fn alone(sessions: &[PathBuf]) -> Result<()> {
    println!("session                         millions");
    for path in sessions {
        let ours = counted(Path::new(OURS), path)?;
        println!("{:<30} {ours:>9.1}", name(path));
    }
    Ok(())
}

/// Whether no session takes more than the limit.
fn compared(sessions: &[PathBuf], other: &Path) -> Result<bool> {
    println!("session                        the other       now  ratio");
    let mut ratios = Vec::new();
    for path in sessions {
        let (theirs, ours) = (counted(other, path)?, counted(Path::new(OURS), path)?);
        let ratio = ours / theirs;
        println!("{:<30} {theirs:>9.1} {ours:>9.1} {ratio:>6.2}", name(path));
        ratios.push(ratio);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    println!(
        "geometric mean {:.2}, limit {LIMIT:.2} for each",
        mean.exp()
    );
    Ok(ratios.iter().all(|ratio| *ratio <= LIMIT))
}

fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Millions of instructions that a build of the command takes to compact a file.
fn counted(command: &Path, file: &Path) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command)
        .arg("compact")
        .arg(file)
        .args(["--budget", "8000", "--json"])
        .stdout(Stdio::null())
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let collected = told
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, count)| count.trim().parse::<f64>().ok());
    match collected {
        Some(count) if output.status.success() => Ok(count / 1e6),
        _ => Err(Error::other(format!(
            "{} on {}: {told}",
            command.display(),
            file.display()
        ))),
    }
}

/// The recorded sessions that are large enough, in the formats of their agents.
fn recorded() -> Vec<PathBuf> {
    let data = match std::env::var_os("EPITOME_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let mut found = Vec::new();
    for folder in ["native/claude-code", "native/codex", "native/pi"] {
        let files = std::fs::read_dir(data.join(folder));
        let files = files.into_iter().flatten().flatten();
        found.extend(files.map(|file| file.path()).filter(|path| {
            path.extension().is_some_and(|end| end == "jsonl")
                && path.metadata().is_ok_and(|file| file.len() > LEAST_BYTES)
        }));
    }
    found.sort();
    found
}
