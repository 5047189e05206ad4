//! Identifiers: what an agent writes that it can only have read somewhere.

use crate::text::{digit, is_digit};

/// What an identifier is. The order is that of the names, which breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `SAVE20OFF`: capitals and digits.
    Code,
    /// A mail address.
    Email,
    /// `MAX_RETRIES`.
    Env,
    /// `TypeError`, `ENOENT`, `E0382`.
    Error,
    /// A hexadecimal id of 7 to 40 digits.
    Hex,
    /// `order_4711`.
    Id,
    /// A number of at least four digits that is neither round nor a year.
    Number,
    /// A path or a file name.
    Path,
    /// `snake_case` or `camelCase`.
    Symbol,
    /// A web address.
    Url,
    /// A UUID.
    Uuid,
    /// `1.2.3`.
    Version,
}

impl Kind {
    /// Whether it counts as a need. Symbols do not: most of them are words of the language at hand.
    #[must_use]
    pub const fn is_hard(self) -> bool {
        !matches!(self, Self::Symbol)
    }
}

/// An identifier in its canonical form, so that two spellings of one thing are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ident {
    /// What it is.
    pub kind: Kind,
    /// Its canonical form.
    pub name: Box<str>,
}

/// Endings by which a name is known to be a file's.
const EXTENSIONS: &[&str] = &[
    "rs", "go", "py", "pyi", "ts", "tsx", "js", "jsx", "mjs", "json", "jsonl", "md", "mdx", "toml",
    "yaml", "yml", "sh", "sql", "txt", "html", "css", "scss", "c", "h", "cc", "cpp", "hpp", "java",
    "kt", "rb", "php", "lock", "mod", "sum", "proto", "cfg", "ini", "xml", "csv", "svelte", "vue",
    "log", "traj", "tf", "ex", "swift", "ps1", "bat",
];

/// Pairs of words that look like paths.
const NOT_PATHS: [&str; 10] = [
    "dev/null",
    "and/or",
    "usr/bin",
    "bin/bash",
    "bin/sh",
    "bin/env",
    "i/o",
    "tcp/ip",
    "ci/cd",
    "read/write",
];

impl Ident {
    /// The canonical form of `found`, or nothing when it is not worth remembering.
    #[must_use]
    pub fn canonical(kind: Kind, found: &str) -> Option<Self> {
        let found = found.trim_matches(['.', ',', ';', ':']);
        let name = match kind {
            Kind::Path => path(found)?,
            Kind::Number if !is_telling_number(found) => return None,
            Kind::Code if is_compact_time(found) => return None,
            Kind::Symbol if found.chars().count() < 6 => return None,
            Kind::Url => found.trim_end_matches(['/', '.']).to_lowercase(),
            Kind::Email | Kind::Uuid | Kind::Hex => found.to_lowercase(),
            _ => found.to_owned(),
        };
        (!name.is_empty()).then(|| Self {
            kind,
            name: name.into(),
        })
    }
}

pub(crate) fn is_extension(word: &str) -> bool {
    EXTENSIONS.contains(&word)
}

/// The last two components in lower case.
fn path(found: &str) -> Option<String> {
    let raw = found.replace('\\', "/");
    let parts: Vec<&str> = raw
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".." | "~"))
        .collect();
    if parts.iter().all(|part| part.chars().count() <= 2) {
        return None;
    }
    let last = *parts.last()?;
    let tail = parts.get(parts.len().saturating_sub(2)..)?;
    let name = tail.join("/").to_lowercase();
    if NOT_PATHS.contains(&name.as_str()) {
        return None;
    }
    if has_extension(last) {
        return Some(name);
    }
    let is_signed = |part: &&str| part.contains(|c| is_digit(c) || matches!(c, '_' | '.' | '-'));
    let is_path = parts.len() >= 3
        || (parts.len() == 2
            && (raw.starts_with(['/', '~', '.', '@']) || parts.iter().any(is_signed)));
    is_path.then_some(name)
}

fn has_extension(name: &str) -> bool {
    let name = name.strip_suffix('\n').unwrap_or(name);
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| is_extension(ending))
}

/// Years and round hundreds are everywhere and say nothing.
fn is_telling_number(found: &str) -> bool {
    let value = found
        .chars()
        .filter_map(digit)
        .fold(0_u64, |value, digit| value * 10 + u64::from(digit));
    !value.is_multiple_of(100) && !(1_900..=2_100).contains(&value)
}

/// `20240315T093000Z`.
fn is_compact_time(found: &str) -> bool {
    let found = found.strip_suffix('Z').unwrap_or(found);
    let is_number = |part: &str| !part.is_empty() && part.chars().all(is_digit);
    found
        .split_once('T')
        .is_some_and(|(date, time)| is_number(date) && is_number(time))
}
