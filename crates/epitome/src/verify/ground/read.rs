//! Reading a source, word by word.

use std::collections::HashMap;

use super::super::item;
use super::super::mark::is_file;
use super::super::slot::Slot;
use super::super::word::{Key, Word, key, pair, words};
use super::{Ground, Speakers, figures, sentence_key, value, values};
use crate::files;
use crate::message::{Block, Call, Message, Role};
use crate::summary::Earlier;

/// How far a word may stand from a number to belong to it.
const NEAR: usize = 8;
/// How far a word may stand from a number to be what it counts.
const CLOSE: usize = 2;
/// Shorter beginnings and ends of a name say nothing.
const PART_CHARS: usize = 5;
/// The letters of a shortened hash.
const HASH_CHARS: std::ops::RangeInclusive<usize> = 7..=12;

impl Ground {
    pub(super) fn message(&mut self, message: &Message, calls: &HashMap<&str, &Call>) {
        for block in &message.blocks {
            match block {
                Block::Text(text) => match message.role {
                    Role::User if Earlier::read(text).is_some() => self.earlier(text),
                    Role::User => self.text(text, Speakers::USER, &[]),
                    Role::Assistant => self.text(text, Speakers::ASSISTANT, &[]),
                    Role::Tool => self.text(text, Speakers::TOOL, &[]),
                    Role::System => self.text(text, Speakers::CLIENT, &[]),
                },
                Block::Injected(text) => self.text(text, Speakers::CLIENT, &[]),
                Block::Call(call) => {
                    let head = values::head(&call.name, &call.arguments);
                    self.text(&head, Speakers::CALL, &[]);
                    self.text(&call.arguments, Speakers::CALL, &[]);
                    for (_, value) in files::strings(&call.arguments) {
                        self.text(&value, Speakers::CALL, &[]);
                    }
                }
                Block::Result(result) => {
                    let named = calls
                        .get(result.call_id.as_ref())
                        .map(|call| file_words(&call.arguments))
                        .unwrap_or_default();
                    for text in result.texts() {
                        self.text(text, Speakers::TOOL, &named);
                        if let Some(answer) = answer(text) {
                            self.text(answer, Speakers::USER, &[]);
                        }
                    }
                }
                Block::Thinking { .. } | Block::Media(_) | Block::Opaque { .. } => {}
            }
        }
    }

    /// An earlier summary: of one of ours it is known what the user said.
    pub(super) fn earlier(&mut self, text: &str) {
        self.text(text, Speakers::EARLIER, &[]);
        if let Some(earlier) = Earlier::read(text) {
            let typed = earlier
                .pins
                .iter()
                .chain(&earlier.said)
                .chain(&earlier.task);
            for line in typed {
                self.text(line, Speakers::USER, &[]);
            }
        }
    }

    pub(super) fn text(&mut self, text: &str, speakers: Speakers, named: &[Key]) {
        let mut line_words: Vec<Word<'_>> = Vec::new();
        if speakers.has(Speakers::TYPED) {
            self.typed.begin();
        }
        for line in text.lines() {
            line_words.clear();
            line_words.extend(words(line));
            self.line(line, &line_words, speakers, named);
            if speakers.has(Speakers::TYPED) {
                self.sentences(line);
            }
        }
    }

    fn sentences(&mut self, line: &str) {
        for sentence in item::sentences(line) {
            self.sentences.insert(sentence_key(sentence));
        }
        for word in words(line) {
            self.typed.add(word.text, word.key);
        }
    }

