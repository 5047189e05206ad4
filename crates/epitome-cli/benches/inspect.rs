//! `epitome inspect` of a session file of one gigabyte takes at most 300 MB of memory. Target: 100 MB.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

const FILE_BYTES: u64 = 1 << 30;
/// As tool results are on average in the real sessions.
const TEXT_BYTES: usize = 2_000;
const LIMIT_MB: u64 = 300;

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else {
        println!("no room for a temporary folder");
        return ExitCode::FAILURE;
    };
    let mut verdict = ExitCode::SUCCESS;
    println!("1 GB of        peak memory in MB   limit");
    let kinds: [(&str, Entry); 3] = [("pi", pi), ("claude-code", claude_code), ("codex", codex)];
    for (name, entry) in kinds {
        let path = folder.path().join(format!("{name}.jsonl"));
        let peak = write(&path, entry).and_then(|()| peak_mb(&path));
        match peak {
            Ok(peak) => {
                println!("{name:<14} {peak:>17} {LIMIT_MB:>7}");
                if peak > LIMIT_MB {
                    verdict = ExitCode::FAILURE;
                }
            }
            Err(error) => {
                println!("{name}: {error}");
                verdict = ExitCode::FAILURE;
            }
        }
        // Three of them need not lie beside each other; what is left goes with the folder.
        let _ = std::fs::remove_file(&path);
    }
    verdict
}

/// Writes the entry with a number; the entry 0 is the header.
type Entry = fn(&mut dyn Write, u64, &str) -> Result<()>;

fn write(path: &Path, entry: Entry) -> Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let text = "one more line of output\\n".repeat(TEXT_BYTES / 25);
    let mut number = 0;
    let mut written = 0;
    while written < FILE_BYTES {
        entry(&mut file, number, &text)?;
        number += 1;
        written += text.len() as u64 + 200;
    }
    file.flush()
}

fn pi(out: &mut dyn Write, number: u64, text: &str) -> Result<()> {
    const TIME: &str = "2026-01-02T03:04:05.000Z";
    if number == 0 {
        return writeln!(
            out,
            r#"{{"type":"session","version":3,"id":"s","timestamp":"{TIME}","cwd":"/"}}"#
        );
    }
    let parent = match number {
        1 => "null".to_owned(),
        _ => format!("\"{:08x}\"", number - 1),
    };
    let role = if number % 2 == 1 { "user" } else { "assistant" };
    writeln!(
        out,
        r#"{{"type":"message","id":"{number:08x}","parentId":{parent},"timestamp":"{TIME}","message":{{"role":"{role}","content":[{{"type":"text","text":"{number} {text}"}}]}}}}"#
    )
}

fn claude_code(out: &mut dyn Write, number: u64, text: &str) -> Result<()> {
    let parent = match number {
        0 => "null".to_owned(),
        _ => format!("\"{:032x}\"", number - 1),
    };
    let role = if number.is_multiple_of(2) {
        "user"
    } else {
        "assistant"
    };
    writeln!(
        out,
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","uuid":"{number:032x}","timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s","message":{{"role":"{role}","id":"m{number}","content":[{{"type":"text","text":"{number} {text}"}}]}}}}"#
    )
}

fn codex(out: &mut dyn Write, number: u64, text: &str) -> Result<()> {
    const TIME: &str = "2026-01-02T03:04:05.000Z";
    if number == 0 {
        return writeln!(
            out,
            r#"{{"timestamp":"{TIME}","type":"session_meta","payload":{{"id":"s","cwd":"/","timestamp":"{TIME}"}}}}"#
        );
    }
    let (role, kind) = match number % 2 {
        1 => ("user", "input_text"),
        _ => ("assistant", "output_text"),
    };
    writeln!(
        out,
        r#"{{"timestamp":"{TIME}","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{number} {text}"}}]}}}}"#
    )
}

/// The largest resident size of the command, as the kernel kept it.
fn peak_mb(path: &Path) -> Result<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_epitome"))
        .arg("inspect")
        .arg(path)
        .arg("--json")
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kb = 0;
    let ending = loop {
        if let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            peak_kb = peak_kb.max(kb.unwrap_or(0));
        }
        if let Some(ending) = child.try_wait()? {
            break ending;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !ending.success() || peak_kb == 0 {
        return Err(std::io::Error::other("the command did not do its work"));
    }
    Ok(peak_kb / 1024)
}
