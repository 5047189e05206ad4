//! A folder: every conversation in it, in one table.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::object::Object;
use super::{Found, look};
use crate::args::{InspectArgs, Sort};
use crate::history::moment;
use crate::play::dollars;
use crate::terminal::{Page, Table, counted, grouped, left, right, tell};
use crate::{Ending, folder, homes};

const LEAST_NAME_CHARS: usize = 16;

pub(super) fn run(args: &InspectArgs) -> Result<Ending> {
    if args.svg.is_some() {
        bail!("--svg draws one file; name one");
    }
    let folder = args.file.as_deref();
    let files = match folder {
        Some(folder) => folder::files(folder)?,
        None => homes::files()?,
    };
    let found = folder::all(&files, !args.quiet && !args.json, |path| {
        look(path, args.format, args.count.meter())
    });
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for (path, found) in files.into_iter().zip(found) {
        match found {
            Ok(found) => rows.push((path, found)),
            Err(error) => errors.push((path, error)),
        }
    }
    if rows.is_empty() {
        let where_ = folder.map_or_else(String::new, |folder| format!("{}: ", folder.display()));
        let count = counted(errors.len() as u64, "file");
        bail!("{where_}none of {count} could be read");
    }
    let usual = match folder {
        Some(_) => Sort::Name,
        None => Sort::Date,
    };
    sort(&mut rows, args.sort.unwrap_or(usual));
    if args.json {
        for (path, found) in &rows {
            let name = path.display().to_string();
            let object = serde_json::to_string(&Object::of(found, Some(name)))?;
            crate::print(&format!("{object}\n"))?;
        }
    } else {
        table(folder, &rows).print()?;
    }
    if !args.quiet {
        told(folder, &errors);
    }
    Ok(Ending::Done)
}

/// In a folder that somebody named every file is meant; agents keep other things beside their conversations.
fn told(folder: Option<&Path>, errors: &[(PathBuf, anyhow::Error)]) {
    match folder {
        Some(_) => {
            for (path, error) in errors {
                tell!("epitome: {}: {error:#}", path.display());
            }
        }
        None if errors.is_empty() => {}
        None => {
            let count = counted(errors.len() as u64, "file");
            tell!("epitome: {count} beside them hold no conversation that can be read");
        }
    }
}

fn sort(rows: &mut [(PathBuf, Found)], by: Sort) {
    // What is equal, or not known, goes by name.
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    match by {
        Sort::Name => {}
        Sort::Date => rows.sort_by_key(|(_, found)| Reverse(found.tally.last_ms)),
        Sort::Tokens => rows.sort_by_key(|(_, found)| Reverse(found.tally.tokens)),
        Sort::Messages => rows.sort_by_key(|(_, found)| Reverse(found.tally.counts.messages)),
        Sort::Cost => rows.sort_by_key(|(_, found)| Reverse(found.tally.nanodollars())),
    }
}

/// A line for each file: when it ended, what it is, how large, what it cost by what providers counted, its name.
fn table(folder: Option<&Path>, rows: &[(PathBuf, Found)]) -> Page {
    let mut page = Page::default();
    let mut table = Table::new([
        left("last").leaves(1),
        left("format").leaves(3),
        right("messages"),
        right("tokens"),
        right("rounds").leaves(2),
        right("problems").leaves(0),
        right("cost"),
        left("file").shortens_in_front(LEAST_NAME_CHARS),
    ]);
    let mut sums = [0_u64; 4];
    let mut cost = None;
    for (path, found) in rows {
        let tally = &found.tally;
        let counts = &tally.counts;
        let row = [
            counts.messages,
            tally.tokens,
            counts.compactions,
            counts.problems.total(),
        ];
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += value);
        let name = match folder {
            Some(folder) => path
                .strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string(),
            None => homes::shown(path),
        };
        if let Some(nanodollars) = tally.nanodollars() {
            cost = Some(cost.unwrap_or(0_u64).saturating_add(nanodollars));
        }
        let [messages, tokens, rounds, problems] = row.map(grouped);
        table.row([
            tally.last_ms.map(day).unwrap_or_default(),
            found.format.to_owned(),
            messages,
            tokens,
            rounds,
            problems,
            priced(tally.nanodollars()),
            name,
        ]);
    }
    let [messages, tokens, rounds, problems] = sums.map(grouped);
    let files = counted(rows.len() as u64, "file");
    table.sum([
        String::new(),
        String::new(),
        messages,
        tokens,
        rounds,
        problems,
        priced(cost),
        files,
    ]);
    page.table(table);
    page
}

fn day(at_ms: u64) -> String {
    let moment = moment(i64::try_from(at_ms).unwrap_or(i64::MAX));
    moment.split(' ').next().unwrap_or_default().to_owned()
}

/// Empty where nobody knows: most formats do not tell what providers counted.
fn priced(nanodollars: Option<u64>) -> String {
    nanodollars.map_or_else(String::new, |known| dollars(Some(known)))
}
