//! `epitome recall`: original entries, found by their words.

mod file;
mod print;
mod session;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Ending;
use crate::args::RecallArgs;
use crate::history::{block_on, one_line};
use crate::terminal::tell;

/// How much of an entry is shown.
const EXCERPT_CHARS: usize = 160;
/// How much of that stands before the first word that was found.
const BEFORE_CHARS: usize = 40;

/// What was found, the best first.
struct Found {
    hits: Vec<Hit>,
    /// Whether the conversation of a hit must be named.
    several: bool,
}

struct Hit {
    /// Which conversation of a file, from 1.
    conversation: usize,
    /// Which entry, from 1.
    position: u64,
    role: Option<&'static str>,
    /// The key of a stored entry.
    key: Option<String>,
    score: f64,
    excerpt: String,
    covered_by: Option<Cover>,
}

/// The compaction whose summary stands for an entry.
struct Cover {
    /// A stored compaction's id, or where it stands in its file.
    name: String,
    summary: String,
}

pub(crate) fn run(args: &RecallArgs) -> Result<Ending> {
    let (file, words) = match (&args.session, args.named.split_first()) {
        (None, Some((file, words))) if !words.is_empty() => (Some(Path::new(file)), words),
        (None, _) => bail!("what to look for? epitome recall FILE QUERY, or --session ID QUERY"),
        (Some(_), _) => (None, args.named.as_slice()),
    };
    let query = words.join(" ");
    let found = match (file, &args.session) {
        (Some(file), _) => {
            let name = file.display().to_string();
            let found = block_on(file::search(file, &name, args.format, &query, args.most));
            Some(found.with_context(|| name)?)
        }
        (None, Some(id)) => block_on(session::search(&args.at, id, &query, args.most))?,
        (None, None) => None,
    };
    let Some(found) = found else {
        return Ok(Ending::No);
    };
    crate::print(&if args.at.json {
        print::object(&query, &found).to_string() + "\n"
    } else {
        print::text(&found)
    })?;
    if found.hits.is_empty() {
        tell!("epitome: no entry has any of these words");
        return Ok(Ending::No);
    }
    Ok(Ending::Done)
}

/// A piece of `text` around the first of the query's words, on one line.
fn excerpt(text: &str, query: &str) -> String {
    let lower = text.to_lowercase();
    let words = query.split(|one: char| !one.is_alphanumeric());
    let found = words
        .filter(|word| !word.is_empty())
        .filter_map(|word| lower.find(&word.to_lowercase()))
        .min();
    // Lower case may have another length, so that this is where the word stands only roughly.
    let at = found.map_or(0, |at| lower.get(..at).unwrap_or_default().chars().count());
    let skipped = at.saturating_sub(BEFORE_CHARS);
    let rest: String = text.chars().skip(skipped).take(4 * EXCERPT_CHARS).collect();
    let line = one_line(&rest, EXCERPT_CHARS);
    match skipped {
        0 => line,
        _ => format!("…{line}"),
    }
}
