//! `epitome recall`: original entries, found by their words.

mod file;
mod print;
mod session;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use epitome_engine::archive::Found;

use crate::args::{RecallArgs, RecallSort};
use crate::history::block_on;
use crate::terminal::{Patience, counted, tell};
use crate::{Ending, folder, homes};
use file::{FoundInFiles, Place};

pub(crate) fn run(args: &RecallArgs) -> Result<Ending> {
    let has_words_alone = args.agents || args.session.is_some();
    let (file, words) = match args.named.split_first() {
        _ if has_words_alone => (None, args.named.as_slice()),
        Some((file, words)) if !words.is_empty() => (Some(Path::new(file)), words),
        _ => bail!(
            "what to look for? epitome recall FILE QUERY, --agents QUERY, or --session ID QUERY"
        ),
    };
    let query = words.join(" ");
    let (found, places) = match &args.session {
        None => in_files(args, file, &query)?,
        Some(id) => match block_on(session::search(&args.at, id, &query, args.most))? {
            Some(found) => (found, Vec::new()),
            None => return Ok(Ending::No),
        },
    };
    match args.at.json {
        true => {
            crate::print(&(print::object(&query, &found, &places).to_string() + "\n"))?;
        }
        false => print::page(&found, &places).print()?,
    }
    if found.hits.is_empty() {
        tell!("epitome: no entry has any of these words; other forms of them may be there");
        return Ok(Ending::No);
    }
    Ok(Ending::Done)
}

/// In one file, in those of a folder, or in those of the agents. Of one file nobody asks where it is.
fn in_files(args: &RecallArgs, file: Option<&Path>, query: &str) -> Result<(Found, Vec<Place>)> {
    let folder = file.filter(|file| file.is_dir());
    let files: Vec<PathBuf> = match (file, folder) {
        (_, Some(folder)) => folder::files(folder)?,
        (Some(file), None) => vec![file.to_owned()],
        (None, None) => homes::files()?,
    };
    let is_one = file.is_some() && folder.is_none();
    let is_shown = !is_one && !args.at.json;
    let doing = format!("looking through {}", counted(files.len() as u64, "file"));
    let _waiting = Patience::unless(args.at.json || !is_one, doing);
    let search = file::search(&files, args.format, query, args.most, is_shown);
    let FoundInFiles {
        found,
        places,
        unread_files,
    } = block_on(search)?;
    if unread_files > 0 {
        tell!("epitome: files without a conversation that can be read: {unread_files}");
    }
    let Found { hits, several } = found;
    let mut both: Vec<_> = hits.into_iter().zip(places).collect();
    if args.sort == RecallSort::Date {
        both.sort_by_key(|(_, place)| Reverse(place.at_ms));
    }
    let (hits, places) = both.into_iter().unzip();
    let found = Found { hits, several };
    Ok((found, if is_one { Vec::new() } else { places }))
}
