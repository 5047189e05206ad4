//! Recorded sessions, replayed as requests through `epitome serve`: how often it compacts, what it sends, and how much
//! of each request stands at the front of the one before, which is what a provider's cache reads.
//!
//! The history is always the recorded one, as the client sees it; the proxy decides alone. The provider behind it counts
//! by a real vocabulary and refuses what does not fit. With `--against PATH` the same goes through another build of the
//! command, and this one may break the cache no more often and refuse nothing that the other one did not.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark is a program for developers: it prints"
)]

#[path = "sessions/measure.rs"]
mod measure;
#[path = "sessions/recorded.rs"]
mod recorded;
#[path = "sessions/replay.rs"]
mod replay;
#[path = "sessions/table.rs"]
mod table;

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::task::JoinSet;

use measure::Measure;
use recorded::Session;
use replay::{Replayed, Tally};
use table::Row;

/// What models have, and what small ones have. The first one decides.
const WINDOWS: [u64; 2] = [200_000, 32_000];
/// Sessions that never use this part of a window have no row of their own.
const SHOWN_DIVISOR: u64 = 2;
/// So many at a time.
const AT_ONCE: usize = 3;

/// How the command was called.
#[derive(Default)]
struct Options {
    against: Option<PathBuf>,
    /// Names every break.
    names_breaks: bool,
    /// Only sessions whose name contains this.
    only: String,
}

fn main() -> ExitCode {
    let folder = recorded::folder();
    if !folder.is_dir() {
        println!(
            "no recorded session: {} is not there, so nothing was replayed; EPITOME_DATA names another folder",
            folder.display()
        );
        return ExitCode::SUCCESS;
    }
    match options().and_then(|options| compare(&options, &folder)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options> {
    let mut options = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--against" => options.against = words.next().map(PathBuf::from),
            "--breaks" => options.names_breaks = true,
            "--only" => options.only = words.next().unwrap_or_default(),
            // Cargo says this to every benchmark.
            "--bench" => {}
            other => return Err(Error::other(format!("`{other}` is not an option"))),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn compare(options: &Options, folder: &Path) -> Result<bool> {
    let mut sessions = recorded::sessions(folder)?;
    sessions.retain(|session| session.name.contains(&options.only));
    let sessions: Vec<Arc<Session>> = sessions.into_iter().map(Arc::new).collect();
    let measure = Arc::new(Measure::new());
    let present = Path::new(env!("CARGO_BIN_EXE_epitome"));
    if options.against.is_none() {
        println!("one version only; `--against PATH` names the binary of another");
    }
    let mut is_good = true;
    for window_tokens in WINDOWS {
        let before = match &options.against {
            Some(binary) => Some(replay_all(binary, &sessions, window_tokens, &measure).await?),
            None => None,
        };
        let after = replay_all(present, &sessions, window_tokens, &measure).await?;
        is_good &= report(options, &sessions, window_tokens, before.as_deref(), &after);
    }
    Ok(is_good)
}

/// What became of each session, in their order.
async fn replay_all(
    binary: &Path,
    sessions: &[Arc<Session>],
    window_tokens: u64,
    measure: &Arc<Measure>,
) -> Result<Vec<Replayed>> {
    let mut running = JoinSet::new();
    let mut done: Vec<(usize, Replayed)> = Vec::new();
    for (index, session) in sessions.iter().enumerate() {
        if running.len() >= AT_ONCE
            && let Some(ended) = running.join_next().await
        {
            done.push(ended.map_err(Error::other)??);
        }
        let binary = binary.to_path_buf();
        let session = Arc::clone(session);
        let measure = Arc::clone(measure);
        running.spawn(async move {
            let replayed = replay::replay(&binary, &session, window_tokens, &measure).await?;
            Ok::<_, Error>((index, replayed))
        });
    }
    while let Some(ended) = running.join_next().await {
        done.push(ended.map_err(Error::other)??);
    }
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, replayed)| replayed).collect())
}

/// Prints what came of a window, and says whether the present version is no worse.
fn report(
    options: &Options,
    sessions: &[Arc<Session>],
    window_tokens: u64,
    before: Option<&[Replayed]>,
    after: &[Replayed],
) -> bool {
    let mut rows = Vec::new();
    let mut sum_before = before.is_some().then(Tally::default);
    let mut sum_after = Tally::default();
    let mut is_good = true;
    for (index, session) in sessions.iter().enumerate() {
        let earlier = before.map(|before| &before[index]);
        let row = Row {
            name: session.name.clone(),
            before: earlier.map(|earlier| earlier.tally),
            after: after[index].tally,
        };
        if let (Some(sum), Some(tally)) = (&mut sum_before, row.before) {
            *sum += tally;
        }
        sum_after += row.after;
        is_good &= complain(&row);
        let is_shown = row.after.bare_tokens > window_tokens / SHOWN_DIVISOR;
        if options.names_breaks {
            let earlier = earlier.into_iter().flat_map(|earlier| &earlier.notes);
            earlier.for_each(|note| println!("before{note}"));
            let later = &after[index].notes;
            later.iter().for_each(|note| println!("after {note}"));
        }
        if is_shown {
            rows.push(row);
        }
    }
    println!(
        "\nwindow {window_tokens}: {} sessions, {} of them use more than half of it",
        sessions.len(),
        rows.len()
    );
    rows.push(Row {
        name: "all sessions".to_owned(),
        before: sum_before,
        after: sum_after,
    });
    table::print(&rows);
    let breaks_before = sum_before.map_or(u64::MAX, |sum| sum.breaks);
    if window_tokens == WINDOWS[0] && sum_after.breaks > breaks_before {
        println!(
            "{} breaks where there were {breaks_before}",
            sum_after.breaks
        );
        is_good = false;
    }
    is_good
}

/// Says what the client sees of refusals that it did not see before; true when there is nothing to say.
fn complain(row: &Row) -> bool {
    let refused = |tally: &Tally| tally.overflows + tally.errors;
    let Some(before) = row.before.as_ref().map(refused) else {
        return true;
    };
    let after = refused(&row.after);
    if after > before {
        println!("{}: {after} requests refused where {before} were", row.name);
    }
    after <= before
}
