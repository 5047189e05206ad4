//! The ground a summary stands on: the words of its source, what stood next to what, and who said it.

use std::collections::{HashMap, HashSet};

use super::word::{Key, Spread, Word, key, pair, words};
use crate::files;
use crate::message::{Block, Call, Message, Role};
use crate::summary::Earlier;

/// Who said something, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Speakers(u8);

impl Speakers {
    /// What the user typed.
    pub(super) const USER: Self = Self(1);
    /// What the model said.
    pub(super) const ASSISTANT: Self = Self(2);
    /// What the model had done: the arguments of its calls.
    pub(super) const CALL: Self = Self(4);
    /// What tools returned.
    pub(super) const TOOL: Self = Self(8);
    /// System prompts and text that a client put in.
    pub(super) const CLIENT: Self = Self(16);
    /// An earlier summary of which nobody knows who said what.
    pub(super) const EARLIER: Self = Self(32);

    /// What counts as the user's words.
    pub(super) const TYPED: Self = Self(1 | 32);
    /// What counts as the model's words.
    pub(super) const MODEL: Self = Self(2 | 4);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A word of the source.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    speakers: Speakers,
    count: u32,
}

/// How far a word may stand from a number to belong to it.
const NEAR: usize = 8;
/// Shorter beginnings and ends of a name say nothing.
const PART_CHARS: usize = 5;
/// A place that is found more often is a turn of phrase.
const SLOT_COUNT: u32 = 12;
/// Letters that the forms of a word share.
const ROOT_CHARS: usize = 5;
/// The letters of a shortened hash.
const HASH_CHARS: std::ops::RangeInclusive<usize> = 7..=12;

/// Everything that can be asked about a source, built in one pass over it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    words: HashMap<Key, Seen, Spread>,
    pairs: HashSet<Key, Spread>,
    /// Three words in a row, and who said them.
    runs: HashMap<Key, Speakers, Spread>,
    /// Words of the user, without their endings, and the texts of his in which they stand.
    typed: HashMap<Key, Vec<u32>, Spread>,
    /// How many texts the user wrote.
    typed_texts: u32,
    /// Whole sentences of the user.
    sentences: HashSet<Key, Spread>,
    /// Numbers with the words around them.
    near: HashSet<Key, Spread>,
    /// Places for a number: the words beside it without the number itself, and how often there is such a place.
    slots: HashMap<Key, u32, Spread>,
    /// Words that stand next to a number: what the source counts.
    counted: HashSet<Key, Spread>,
    /// Beginnings and ends of names.
    parts: HashSet<Key, Spread>,
    /// Whole numbers from a thousand on, sorted.
    large: Vec<u64>,
    total: u32,
}

impl Ground {
    /// Reads the source, and the summary of the round before.
    pub(super) fn of(source: &[(usize, &Message)], previous: Option<&str>) -> Self {
        let mut ground = Self::default();
        let mut calls: HashMap<&str, &Call> = HashMap::new();
        for (_, message) in source {
            calls.extend(message.calls().map(|call| (call.id.as_ref(), call)));
            ground.message(message, &calls);
        }
        if let Some(previous) = previous {
            ground.earlier(previous);
        }
        ground.large.sort_unstable();
        ground.large.dedup();
        ground
    }

