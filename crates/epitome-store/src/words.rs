//! Which words a text has, for the index and for queries.
//!
//! A database's own tokenizer knows neither code nor scripts without spaces. So the words are found here, the same way
//! for both sides and for every database:
//!
//! - a run of letters, digits and `_` is a word, and so is each part of an identifier (`parse_header`, `parseHeader`);
//!   paths fall apart at their separators;
//! - a run of a script without spaces gives its characters and its pairs of neighbours;
//! - `folded` takes case and accents away, where the database does not do it itself;
//! - `query` is what an entry must have, in FTS5's words or as a check of counts;
//! - `Counted` is how often a text has each word; `bag` finds by them.

mod folded;
mod query;

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

use std::collections::BTreeMap;

use epitome::Digest;

use crate::TenantId;

use folded::fold_into;
pub(crate) use folded::folded;
pub(crate) use query::{Expression, Need, Term};

/// Longer runs are data rather than words: only their beginning is kept, and they have no parts.
const MAX_WORD_CHARS: usize = 64;

/// The words of `text` with spaces between them, for an FTS5 table. Every word carries the mark of its tenant, so that
/// neither matches nor word counts reach beyond it.
pub(crate) fn of_text(tenant: &TenantId, text: &str) -> String {
    let mark = mark(tenant);
    let mut words = String::with_capacity(text.len() * 2);
    each(text, |word| {
        for part in [mark.as_str(), "_", word, " "] {
            words.push_str(part);
        }
    });
    words
}

/// How often each word stands in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// By the folded word.
    pub(crate) counts: BTreeMap<String, i64>,
    /// All words, each as often as it stands there.
    pub(crate) total: i64,
}

impl Counted {
    pub(crate) fn of(text: &str) -> Self {
        let mut counted = Self::default();
        let mut small = String::new();
        each(text, |word| {
            counted.total += 1;
            fold_into(word, &mut small);
            // Most words were there before.
            match counted.counts.get_mut(small.as_str()) {
                Some(count) => *count += 1,
                None => {
                    counted.counts.insert(small.clone(), 1);
                }
            }
        });
        counted
    }
}

/// An FTS5 expression for the words of `query`, whatever else is in it. `None` when it has none.
pub(crate) fn of_query(tenant: &TenantId, query: &str, need: Need) -> Option<String> {
    let mark = mark(tenant);
    Expression::of(query, need).map(|expression| expression.fts5(&mark))
}

fn each(text: &str, mut add: impl FnMut(&str)) {
    for run in Runs(text) {
        match run {
            Run::Word(word) if word.is_ascii() => each_ascii(word, &mut add),
            Run::Word(word) => {
                let word = Word::new(word);
                add(&word.whole);
                word.parts.iter().for_each(|part| add(part));
            }
            Run::Unspaced(run) => {
                let mut buffer = [0; 4];
                for character in run.chars() {
                    add(character.encode_utf8(&mut buffer));
                }
                pairs(run).for_each(&mut add);
            }
        }
    }
}

/// The same as [`Word`] for a run of letters, digits and `_` as programs have them, which are slices of it.
fn each_ascii(run: &str, add: &mut impl FnMut(&str)) {
    let whole = run.get(..MAX_WORD_CHARS).unwrap_or(run);
    add(whole);
    if run.len() > MAX_WORD_CHARS {
        return;
    }
    let bytes = run.as_bytes();
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let is_small = |byte: &u8| byte.is_ascii_lowercase();
        let begins = byte.is_ascii_uppercase()
            && before.is_some_and(|before| {
                !before.is_ascii_uppercase() || bytes.get(at + 1).is_some_and(is_small)
            });
        if *byte == b'_' || begins {
            add_part(run, start, at, add);
            start = at + usize::from(*byte == b'_');
        }
    }
    add_part(run, start, run.len(), add);
}

fn add_part(run: &str, start: usize, end: usize, add: &mut impl FnMut(&str)) {
    if let Some(part) = run.get(start..end).filter(|part| !part.is_empty())
        && part.len() < run.len()
    {
        add(part);
    }
}

/// A short name for the tenant that consists of letters and digits. Results are checked against the full name too.
fn mark(tenant: &TenantId) -> String {
    let mut digest = Digest::of(tenant.as_str().as_bytes()).to_string();
    digest.truncate(10);
    digest
}

/// Neighbouring characters.
fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let starts = run.char_indices().map(|(start, _)| start);
    let ends = run
        .char_indices()
        .map(|(start, one)| start + one.len_utf8());
    starts
        .zip(ends.skip(1))
        .filter_map(|(start, end)| run.get(start..end))
}

struct Word {
    whole: String,
    /// None, or those that differ from the whole.
    parts: Vec<String>,
}

impl Word {
    fn new(run: &str) -> Self {
        let characters: Vec<char> = run.chars().filter(|one| !is_accent(*one)).collect();
        let whole: String = characters.iter().take(MAX_WORD_CHARS).collect();
        if characters.len() > MAX_WORD_CHARS {
            let parts = Vec::new();
            return Self { whole, parts };
        }
        let mut parts = vec![String::new()];
        for (index, &character) in characters.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|at| characters.get(at));
            let after = characters.get(index + 1);
            let begins = character == '_' || begins_part(before, character, after);
            if begins {
                parts.push(String::new());
            }
            if let (Some(part), true) = (parts.last_mut(), character != '_') {
                part.push(character);
            }
        }
        parts.retain(|part| !part.is_empty() && *part != whole);
        Self { whole, parts }
    }
}

/// `parseHeader` at `H`, `HTTPHeader` at the second `H`.
fn begins_part(before: Option<&char>, character: char, after: Option<&char>) -> bool {
    character.is_uppercase()
        && before.is_some_and(|before| {
            !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
        })
}

enum Run<'a> {
    Word(&'a str),
    Unspaced(&'a str),
}

/// The runs of a text, one after the other; holds what is left.
struct Runs<'a>(&'a str);

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        let start = self.0.find(|one| Kind::of(one) != Kind::Between)?;
        let rest = self.0.get(start..)?;
        let kind = rest.chars().next().map(Kind::of)?;
        let end = rest.find(|one| Kind::of(one) != kind);
        let (run, rest) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        self.0 = rest;
        Some(match kind {
            Kind::Unspaced => Run::Unspaced(run),
            _ => Run::Word(run),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Between,
    Word,
    Unspaced,
}

impl Kind {
    fn of(character: char) -> Self {
        if character.is_ascii() {
            return match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Self::Word,
                _ => Self::Between,
            };
        }
        if is_unspaced(character) {
            return Self::Unspaced;
        }
        match character.is_alphanumeric() || is_accent(character) || is_indic(character) {
            true => Self::Word,
            false => Self::Between,
        }
    }
}

/// Thai, Lao, Burmese and Khmer; Korean (its particles stick to words); Chinese and Japanese.
fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{0E01}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECD}' | '\u{1000}'..='\u{1049}' | '\u{1780}'..='\u{17D3}'
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FE}'
        | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}'
    )
}

/// An accent of its own. It is left out, as the database leaves out those that are one with their letter.
fn is_accent(character: char) -> bool {
    matches!(character, '\u{0300}'..='\u{036F}')
}

/// The scripts of India write with signs that are no letters but belong to words; the dandas end sentences.
fn is_indic(character: char) -> bool {
    matches!(character, '\u{0900}'..='\u{0DFF}') && !matches!(character, '\u{0964}' | '\u{0965}')
}
