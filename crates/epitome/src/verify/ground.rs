//! The ground a summary stands on: the words of its source, what stood next to what, and who said it.

mod asked;
mod read;
mod values;

use std::collections::{HashMap, HashSet};

use super::slot::{Slot, Slots};
use super::stances::{Agreement, Stances};
use super::typed::Typed;
use super::word::{Key, Spread, Word, pair, words};
use crate::message::{Call, Message};
pub(super) use asked::Asked;

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

    /// What a model wrote earlier and the client sends again: his words may be retold in it, and others' too.
    pub(super) const RETOLD: Self = Self(64);

    /// What counts as the user's words.
    pub(super) const TYPED: Self = Self(1 | 32 | 64);
    /// What counts as an order of his.
    pub(super) const ORDERED: Self = Self(1 | 32);
    /// What counts as the model's words.
    pub(super) const MODEL: Self = Self(2 | 4);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A place that is found more often is a turn of phrase.
const SLOT_COUNT: u32 = 12;
/// One that is found no more often than this is a place of its own, whatever words it is made of.
const RARE_COUNT: u32 = 3;

/// Everything that can be asked about a source, built in one pass over it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    /// What will be asked about: what has to do with other words is not kept. Nothing is left out without it.
    asked: Option<Asked>,
    /// How often each word stands there. Of what is asked about, also those that do not.
    words: HashMap<Key, u32, Spread>,
    /// Names whose parts were looked at.
    names: HashSet<Key, Spread>,
    pairs: HashSet<Key, Spread>,
    /// Three words in a row, and who said them.
    runs: HashMap<Key, Speakers, Spread>,
    /// What the user typed.
    typed: Typed,
    /// On which side his sentences stand.
    stances: Stances,
    /// Whole sentences of the user.
    sentences: HashSet<Key, Spread>,
    /// Numbers with the words around them.
    near: HashSet<Key, Spread>,
    /// Numbers with the words right beside them.
    close: HashSet<Key, Spread>,
    /// Places for a number: the words beside it without the number itself, and how often there is such a place.
    slots: HashMap<Key, u32, Spread>,
    /// Words that stand next to a number: what the source counts.
    counted: HashMap<Key, u32, Spread>,
    /// Numbers of issues, pull requests and tasks: `#12`, `pull/12`.
    references: HashSet<Key, Spread>,
    /// Words that stand near one of those.
    referred: HashSet<Key, Spread>,
    /// Beginnings and ends of names.
    parts: HashSet<Key, Spread>,
    /// Whole numbers from a thousand on, sorted.
    large: Vec<u64>,
    total: u32,
}

impl Ground {
    /// Reads the source, and the summary of the round before. `asked` is what will be asked about, if that is known.
    pub(super) fn of(
        source: &[(usize, &Message)],
        previous: Option<&str>,
        asked: Option<Asked>,
    ) -> Self {
        let mut ground = Self::default();
        if let Some(asked) = &asked {
            ground.words.extend(asked.words().map(|word| (word, 0)));
        }
        ground.asked = asked;
        if let Some(previous) = previous {
            ground.earlier(previous);
        }
        ground.add(source);
        ground
    }

    /// Reads more entries.
    pub(super) fn add(&mut self, source: &[(usize, &Message)]) {
        let mut calls: HashMap<&str, &Call> = HashMap::new();
        for (_, message) in source {
            calls.extend(message.calls().map(|call| (call.id.as_ref(), call)));
            self.message(message, &calls);
        }
        self.large.sort_unstable();
        self.large.dedup();
    }

    /// Whether the source has a word.
    pub(super) fn knows(&self, word: Key) -> bool {
        self.count(word) > 0
    }

    /// How often a word stands in the source.
    fn count(&self, word: Key) -> u32 {
        self.words.get(&word).copied().unwrap_or_default()
    }

    /// Whether the source has a name that begins or ends so.
    pub(super) fn knows_part(&self, part: Key) -> bool {
        self.parts.contains(&part)
    }

    /// Whether the user used a word, in whatever form.
    pub(super) fn has_typed(&self, word: &str) -> bool {
        self.typed.has(word)
    }

    /// How much of these words the user typed in one place, in percent.
    pub(super) fn typed_together(&self, words: &[&str], spread: u32) -> usize {
        self.typed.together(words, spread)
    }

    /// How a sentence stands to what the user typed, without what `is_void` no longer counts.
    pub(super) fn agreement(&self, told: &str, is_void: &dyn Fn(&str) -> bool) -> Agreement {
        self.stances.agreement(told, is_void)
    }

    /// What the user typed that a sentence tells in other words.
    pub(super) fn his_words(&self, told: &str) -> Option<&str> {
        self.stances.his_words(told)
    }

    /// Whether a sentence that sets nothing free is about something that the user asked for.
    pub(super) fn is_touched(&self, told: &str) -> bool {
        self.stances.is_touched(told)
    }

    /// What the numbers that the user typed come to, however they were written.
    pub(super) fn typed_amounts(&self) -> &[u64] {
        self.stances.amounts()
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

    /// Whether a number stands right beside a word in the source, or with one word between.
    pub(super) fn has_close(&self, number: Key, word: Key) -> bool {
        self.close.contains(&pair(number, word))
    }

    /// Whether the source refers to something by this number.
    pub(super) fn is_reference(&self, number: Key) -> bool {
        self.references.contains(&number)
    }

    /// Whether a word stands near a reference in the source, so that it can tell which one is meant.
    pub(super) fn is_referred(&self, word: Key) -> bool {
        self.referred.contains(&word)
    }

    /// Whether the source has the places beside a number with this number, or with another one only.
    pub(super) fn slots(&self, words: &[Word<'_>], at: usize) -> Slots {
        let mut found = if !self.has_beside(words, at) && self.is_verbatim_but(words, at) {
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
            if (1..=SLOT_COUNT).contains(&count) && (tells || count <= RARE_COUNT) {
                found = Slots::Other;
            }
        }
        found
    }

    /// Whether the word at `at` has one of its neighbours in the source too.
    fn has_beside(&self, words: &[Word<'_>], at: usize) -> bool {
        let word = |at: usize| words.get(at).map(|word| word.key);
        let beside = [(at.checked_sub(1), Some(at)), (Some(at), Some(at + 1))];
        beside.into_iter().any(|(first, second)| {
            let two = first.and_then(word).zip(second.and_then(word));
            two.is_some_and(|(first, second)| self.has_pair(first, second))
        })
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
        self.counted.contains_key(&word)
    }

    /// Whether a word mostly stands next to a number: a measure, a month, a kind of things that are numbered.
    pub(super) fn is_measure(&self, word: Key) -> bool {
        let beside = self.counted.get(&word).copied().unwrap_or_default();
        beside >= 2 && beside * 2 >= self.count(word)
    }

    /// Whether a word is so frequent that it says nothing about what stands near it.
    pub(super) fn is_common(&self, word: Key) -> bool {
        self.count(word) > 20.max(self.total / 1_500)
    }

    /// Whether some number of the source lies in a range.
    pub(super) fn has_between(&self, least: u64, most: u64) -> bool {
        let at = self.large.partition_point(|value| *value < least);
        self.large.get(at).is_some_and(|value| *value <= most)
    }
}

fn sentence_key(sentence: &str) -> Key {
    words(sentence).fold(0, |whole, word| pair(whole, word.key))
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