    fn message(&mut self, message: &Message, calls: &HashMap<&str, &Call>) {
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
                    self.text(&call.name, Speakers::CALL, &[]);
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
    fn earlier(&mut self, text: &str) {
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

    fn text(&mut self, text: &str, speakers: Speakers, named: &[Key]) {
        let mut line_words: Vec<Word<'_>> = Vec::new();
        self.typed_texts += u32::from(speakers.has(Speakers::TYPED));
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
        for sentence in super::item::sentences(line) {
            self.sentences.insert(sentence_key(sentence));
        }
        for word in words(line) {
            let texts = self.typed.entry(root(word.text)).or_default();
            if texts.last() != Some(&self.typed_texts) {
                texts.push(self.typed_texts);
            }
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
        for other in words.iter().skip(from).take(at + NEAR + 1 - from) {
            if other.start != word.start {
                self.near.insert(pair(number, other.key));
            }
        }
        if !is_gutter {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let beside = beside.filter_map(|at| words.get(at)).map(|word| word.key);
            self.counted.extend(beside);
        }
        if is_gutter || line.len() < 400 {
            self.near
                .extend(named.iter().map(|name| pair(number, *name)));
        }
    }

    /// Whether the source has a word.
    pub(super) fn knows(&self, word: Key) -> bool {
        self.words.contains_key(&word)
    }

    /// Whether the source has a name that begins or ends so.
    pub(super) fn knows_part(&self, part: Key) -> bool {
        self.parts.contains(&part)
    }

    /// Whether the user used a word, in whatever form.
    pub(super) fn has_typed(&self, word: &str) -> bool {
        self.typed.contains_key(&root(word))
    }

    /// How many of these words one text of the user has, at best.
    pub(super) fn typed_together<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        let roots: HashSet<Key, Spread> = words.map(root).collect();
        let mut texts: HashMap<u32, usize> = HashMap::new();
        for text in roots
            .iter()
            .filter_map(|root| self.typed.get(root))
            .flatten()
        {
            *texts.entry(*text).or_default() += 1;
        }
        texts.into_values().max().unwrap_or_default()
    }

    /// Whether the user said a sentence, as it stands.
    pub(super) fn has_sentence(&self, sentence: &str) -> bool {
        self.sentences.contains(&sentence_key(sentence))
    }

    /// The words of one text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut ground = Self::default();
        ground.text(text, Speakers::ASSISTANT, &[]);
        ground
    }

    /// Who said three words in a row.
    pub(super) fn run_speakers(&self, run: Key) -> Speakers {
        self.runs.get(&run).copied().unwrap_or_default()
    }

    /// Whether two words stand next to each other in the source.
    pub(super) fn has_pair(&self, first: Key, second: Key) -> bool {
        self.pairs.contains(&pair(first, second))
    }

    /// Whether a number stands near a word in the source.
    pub(super) fn has_near(&self, number: Key, word: Key) -> bool {
        self.near.contains(&pair(number, word))
    }

    /// Whether the source has the places beside a number with this number, or with another one only.
    pub(super) fn slots(&self, words: &[Word<'_>], at: usize) -> Slots {
        let mut found = if self.is_verbatim_but(words, at) {
            Slots::Other
        } else {
            Slots::Unknown
        };
        for slot in Slot::around(words, at) {
            if self.runs.contains_key(&slot.run()) {
                return Slots::Same;
            }
            let count = self.slots.get(&slot.place()).copied().unwrap_or_default();
            let tells = slot.beside.iter().any(|word| !self.is_common(*word));
            if (1..=SLOT_COUNT).contains(&count) && tells {
                found = Slots::Other;
            }
        }
        found
    }

    /// Whether all but the word at `at` is a quotation of the source.
    fn is_verbatim_but(&self, words: &[Word<'_>], at: usize) -> bool {
        let others = words
            .windows(3)
            .enumerate()
            .filter(|(start, _)| !(*start..start + 3).contains(&at));
        let (mut total, mut known) = (0, 0);
        for (_, three) in others {
            let [first, second, third] = three else {
                continue;
            };
            let run = pair(first.key, pair(second.key, third.key));
            total += 1;
            known += usize::from(self.runs.contains_key(&run));
        }
        total == known && total > 0 || total >= 4 && known * 5 >= total * 4
    }

    /// Whether a word stands next to some number in the source.
    pub(super) fn is_counted(&self, word: Key) -> bool {
        self.counted.contains(&word)
    }

    /// Whether a word is so frequent that it says nothing about what stands near it.
    pub(super) fn is_common(&self, word: Key) -> bool {
        let count = self.words.get(&word).map_or(0, |seen| seen.count);
        count > 20.max(self.total / 1_500)
    }

    /// Whether some number of the source lies in a range.
    pub(super) fn has_between(&self, least: u64, most: u64) -> bool {
        let at = self.large.partition_point(|value| *value < least);
        self.large.get(at).is_some_and(|value| *value <= most)
    }
}

/// What the source says about the places beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    /// It has none of them.
    Unknown,
    /// It has this number there.
    Same,
    /// It has other numbers there, and not this one.
    Other,
}

/// Two words beside a number.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: Key,
    beside: [Key; 2],
    /// How many of the two stand before it.
    before: usize,
}

impl Slot {
    /// The places around the number at `at`: two words before it, one on either side, two behind it.
    fn around(words: &[Word<'_>], at: usize) -> impl Iterator<Item = Self> {
        let word = |place: Option<usize>| {
            place
                .and_then(|place| words.get(place))
                .map(|word| word.key)
        };
        let number = word(Some(at));
        let places = [
            (word(at.checked_sub(2)), word(at.checked_sub(1)), 2),
            (word(at.checked_sub(1)), word(Some(at + 1)), 1),
            (word(Some(at + 1)), word(Some(at + 2)), 0),
        ];
        places
            .into_iter()
            .filter_map(move |(first, second, before)| {
                Some(Self {
                    number: number?,
                    beside: [first?, second?],
                    before,
                })
            })
    }

    /// The place, whatever number stands there.
    fn place(self) -> Key {
        let [first, second] = self.beside;
        pair(pair(first, second), self.before as Key)
    }

    /// The three words in a row.
    fn run(self) -> Key {
        let [first, second] = self.beside;
        match self.before {
            0 => pair(self.number, pair(first, second)),
            1 => pair(first, pair(self.number, second)),
            _ => pair(first, pair(second, self.number)),
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

/// The beginning that the forms of a word share: `duplicate`, `duplication`.
fn root(word: &str) -> Key {
    let end = word
        .char_indices()
        .nth(ROOT_CHARS)
        .map_or(word.len(), |(at, _)| at);
    key(word.get(..end).unwrap_or(word))
}

fn sentence_key(sentence: &str) -> Key {
    words(sentence).fold(0, |whole, word| pair(whole, word.key))
}

/// The names of files among a call's arguments, without their endings.
fn file_words(arguments: &str) -> Vec<Key> {
    files::strings(arguments)
        .iter()
        .filter(|(_, value)| value.len() < 400 && !value.contains('\n'))
        .filter_map(|(_, value)| value.rsplit('/').next())
        .filter(|name| super::mark::is_file(name))
        .filter_map(|name| words(name).next())
        .map(|word| word.key)
        .take(4)
        .collect()
}

/// A number and what is written behind it: `200k` → `200`, `k`.
pub(super) fn figures(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(text.len());
    text.split_at(end)
}

pub(super) fn value(figures: &str) -> Option<u64> {
    figures.replace(',', "").parse().ok()
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}
