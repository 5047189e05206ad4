//! A folder: every conversation in it, in one table.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::object::Object;
use super::tables::{counted, grouped};
use super::{Found, look};
use crate::Ending;
use crate::args::InspectArgs;
use crate::folder;
use crate::terminal::tell;

pub(super) fn run(args: &InspectArgs) -> Result<Ending> {
    if args.svg.is_some() {
        bail!("--svg draws one file; {} is a folder", args.file.display());
    }
    let files = folder::files(&args.file)?;
    let found = folder::all(&files, !args.quiet && !args.json, |path| {
        look(path, args.format, args.count.meter())
    });
    if found.iter().all(Result::is_err) {
        bail!(
            "{}: none of {} could be read",
            args.file.display(),
            counted(files.len() as u64, "file")
        );
    }
    if args.json {
        for (path, found) in files.iter().zip(&found) {
            if let Ok(found) = found {
                let name = path.display().to_string();
                let object = serde_json::to_string(&Object::of(found, Some(name)))?;
                crate::print(&format!("{object}\n"))?;
            }
        }
    } else {
        crate::print(&table(&args.file, &files, &found))?;
    }
    if !args.quiet {
        for (path, found) in files.iter().zip(&found) {
            if let Err(error) = found {
                tell!("epitome: {}: {error:#}", path.display());
            }
        }
    }
    Ok(Ending::Done)
}

fn table(folder: &Path, files: &[PathBuf], found: &[Result<Found>]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<44} {:<12} {:>8} {:>12} {:>7} {:>8} {:>8}",
        "file", "format", "messages", "tokens", "calls", "compact.", "problems",
    );
    let mut sums = [0_u64; 5];
    for (path, found) in files.iter().zip(found) {
        let Ok(found) = found else {
            continue;
        };
        let counts = &found.tally.counts;
        let row = [
            counts.messages,
            found.tally.tokens,
            counts.calls,
            counts.compactions,
            counts.problems.total(),
        ];
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += value);
        let name = path
            .strip_prefix(folder)
            .unwrap_or(path)
            .display()
            .to_string();
        line(&mut out, &shortened(&name), found.format, row);
    }
    let read = found.iter().filter(|found| found.is_ok()).count();
    line(&mut out, &counted(read as u64, "file"), "", sums);
    out
}

fn line(out: &mut String, name: &str, format: &str, row: [u64; 5]) {
    let [messages, tokens, calls, compactions, problems] = row.map(grouped);
    let _ = writeln!(
        out,
        "{name:<44} {format:<12} {messages:>8} {tokens:>12} {calls:>7} {compactions:>8} {problems:>8}",
    );
}

/// The end of a name says more than its beginning.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    match count.checked_sub(44) {
        None | Some(0) => name.to_owned(),
        Some(excess) => format!("…{}", name.chars().skip(excess + 1).collect::<String>()),
    }
}