    fn line(&mut self, line: &str, words: &[Word<'_>], speakers: Speakers, named: &[Key]) {
        let mut before: Option<Key> = None;
        let mut before_that: Option<Key> = None;
        for (at, word) in words.iter().enumerate() {
            self.word(line, word, speakers);
            if let Some(last) = before {
                let two = pair(last, word.key);
                self.pairs.insert(two);
                if let Some(first) = before_that {
                    let run = self.runs.entry(pair(first, two)).or_default();
                    *run = run.or(speakers);
                }
            }
            before_that = before.replace(word.key);
            if word.is_numeric() {
                self.number(line, words, at, named);
            }
        }
    }

    fn word(&mut self, line: &str, word: &Word<'_>, speakers: Speakers) {
        self.total = self.total.saturating_add(1);
        let seen = self.words.entry(word.key).or_default();
        seen.speakers = seen.speakers.or(speakers);
        seen.count = seen.count.saturating_add(1);
        if seen.count == 1 {
            self.parts_of(word.text);
        }
        // Text inside text: `\nfunc` is a line break and a word.
        if word.start > 0 && line.as_bytes().get(word.start - 1) == Some(&b'\\') {
            let inner = match word.text.as_bytes().first() {
                Some(b'n' | b't' | b'r') => word.text.get(1..),
                Some(b'u') => word.text.get(5..),
                _ => None,
            };
            if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                let seen = self.words.entry(key(inner)).or_default();
                seen.speakers = seen.speakers.or(speakers);
                seen.count = seen.count.saturating_add(1);
            }
        }
    }

    /// Beginnings and ends of a name of several parts, a version without its letter, a hash cut short.
    fn parts_of(&mut self, name: &str) {
        if let Some(number) = name.strip_prefix(['v', 'V']).filter(|n| is_number(n)) {
            self.parts.insert(key(number));
        }
        if name.len() > *HASH_CHARS.start() && name.bytes().all(|b| b.is_ascii_hexdigit()) {
            for chars in HASH_CHARS {
                self.parts.extend(name.get(..chars).map(key));
            }
        }
        let mut previous = ' ';
        for (at, character) in name.char_indices() {
            let is_border = character == '_'
                || previous == '_'
                || previous.is_lowercase() && character.is_uppercase();
            if is_border {
                let (head, tail) = name.split_at(at);
                for part in [head, tail].map(|part| part.trim_matches('_')) {
                    if part.len() >= PART_CHARS {
                        self.parts.insert(key(part));
                    }
                }
            }
            previous = character;
        }
    }

    fn number(&mut self, line: &str, words: &[Word<'_>], at: usize, named: &[Key]) {
        let Some(word) = words.get(at) else { return };
        let (figures, unit) = figures(word.text);
        let number = key(figures);
        if unit.is_empty() {
            self.large
                .extend(value(figures).filter(|value| *value >= 1_000));
        } else {
            self.parts.insert(number);
            self.near.insert(pair(number, key(unit)));
        }
        for slot in Slot::around(words, at) {
            *self.slots.entry(slot.place()).or_default() += 1;
        }
        // The number of a line belongs to what follows, and to the file.
        let is_gutter = at == 0 && {
            let behind = line.get(word.start + word.text.len()..).unwrap_or_default();
            behind.starts_with(['→', '\t', '|', ':', '-'])
        };
        let from = if is_gutter {
            at
        } else {
            at.saturating_sub(NEAR)
        };
        let around = words.iter().enumerate().skip(from);
        for (place, other) in around.take(at + NEAR + 1 - from) {
            if place != at {
                self.near.insert(pair(number, other.key));
            }
            if (1..=CLOSE).contains(&place.abs_diff(at)) {
                self.close.insert(pair(number, other.key));
            }
        }
        if !is_gutter {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let beside = beside.filter_map(|at| words.get(at)).map(|word| word.key);
            for word in beside {
                *self.counted.entry(word).or_default() += 1;
            }
        }
        if is_gutter || line.len() < 400 {
            self.near
                .extend(named.iter().map(|name| pair(number, *name)));
        }
    }
}

/// How a client passes on what the user said when he refused a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";
const SAID: &str = "the user said:";

/// What the user said instead of letting a tool run.
fn answer(result: &str) -> Option<&str> {
    let (_, said) = result.strip_prefix(REFUSED)?.split_once(SAID)?;
    Some(said)
}

/// The names of files among a call's arguments, without their endings.
fn file_words(arguments: &str) -> Vec<Key> {
    files::strings(arguments)
        .iter()
        .filter(|(_, value)| value.len() < 400 && !value.contains('\n'))
        .filter_map(|(_, value)| value.rsplit('/').next())
        .filter(|name| is_file(name))
        .filter_map(|name| words(name).next())
        .map(|word| word.key)
        .take(4)
        .collect()
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}
