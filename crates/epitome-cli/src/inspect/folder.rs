//! A folder: all files that hold conversations, in parallel, in one table.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};

use super::object::Object;
use super::tables::{counted, grouped};
use super::{Found, look};
use crate::Ending;
use crate::args::InspectArgs;

/// Files whose names end so may hold conversations; others are passed over.
const ENDINGS: &[&str] = &["jsonl", "json", "md", "traj"];
const BAR_WIDTH: usize = 30;

pub(super) fn run(args: &InspectArgs) -> Result<Ending> {
    if args.svg.is_some() {
        bail!("--svg draws one file; {} is a folder", args.file.display());
    }
    let mut files = Vec::new();
    collect(&args.file, &mut files)?;
    files.sort();
    if files.is_empty() {
        bail!(
            "{}: no file here that could hold a conversation",
            args.file.display()
        );
    }
    let progress = Progress::new(files.len(), !args.quiet && !args.json);
    let found = all(&files, |path| {
        let found = look(path, args.format, args.count.meter());
        progress.step();
        found
    });
    progress.end();
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
                eprintln!("epitome: {}: {error:#}", path.display());
            }
        }
    }
    Ok(Ending::Done)
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    let cannot = || format!("{}: cannot be listed", folder.display());
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let path = entry.path();
        // A link may lead in a circle.
        let kind = entry.file_type().with_context(cannot)?;
        let ending = path.extension().and_then(|ending| ending.to_str());
        if kind.is_dir() {
            collect(&path, out)?;
        } else if kind.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            out.push(path);
        }
    }
    Ok(())
}

/// Does `work` on every file, as many at once as there are processors; the answers have the order of the files.
fn all<T: Send>(files: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(files.len()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(files.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(at) else {
                        return;
                    };
                    let outcome = work(path);
                    let mut done = done
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    done.push((at, outcome));
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
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

/// A bar on a terminal; nothing elsewhere.
struct Progress {
    all: usize,
    done: AtomicUsize,
    is_shown: bool,
}

impl Progress {
    fn new(all: usize, is_wanted: bool) -> Self {
        Self {
            all,
            done: AtomicUsize::new(0),
            is_shown: is_wanted && std::io::stderr().is_terminal(),
        }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_shown {
            let full = BAR_WIDTH * done / self.all.max(1);
            let bar = "█".repeat(full) + &"░".repeat(BAR_WIDTH - full);
            eprint!("\r{bar} {done} of {}", self.all);
            // A bar that does not show is no reason to stop.
            let _ = std::io::stderr().flush();
        }
    }

    fn end(&self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}
