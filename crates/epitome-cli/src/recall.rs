//! `epitome recall`: original entries, found by their words.

mod file;
mod print;
mod session;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Ending;
use crate::args::RecallArgs;
use crate::history::block_on;
use crate::terminal::tell;

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
