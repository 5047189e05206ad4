//! `epitome compact` from start to end, reading the file and verifying the summary included: 200,000 tokens may take
//! 100 ms of the processor.
//!
//! Time is what the system charged for the command, user and system; the best of some rounds counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a benchmark measures time and prints it"
)]

#[path = "../../epitome/benches/compact/conversation.rs"]
mod conversation;

use std::io::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use conversation::Style;
use epitome_files::{Conversation, FileFormat, Origin, Stamp, write_file};

const TOKENS: u64 = 200_000;
const LIMIT: Duration = Duration::from_millis(100);
/// Machines are noisy, and noise only ever adds: the best of many short rounds counts.
const ROUNDS: usize = 16;
/// Some systems count in steps of ten milliseconds: the command runs more than once.
const RUNS: u32 = 4;
/// Recorded sessions with fewer tokens show nothing.
const LEAST_TOKENS: u64 = 150_000;
/// Files with fewer bytes have fewer tokens.
const LEAST_BYTES: u64 = 500_000;

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else {
        println!("no room for a temporary folder");
        return ExitCode::FAILURE;
    };
    println!("session                     tokens  ms of CPU  ms for {TOKENS} tokens");
    let generated = Style::ALL.map(|style| {
        let path = folder.path().join(format!("{}.jsonl", style.name()));
        let written = std::fs::write(&path, codex_session(style));
        written.and_then(|()| measure(style.name(), &path))
    });
    let recorded: Vec<PathBuf> = recorded();
    if recorded.is_empty() {
        println!("no recorded session: none is measured");
    }
    let recorded = recorded.iter().map(|path| {
        let name = path.file_stem().unwrap_or_default();
        measure(&name.to_string_lossy(), path)
    });
    let mut is_good = true;
    for outcome in generated.into_iter().chain(recorded) {
        match outcome {
            Ok(is_within) => is_good &= is_within,
            Err(error) => {
                println!("{error}");
                is_good = false;
            }
        }
    }
    println!("limit {LIMIT:?} for {TOKENS} tokens");
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn codex_session(style: Style) -> Vec<u8> {
    let messages = style.messages(TOKENS);
    let conversation = Conversation {
        origins: vec![Origin::default(); messages.len()],
        messages,
        ..Conversation::default()
    };
    let stamp = Stamp {
        session_id: "generated",
        folder: "/",
        time_ms: 0,
    };
    write_file(&conversation, FileFormat::Codex, stamp)
        .map_or_else(|_| Vec::new(), |file| file.bytes)
}

/// The recorded sessions that are large enough, in the formats of their agents.
fn recorded() -> Vec<PathBuf> {
    let data = match std::env::var_os("EPITOME_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let mut found = Vec::new();
    for agent in ["claude-code", "codex", "pi"] {
        let files = std::fs::read_dir(data.join("native").join(agent));
        let files = files.into_iter().flatten().flatten();
        let is_large = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() > LEAST_BYTES);
        let is_session = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
        found.extend(
            files
                .map(|file| file.path())
                .filter(is_session)
                .filter(is_large),
        );
    }
    found.sort();
    found
}

/// Whether compacting a file keeps within the limit for its size.
fn measure(name: &str, path: &Path) -> Result<bool> {
    let tokens = tokens(path)?;
    if tokens < LEAST_TOKENS {
        return Ok(true);
    }
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = time_of_children();
        for _ in 0..RUNS {
            compact(path).stdout(Stdio::null()).status()?;
        }
        best = best.min((time_of_children() - start) / RUNS);
    }
    let ms = best.as_secs_f64() * 1e3;
    let scaled = ms * TOKENS as f64 / tokens as f64;
    println!("{name:<24} {tokens:>9}  {ms:>9.1}  {scaled:>21.1}");
    Ok(scaled <= LIMIT.as_secs_f64() * 1e3)
}

fn tokens(path: &Path) -> Result<u64> {
    let output = compact(path).output()?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(report["tokens_before"].as_u64().unwrap_or_default())
}

fn compact(path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
    command
        .arg("compact")
        .arg(path)
        .args(["--budget", "8000", "--json"])
        .stderr(Stdio::null());
    command
}

/// What the commands that ended have used of the processor; the time of day where the system does not say.
fn time_of_children() -> Duration {
    thread_local! {
        static START: Instant = Instant::now();
    }
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").ok();
    // Behind the name, which may hold anything, the times of children are the 14th and the 15th.
    let ticks = stat.and_then(|stat| {
        let (_, behind) = stat.rsplit_once(')')?;
        let mut children = behind.split_whitespace().skip(13);
        let user: u32 = children.next()?.parse().ok()?;
        let system: u32 = children.next()?.parse().ok()?;
        Some(user + system)
    });
    ticks.map_or_else(|| START.with(|start| start.elapsed()), |ticks| ticks * TICK)
}
