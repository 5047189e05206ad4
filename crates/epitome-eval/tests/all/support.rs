//! Short ways to write sessions.

use std::io::Write;
use std::path::{Path, PathBuf};

use epitome_eval::{Entry, History, Ident, Kind, Speaker, ToolCall};

pub(crate) fn characters(text: &str) -> Vec<char> {
    text.chars().collect()
}

pub(crate) fn user(text: &str) -> Entry {
    Entry::text(Speaker::User, text)
}

pub(crate) fn assistant(text: &str) -> Entry {
    Entry::text(Speaker::Assistant, text)
}

pub(crate) fn system(text: &str) -> Entry {
    Entry::text(Speaker::System, text)
}

/// An assistant message with one call.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Entry {
    Entry {
        tool_calls: vec![ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }],
        ..assistant("")
    }
}

pub(crate) fn result(id: &str, text: &str) -> Entry {
    Entry {
        tool_call_id: Some(id.to_owned()),
        ..Entry::text(Speaker::Tool, text)
    }
}

pub(crate) fn history(entries: &[Entry]) -> History {
    History::of_entries(entries.to_vec())
}

pub(crate) fn path(name: &str) -> Ident {
    Ident {
        kind: Kind::Path,
        name: name.into(),
    }
}

/// The names of identifiers, in order.
pub(crate) fn names<'a>(idents: impl IntoIterator<Item = &'a Ident>) -> Vec<&'a str> {
    let mut names: Vec<&str> = idents.into_iter().map(|ident| &*ident.name).collect();
    names.sort_unstable();
    names
}

/// A folder of the real data; when it is not there, that is said and reported.
pub(crate) fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let base = match std::env::var_os("EPITOME_DATA") {
        Some(base) => PathBuf::from(base),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let path = base.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    report(&format!("DATA-ABSENT {test}: no folder {}", path.display()));
    None
}

/// Says what a test could not do.
pub(crate) fn report(line: &str) {
    eprintln!("{line}");
    if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(report);
        let mut file = file.expect("the report of skipped tests can be written");
        writeln!(file, "{line}").expect("the report of skipped tests can be written");
    }
}
