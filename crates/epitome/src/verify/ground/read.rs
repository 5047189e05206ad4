//! Reading a source, word by word.

use std::collections::HashMap;

use super::super::item;
use super::super::mark::is_file;
use super::super::number::names_reference;
use super::super::slot::Slot;
use super::super::word::{Key, Word, bare, key, pair, words};
use super::{Asked, Ground, Speakers, figures, value, values};
use crate::files;
use crate::lines::lines;
use crate::message::{Block, Call, Message, Role};
use crate::provenance::{Source, stretches};
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
    /// What stands in a message of the user: his own words, and what others put there.
    fn sent(&mut self, text: &str) {
        for stretch in stretches(text) {
            let speakers = match stretch.source {
                Source::Typed => Speakers::USER,
                Source::Client => Speakers::CLIENT,
                Source::Summary => Speakers::RETOLD,
                Source::Output => Speakers::TOOL,
            };
            self.text(stretch.text, speakers, &[]);
        }
    }

    pub(super) fn message(&mut self, message: &Message, calls: &HashMap<&str, &Call>) {
        for block in &message.blocks {
            match block {
                Block::Text(text) => match message.role {
                    Role::User if Earlier::read(text).is_some() => self.earlier(text),
                    Role::User => self.sent(text),
                    Role::Assistant => self.text(text, Speakers::ASSISTANT, &[]),
                    Role::Tool => self.text(text, Speakers::TOOL, &[]),
                    Role::System => self.text(text, Speakers::CLIENT, &[]),
                },
                Block::Injected(text) => self.text(text, Speakers::CLIENT, &[]),
                Block::Call(call) => {
                    let head = values::head(&call.name, &call.arguments);
                    self.text(&head, Speakers::CALL, &[]);
                    let spelled = values::without_texts(&call.arguments);
                    self.text(&spelled, Speakers::CALL, &[]);
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
        let mut found = LineWords::default();
        if speakers.has(Speakers::TYPED) {
            self.typed.begin();
        }
        for line in lines(text) {
            self.line(line, &mut found, speakers, named);
            if speakers.has(Speakers::ORDERED) {
                self.sentences(line, &found.words, speakers);
            }
            if speakers.has(Speakers::TYPED) {
                for word in &found.words {
                    self.typed.add(word, self.asked.as_ref());
                }
            }
        }
    }

    fn sentences(&mut self, line: &str, words: &[Word<'_>], speakers: Speakers) {
        let mut words = words.iter();
        let mut end = 0;
        for sentence in item::sentences(line) {
            end += sentence.len();
            let inside = words.as_slice().partition_point(|word| word.start < end);
            let inside = words.by_ref().take(inside).map(|word| word.key);
            let key = inside.fold(0, pair);
            self.sentences.insert(key);
            if speakers == Speakers::USER {
                self.stances.add(sentence, key);
            }
        }
    }

    fn line<'a>(
        &mut self,
        line: &'a str,
        found: &mut LineWords<'a>,
        speakers: Speakers,
        named: &[Key],
    ) {
        found.words.clear();
        found.asked.clear();
        for word in words(line) {
            let is_asked = self.word(line, &word);
            if is_asked {
                self.with_words_before(found, &word, speakers);
            }
            found.words.push(word);
            found.asked.push(is_asked);
        }
        for (at, word) in found.words.iter().enumerate() {
            if word.is_numeric() {
                self.number(line, found, at, named);
            }
        }
    }

    /// A word together with the one or two right before it.
    fn with_words_before(&mut self, found: &LineWords<'_>, word: &Word<'_>, speakers: Speakers) {
        let last = found.words.len();
        let Some(second) = last.checked_sub(1).and_then(|at| found.asked_at(at)) else {
            return;
        };
        let two = pair(second, word.key);
        self.pairs.insert(two);
        if let Some(first) = last.checked_sub(2).and_then(|at| found.asked_at(at)) {
            let run = self.runs.entry(pair(first, two)).or_default();
            *run = run.or(speakers);
        }
    }

    /// Counts a word, and tells whether it is asked about.
    fn word(&mut self, line: &str, word: &Word<'_>) -> bool {
        self.total = self.total.saturating_add(1);
        let is_asked = self.seen(word.key);
        if !word.is_ordinary && self.names.insert(word.key) {
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
                self.seen(key(inner));
            }
        }
        is_asked
    }

    /// Counts a word if it is asked about, and tells whether it is.
    fn seen(&mut self, word: Key) -> bool {
        let count = match self.asked {
            Some(_) => self.words.get_mut(&word),
            None => Some(self.words.entry(word).or_default()),
        };
        count
            .map(|count| *count = count.saturating_add(1))
            .is_some()
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
                for part in [head, tail].map(|part| bare(part, '_')) {
                    if part.len() >= PART_CHARS {
                        self.parts.insert(key(part));
                    }
                }
            }
            previous = character;
        }
    }

    fn number(&mut self, line: &str, found: &LineWords<'_>, at: usize, named: &[Key]) {
        let words = found.words.as_slice();
        let Some(word) = words.get(at) else { return };
        let (figures, unit) = figures(word.text);
        let number = key(figures);
        if unit.is_empty() {
            self.large
                .extend(value(figures).filter(|value| *value >= 1_000));
        } else {
            self.parts.insert(number);
        }
        for slot in Slot::around(words, at) {
            let asked = self.asked.as_ref();
            if slot.beside.iter().all(|word| is_asked(asked, *word)) {
                *self.slots.entry(slot.place()).or_default() += 1;
            }
        }
        // The number of a line belongs to what follows, and to the file.
        let is_gutter = at == 0 && {
            let behind = line.get(word.start + word.text.len()..).unwrap_or_default();
            behind.starts_with(['→', '\t', '|', ':', '-'])
        };
        if !is_gutter {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            for word in beside.filter_map(|at| found.asked_at(at)) {
                *self.counted.entry(word).or_default() += 1;
            }
        }
        if unit.is_empty() && refers(line, words, at) {
            self.references.insert(number);
            let around = (at.saturating_sub(NEAR)..=at + NEAR).filter(|place| *place != at);
            self.referred
                .extend(around.filter_map(|place| found.asked_at(place)));
        }
        let asked = self.asked.as_ref();
        if !is_asked(asked, number) {
            return;
        }
        if !unit.is_empty() {
            self.near.insert(pair(number, key(unit)));
        }
        let from = if is_gutter {
            at
        } else {
            at.saturating_sub(NEAR)
        };
        for place in (from..=at + NEAR).filter(|place| *place != at) {
            let Some(other) = found.asked_at(place) else {
                continue;
            };
            self.near.insert(pair(number, other));
            if place.abs_diff(at) <= CLOSE {
                self.close.insert(pair(number, other));
            }
        }
        if is_gutter || line.len() < 400 {
            self.near
                .extend(named.iter().map(|name| pair(number, *name)));
        }
    }
}

/// The words of a line, and which of them are asked about.
#[derive(Default)]
struct LineWords<'a> {
    words: Vec<Word<'a>>,
    asked: Vec<bool>,
}

impl LineWords<'_> {
    /// The word at a place, if it is asked about.
    fn asked_at(&self, at: usize) -> Option<Key> {
        let word = self.words.get(at)?;
        self.asked.get(at)?.then_some(word.key)
    }
}

/// Whether the number at `at` is the name of something: `#12`, `pull/12`, `PR 12`.
fn refers(line: &str, words: &[Word<'_>], at: usize) -> bool {
    let Some(number) = words.get(at) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    line.get(..number.start)
        .is_some_and(|before| before.ends_with('#'))
        || before.is_some_and(names_reference)
}

fn is_asked(asked: Option<&Asked>, word: Key) -> bool {
    asked.is_none_or(|asked| asked.has(word))
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
    files::short_strings(arguments, 400)
        .iter()
        .filter(|value| !value.contains('\n'))
        .filter_map(|value| value.rsplit('/').next())
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
