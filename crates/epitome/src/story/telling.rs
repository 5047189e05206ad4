//! Which lines of an edit tell what it did.

use std::collections::HashSet;

use memchr::memchr3;

use super::outline::Declared;
use crate::letters::{begins, is_letter};
use crate::lines::lines;
use crate::word_cut::clip;

/// The longest line of an edit that is quoted.
const LINE_CHARS: usize = 110;
/// A line of fewer letters says nothing.
const WORD_CHARS: usize = 6;
/// Two lines stand beside each other up to this length together.
const PAIR_BYTES: usize = 150;
/// So many lines of one edit that say what is wrong or what people will read.
const MESSAGES: usize = 3;
/// What stands in such lines, beside the words themselves.
const MESSAGE_MARKS: &[&str] = &[
    "throw ",
    "raise ",
    "panic",
    "rror(",
    "rror:",
    "rrorf(",
    "Err(",
    "errors.New",
    "bail!",
    "ensure!",
    "abort(",
    "reject(",
    "warn(",
    "console.error",
    "expect(",
    "assert",
];
/// A text in quotes that is shorter is no message.
const MESSAGE_BYTES: usize = 12;
/// What declares something that has fields, and how many of them are named.
const WITH_FIELDS: &[&str] = &["struct ", "interface ", "enum ", "type ", "record "];
const FIELDS: usize = 8;
/// So many lines of a declaration are looked at.
const FIELD_LINES: usize = 40;

/// A declaration, with the names of its fields where it has some.
pub(super) fn declaration(declared: &Declared<'_>, text: &str) -> String {
    let line = clip(declared.line, LINE_CHARS);
    let has_fields = WITH_FIELDS.iter().any(|word| declared.line.contains(word));
    let fields = match has_fields {
        true => fields(declared.line, text),
        false => Vec::new(),
    };
    match fields.is_empty() {
        true => line,
        false => format!("{line} {{ {} }}", fields.join(", ")),
    }
}

/// What the lines behind a declaration name, up to the one that closes it.
fn fields<'a>(line: &str, text: &'a str) -> Vec<&'a str> {
    let Some(behind) = text.find(line).and_then(|at| text.get(at + line.len()..)) else {
        return Vec::new();
    };
    let mut lines = behind.lines();
    if !lines
        .next()
        .is_some_and(|rest| rest.trim_end().ends_with('{'))
    {
        return Vec::new();
    }
    let inside = lines.take(FIELD_LINES).map(str::trim);
    let inside = inside.take_while(|line| !line.starts_with(['}', ')']));
    inside.filter_map(field).take(FIELDS).collect()
}

/// The name that a line of a declaration gives a field.
fn field(line: &str) -> Option<&str> {
    let bare = line
        .strip_prefix("pub ")
        .or_else(|| line.strip_prefix("readonly "))
        .unwrap_or(line);
    let is_part = |one: char| one.is_alphanumeric() || one == '_';
    let end = bare.find(|one: char| !is_part(one)).unwrap_or(bare.len());
    let (name, behind) = bare.split_at_checked(end)?;
    let is_field = behind.starts_with([':', ',', ' ', '?', '(', '{', '\t']) || behind.is_empty();
    let is_name = name.starts_with(|one: char| one.is_alphabetic() || one == '_');
    (is_name && is_field && name.len() > 1).then_some(name)
}

/// The lines of an edit that say what is wrong, or what people will read.
pub(super) fn messages(old: &str, new: &str) -> Vec<String> {
    // Most lines have no quotes, and looking for those is cheap.
    let has_quotes = |line: &str| memchr3(b'"', b'\'', b'`', line.as_bytes()).is_some();
    let is_message = |line: &&str| {
        has_quotes(line)
            && longest_quoted(line) >= MESSAGE_BYTES
            && MESSAGE_MARKS.iter().any(|mark| line.contains(mark))
    };
    let lines = lines(new)
        .filter(is_message)
        .filter(|line| !old.contains(line.trim()));
    let lines = lines.map(|line| format!("`{}`", clip(line, LINE_CHARS)));
    lines.take(MESSAGES).collect()
}

/// How long the longest text in quotes of a line is, in bytes.
fn longest_quoted(line: &str) -> usize {
    let longest = |quote: char| line.split(quote).skip(1).step_by(2).map(str::len).max();
    ['"', '\'', '`']
        .into_iter()
        .filter_map(longest)
        .max()
        .unwrap_or(0)
}

/// The most telling line of an edit; both lines where one takes the place of another.
pub(super) fn heart(old: &str, new: &str) -> Option<String> {
    let lines = |text: &'_ str| -> Vec<String> {
        let lines = text.lines().map(single_spaced);
        lines.filter(|line| says_something(line)).collect()
    };
    let (old_lines, new_lines) = (lines(old), lines(new));
    let (gone, come) = (
        beside(&old_lines, &new_lines),
        beside(&new_lines, &old_lines),
    );
    match (gone.as_slice(), come.as_slice()) {
        ([], []) => None,
        ([gone, ..], []) => Some(format!("removed `{}`", clip(gone, LINE_CHARS))),
        ([gone], [come]) if gone.len() + come.len() < PAIR_BYTES => {
            Some(format!("`{gone}` -> `{come}`"))
        }
        (_, come) => {
            let is_comment = |line: &&&String| {
                ["//", "#", "*", "/*", "--"]
                    .iter()
                    .any(|mark| line.starts_with(mark))
            };
            // A whole new file is told by what it declares.
            if old.is_empty() && come.len() > 12 {
                return None;
            }
            let line = come
                .iter()
                .find(|line| !is_comment(line))
                .or_else(|| come.first())?;
            Some(format!("`{}`", clip(line, LINE_CHARS)))
        }
    }
}

/// A line with one blank between its words and none around them.
fn single_spaced(line: &str) -> String {
    let mut spaced = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(word);
    }
    spaced
}

/// The lines that the others have not.
fn beside<'a>(lines: &'a [String], others: &[String]) -> Vec<&'a String> {
    let others: HashSet<&String> = others.iter().collect();
    lines.iter().filter(|line| !others.contains(line)).collect()
}

fn says_something(line: &str) -> bool {
    let words = line.chars().filter(|one| is_letter(*one));
    let is_import = ["import ", "use ", "from ", "#include", "package ", "using "]
        .iter()
        .any(|opening| begins(line, opening));
    !is_import && words.take(WORD_CHARS).count() == WORD_CHARS
}
