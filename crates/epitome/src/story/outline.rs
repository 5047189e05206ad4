//! What a text declares: functions, types, tests, headings. It tells what a file is about and what a change added.

use crate::lines::lines;

/// Something declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared<'a> {
    pub(crate) name: &'a str,
    /// The line that declares it, without what opens its body.
    pub(crate) line: &'a str,
}

/// Longer lines declare nothing for people.
const LINE_BYTES: usize = 300;
/// So many are looked for in one text.
const MOST: usize = 200;

const MODIFIERS: &[&str] = &[
    "export",
    "default",
    "pub",
    "pub(crate)",
    "pub(super)",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "async",
    "abstract",
    "override",
    "final",
    "declare",
    "unsafe",
    "extern",
    "inline",
    "const",
    "open",
    "sealed",
];
const KEYWORDS: &[&str] = &[
    "func",
    "fn",
    "def",
    "class",
    "interface",
    "type",
    "struct",
    "enum",
    "trait",
    "mod",
    "module",
    "namespace",
    "function",
    "function*",
    "fun",
    "actor",
    "primitive",
    "object",
    "record",
    "protocol",
    "macro_rules!",
];
const VALUES: &[&str] = &["const", "let", "var", "val", "static"];
const TESTS: &[&str] = &["it(", "test(", "describe("];

/// What a text declares, in order, each name once. Numbers of lines before them are skipped.
pub(crate) fn declared(text: &str) -> Vec<Declared<'_>> {
    let mut found: Vec<Declared<'_>> = Vec::new();
    for line in lines(text) {
        let line = without_number(line);
        if line.len() > LINE_BYTES || line.len() < 4 {
            continue;
        }
        let Some(name) = declares(line) else {
            continue;
        };
        if found.iter().all(|known| known.name != name) {
            let line = line.trim().trim_end_matches(['{', ':', '=', '(', ' ']);
            found.push(Declared { name, line });
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// A line without the number that tools put before it: `  12→text`, `12\ttext`, `12|text`.
pub(crate) fn without_number(line: &str) -> &str {
    let bare = line.trim_start();
    if !bare.starts_with(|one: char| one.is_ascii_digit()) {
        return line;
    }
    let digits = bare.len()
        - bare
            .trim_start_matches(|one: char| one.is_ascii_digit())
            .len();
    let behind = bare.get(digits..).unwrap_or_default();
    let mark = behind
        .strip_prefix(['→', '\t'])
        .or_else(|| behind.strip_prefix("| "));
    mark.unwrap_or(line)
}

fn declares(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    if !bare.starts_with(|one: char| one.is_ascii_lowercase()) {
        // All words that declare something begin with a small letter.
        return None;
    }
    if let Some(quoted) = TESTS.iter().find_map(|test| bare.strip_prefix(test)) {
        let quote = quoted
            .chars()
            .next()
            .filter(|one| matches!(one, '"' | '\'' | '`'))?;
        return quoted
            .get(1..)?
            .split(quote)
            .next()
            .filter(|name| name.len() > 2);
    }
    let mut rest = bare;
    let mut is_value = false;
    loop {
        let (word, behind) = rest.split_once(' ')?;
        if KEYWORDS.contains(&word) {
            return name_of(behind);
        }
        if !MODIFIERS.contains(&word) && !VALUES.contains(&word) {
            break;
        }
        is_value |= VALUES.contains(&word);
        rest = behind.trim_start();
    }
    // A value counts at the outer level only.
    let is_outer = !line.starts_with([' ', '\t']);
    let name = name_of(rest).filter(|_| is_value && is_outer)?;
    rest.contains('=').then_some(name)
}

/// The name that a declaration begins with; the receiver of a method stands before it.
fn name_of(rest: &str) -> Option<&str> {
    let rest = match rest.strip_prefix('(') {
        Some(receiver) => receiver.split_once(") ")?.1,
        None => rest,
    };
    let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_' && one != '$');
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    let is_name = name.starts_with(|one: char| one.is_alphabetic() || one == '_' || one == '$');
    (is_name && name.len() > 1).then_some(name)
}
