//! All files of a folder that may hold conversations, worked on in parallel.

use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};

/// Files whose names end so may hold conversations; others are passed over.
const ENDINGS: &[&str] = &["jsonl", "json", "md", "traj"];
const BAR_WIDTH: usize = 30;

/// The files under a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        bail!(
            "{}: no file here that could hold a conversation",
            folder.display()
        );
    }
    Ok(files)
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
pub(crate) fn all<T: Send>(
    files: &[PathBuf],
    is_shown: bool,
    work: impl Fn(&Path) -> T + Sync,
) -> Vec<T> {
    let progress = Progress::new(files.len(), is_shown);
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
                    progress.step();
                    let mut done = done
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    done.push((at, outcome));
                }
            });
        }
    });
    progress.end();
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
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
            // A bar that does not show is no reason to stop.
            let mut out = std::io::stderr();
            let _ = write!(out, "\r{bar} {done} of {}", self.all);
            let _ = out.flush();
        }
    }

    fn end(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
