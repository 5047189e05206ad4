//! Whether a sentence that somebody typed in English is an instruction in force: what speaks for it and against it,
//! weighed.
//!
//! Requests for once and facts use the words of rules ("make sure it is sorted", "it never worked"), so no single
//! branch of the grammar decides. What the grammar finds and what phrases of a few words say is added up; in doubt a
//! sentence is a record and no rule. The `weights` were fitted to labelled sentences.

use super::class::Class;
use super::grammar;
use super::languages::Tongue;
use super::reading::Strength;
use super::standing::Reader;
use super::weights::{Key, LONGEST, LONGEST_FIRST, WEIGHTS, WordHash};

/// The points from which a sentence is in force.
const NEEDED: i32 = 2;

type Check = fn(&Reader<'_>) -> bool;

/// What the grammar says, with the name of its weight.
pub(super) const READINGS: &[(&str, Check)] = &[
    ("forbids", |it| it.forbids()),
    ("forms_prohibition", |it| it.forms_prohibition()),
    ("has_duty", |it| it.has_duty()),
    ("opens", |it| it.opens()),
    ("is_scoped", |it| it.is_scoped()),
    ("is_wish", |it| it.is_wish()),
    ("is_bound", |it| it.is_bound()),
    ("is_about_all", |it| it.is_about_all()),
    ("closes", |it| it.closes()),
    ("limits", |it| it.limits()),
    ("is_for_now", |it| it.is_for_now()),
    ("is_tale", |it| it.is_tale()),
    ("has_past", |it| it.has_past()),
    ("asks", |it| it.asks()),
    ("has_number", |it| it.has_number()),
    ("has_limit", |it| it.has_limit()),
    ("is_short", |it| it.is_short()),
    ("is_long", |it| it.is_long()),
    ("is_very_long", |it| it.is_very_long()),
    ("has_clause", |it| it.has_clause()),
    ("has_clauses", |it| it.has_clauses()),
    ("begins_with_plural", |it| it.begins_with_plural()),
    ("describes_thing", |it| it.describes_thing()),
    ("describes_kind", |it| it.describes_kind()),
    ("names_thing", |it| it.names_thing()),
    ("names_new_thing", |it| it.names_new_thing()),
    ("names_kind", |it| it.names_kind()),
    ("is_polite_rule", |it| it.polite_rule().is_some()),
    ("is_question", |it| it.sentence.is_question()),
    ("names_price", |it| it.sentence.names_price()),
    ("is_explicit", |it| it.rule() == Some(Strength::Explicit)),
    ("is_plain", |it| it.rule() == Some(Strength::Plain)),
];
/// Sentences of so many words and more weigh the same.
const MANY_WORDS: usize = 28;
/// Sentences are told apart by their length in steps of so many words.
pub(super) const LENGTH_STEP: usize = 4;
/// How many lengths are told apart.
pub(super) const LENGTHS: usize = MANY_WORDS / LENGTH_STEP + 1;

impl Reader<'_> {
    /// How plainly a sentence that somebody typed says that it is in force; `strength` is how it reads by itself.
    pub(super) fn in_force(&self, strength: Option<Strength>) -> Option<Strength> {
        if self.tongue != Tongue::English {
            return strength;
        }
        self.has_points(NEEDED)
            .then_some(strength.unwrap_or(Strength::Plain))
    }

    /// What speaks for it, less what speaks against it, in tenths.
    #[cfg(test)]
    pub(super) fn points(&self) -> i32 {
        let readings = READINGS.iter().zip(&WEIGHTS.readings);
        let readings = readings.filter(|((_, check), _)| check(self));
        self.plain_points() + readings.map(|(_, weight)| i32::from(*weight)).sum::<i32>()
    }

    /// Whether that comes to so many points. The grammar is asked only as long as it can still say something else.
    pub(super) fn has_points(&self, needed: i32) -> bool {
        let mut points = self.plain_points();
        for asked in &WEIGHTS.asked {
            if points + asked.most < needed {
                return false;
            }
            if points + asked.least >= needed {
                return true;
            }
            let reading = READINGS.get(asked.reading);
            if reading.is_some_and(|(_, check)| check(self)) {
                points += asked.weight;
            }
        }
        points >= needed
    }

    /// What it comes to without what the grammar finds.
    fn plain_points(&self) -> i32 {
        let length = self.sentence.len().min(MANY_WORDS) / LENGTH_STEP;
        let length = WEIGHTS.lengths.get(length);
        WEIGHTS.start
            + length.map_or(0, |weight| i32::from(*weight))
            + self.class_points()
            + self.phrase_points()
    }

    fn class_points(&self) -> i32 {
        let first = self.first();
        let mask = |classes: u64, class: Class| classes | class.mask();
        let anywhere = self.sentence.hits(self.tongue).map(|hit| hit.class);
        let begins = self
            .sentence
            .hits_at(first, self.tongue)
            .map(|hit| hit.class);
        let head = self.head(first).map(|head| head.class);
        let later = self.heads().skip(1).map(|head| head.class);
        let classes = &WEIGHTS.classes;
        classes.anywhere.of(anywhere.fold(0, mask))
            + classes.first.of(begins.fold(0, mask))
            + classes.head.of(head.into_iter().fold(0, mask))
            + classes.later.of(later.fold(0, mask))
    }

    /// What its phrases weigh, each once.
    fn phrase_points(&self) -> i32 {
        let sentence = self.sentence;
        let first = self.first();
        let words = (0..sentence.len()).map(|at| self.weighed_word(at));
        let words: Vec<WordHash> = words.collect();
        let mut found: Vec<(Key, i16)> = Vec::new();
        let mut find = |key: Key| found.extend(WEIGHTS.of(key).map(|weight| (key, weight)));
        for at in 0..words.len() {
            let mut anywhere = Some(Key::ANYWHERE);
            let (mut placed, longest) = match at {
                _ if at == first => (Some(Key::FIRST), LONGEST_FIRST),
                0 => (None, LONGEST),
                _ => (sentence.begins(at).then_some(Key::LATER), LONGEST),
            };
            for (word, length) in words.iter().skip(at).zip(1..=longest) {
                anywhere = anywhere
                    .filter(|_| length <= LONGEST)
                    .map(|key| key.and(*word));
                placed = placed.map(|key| key.and(*word));
                anywhere.into_iter().chain(placed).for_each(&mut find);
            }
        }
        if let [before @ .., last] = words.as_slice() {
            find(Key::LAST.and(*last));
            if let Some(before) = before.last() {
                find(Key::LAST.and(*before).and(*last));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.iter().map(|(_, weight)| i32::from(*weight)).sum()
    }

    /// The word as phrases have it: numbers are all the same, but "one" is one of several more often than a number.
    fn weighed_word(&self, at: usize) -> WordHash {
        match self.sentence.word(at) {
            word if word == "one" || !self.sentence.is_number(at) => WordHash::of(word),
            _ => WordHash::NUMBER,
        }
    }

    fn forms_prohibition(&self) -> bool {
        grammar::forbids(self.sentence, self.tongue, &self.starts)
    }

    fn has_number(&self) -> bool {
        (0..self.sentence.len()).any(|at| self.sentence.is_number(at))
    }

    fn has_limit(&self) -> bool {
        self.has(Class::Limit) && self.has_number()
    }

    fn is_short(&self) -> bool {
        self.sentence.len() < 5
    }

    fn is_long(&self) -> bool {
        self.sentence.len() > 20
    }

    fn is_very_long(&self) -> bool {
        self.sentence.len() > 32
    }

    fn has_clause(&self) -> bool {
        self.clauses() > 0
    }

    fn has_clauses(&self) -> bool {
        self.clauses() > 1
    }

    fn clauses(&self) -> usize {
        (1..self.sentence.len())
            .filter(|at| self.sentence.begins(*at))
            .count()
    }

    /// "Comments …": all of a kind, and nobody is told to do anything.
    fn begins_with_plural(&self) -> bool {
        let first = self.first();
        is_plural(self.sentence.word(first))
            && self.head(first).is_none()
            && !self.is(first, Class::Pronoun)
    }

    /// "The button is …"
    fn describes_thing(&self) -> bool {
        self.described() == Some(Subject::Thing)
    }

    /// "Buttons are …"
    fn describes_kind(&self) -> bool {
        self.described() == Some(Subject::Kind)
    }

    /// What the words before the first verb speak of, where that verb describes and does not oblige.
    fn described(&self) -> Option<Subject> {
        let verb = (0..self.sentence.len()).find(|at| is_verb(self.sentence.word(*at)))?;
        if obliges(self.sentence.word(verb)) {
            return None;
        }
        let is_plural = self.sentence.word(verb.checked_sub(1)?).ends_with('s');
        match self.sentence.word(0) {
            "the" | "this" | "that" | "it" => Some(Subject::Thing),
            "these" | "its" | "his" => None,
            _ => is_plural.then_some(Subject::Kind),
        }
    }

    /// "Use the …", "change this": behind the first word stands something at hand.
    fn names_thing(&self) -> bool {
        matches!(
            self.sentence.word(self.first() + 1),
            "the" | "this" | "that" | "these" | "those" | "it" | "them"
        )
    }

    /// "Write a …", "show me …".
    fn names_new_thing(&self) -> bool {
        matches!(
            self.sentence.word(self.first() + 1),
            "a" | "an" | "me" | "another" | "some"
        )
    }

    /// "Write tests …"
    fn names_kind(&self) -> bool {
        is_plural(self.sentence.word(self.first() + 1))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// One at hand.
    Thing,
    /// All of a kind.
    Kind,
}

fn obliges(word: &str) -> bool {
    matches!(
        word,
        "should" | "must" | "may" | "can" | "shall" | "has" | "have" | "needs" | "need"
    )
}

/// A verb of state or duty.
fn is_verb(word: &str) -> bool {
    let describes = matches!(
        word,
        "is" | "are" | "get" | "gets" | "goes" | "go" | "come" | "comes"
    );
    describes || obliges(word)
}

fn is_plural(word: &str) -> bool {
    word.ends_with('s')
        && word.len() > 3
        && !word.ends_with("ss")
        && !matches!(word, "this" | "always" | "its")
}
