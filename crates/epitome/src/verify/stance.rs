//! On which side a sentence stands of what it is about: "at most ten" and "no more than ten" stand on the same,
//! "at least ten" on the other.
//!
//! - its words and phrases: `unit` over `lexicon` and the tables in `languages`; in whatever form: `form`
//! - what they say together: `reading`, and what comes first: `order`
//!
//! A sentence is compared with another that is about the same. Whatever turns one of them round counts: a denial, the
//! other end of a pair of opposites, another kind of limit, another order, another choice. Two of them cancel out, so
//! that a rule in other words keeps its side. What only one of the two has may say the same in other words: then
//! nobody can tell.

mod form;
mod lexicon;
mod manner;
mod order;
mod reading;
mod unit;

use super::denial::plain_answer;
use super::word::{Key, is_unspaced, key, pair};
use form::{bare, beginning, is_same};
use lexicon::{ChoiceKind, End};
use manner::Manner;
use order::When;

/// What a word weighs, and a character where words are not separated.
pub(super) const WORD_WEIGHT: usize = 2;
const CHARACTER_WEIGHT: usize = 1;
/// What the keys of choices begin with.
const CHOICES: Key = 1;

/// What a sentence is about, and on which side it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Stance {
    /// Its words that tell something, each once.
    words: Vec<Word>,
    /// Words that it sets something against: "tabs, not spaces".
    against: Vec<Word>,
    /// What it chooses of several things that exclude each other.
    ends: Vec<Chosen>,
    /// Whether it denies an odd number of times.
    denies: bool,
    /// Whether it denies anything at all.
    has_denial: bool,
    /// Whether it denies so often that nobody can follow.
    is_tangled: bool,
    bound: Option<Bound>,
    /// Whether a denial was taken for a part of the limit.
    has_denied_bound: bool,
    has_order: bool,
    manner: Manner,
}

/// A word, and when that happens of which it speaks.
#[derive(Clone, Debug)]
struct Word {
    text: Box<str>,
    when: Option<When>,
}

/// One of several things that exclude each other, as it is meant.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    end: End,
    /// Whether it is what is not wanted.
    is_unwanted: bool,
    /// Whether a denial stands right before it: "nothing expensive".
    is_denied: bool,
}

impl Chosen {
    /// Which of them is wanted: of two the one, where the other is not.
    const fn place(self) -> u8 {
        match self.end.kind {
            ChoiceKind::Pair | ChoiceKind::Deed => self.end.place ^ self.is_unwanted as u8,
            ChoiceKind::Many => self.end.place,
        }
    }

    const fn is_of(self, other: Self) -> bool {
        self.end.choice == other.end.choice
    }

    /// What it weighs where only one of two sentences has it. What is simply done goes without saying.
    const fn lone_weight(self) -> usize {
        match self.end.kind {
            ChoiceKind::Deed if self.end.place == 0 => 0,
            _ => WORD_WEIGHT,
        }
    }
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Most,
    Least,
}

impl Bound {
    const fn other(self) -> Self {
        match self {
            Self::Most => Self::Least,
            Self::Least => Self::Most,
        }
    }
}

/// On which side a sentence stands, seen from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Same,
    Opposite,
    /// Nobody can tell.
    Unclear,
}

/// How two sentences stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    /// How much of both is the same, from 0 to 1.
    pub(super) alike: f64,
    /// What the words weigh that both have.
    pub(super) shared: usize,
    pub(super) side: Side,
}

impl Stance {
    pub(super) fn of(sentence: &str) -> Self {
        reading::read(plain_answer(sentence))
    }

    fn add(&mut self, word: Word, is_against: bool) {
        let list = if is_against {
            &mut self.against
        } else {
            &mut self.words
        };
        if !list.iter().any(|known| is_same(&known.text, &word.text)) {
            list.push(word);
        }
    }

    /// What stands on both sides is no matter of choice ("in house 2, not in house 1"), and of opposites each counts
    /// once: "keep them, do not delete them" says the same twice.
    fn settle(&mut self) {
        let Self {
            words,
            against,
            ends,
            denies,
            ..
        } = self;
        against.retain(|word| !words.iter().any(|own| is_same(&own.text, &word.text)));
        // Of many, what is not wanted leaves the others open.
        ends.retain(|one| one.end.kind != ChoiceKind::Many || !one.is_unwanted);
        let all = ends.clone();
        let is_disputed = |one: &Chosen| {
            let mut others = all.iter().filter(|other| other.is_of(*one));
            others.any(|other| other.place() != one.place())
        };
        ends.retain(|one| !is_disputed(one) || *denies && one.end.undoes());
        ends.sort_by_key(|one| one.end.choice);
        ends.dedup_by_key(|one| one.end.choice);
    }

    fn all_words(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().chain(&self.against)
    }

    /// What its words and choices weigh.
    pub(super) fn weight(&self) -> usize {
        let ends: usize = self.ends.iter().map(|one| one.lone_weight()).sum();
        self.word_weight() + ends
    }

    fn word_weight(&self) -> usize {
        self.all_words().map(|word| weight(&word.text)).sum()
    }

    /// What it is looked up by: the beginnings of its words, also without the syllable that turns them round, and its
    /// choices.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let words = self.all_words().map(|word| &*word.text);
        let words = words.flat_map(|word: &str| std::iter::once(word).chain(bare(word)));
        let choices = self
            .ends
            .iter()
            .map(|one| pair(CHOICES, Key::from(one.end.choice)));
        words.map(|word| key(beginning(word))).chain(choices)
    }

    /// This one beside another.
    pub(super) fn beside(&self, other: &Self) -> Compared {
        let mut is_opposite = self.denies != other.denies;
        let (mut shared, mut in_order, mut out_of_order) = (0, 0, 0);
        for word in self.all_words() {
            let Some((found, is_turned)) = other.found(word) else {
                continue;
            };
            shared += weight(&word.text);
            is_opposite ^= is_turned;
            if let (Some(own), Some(its)) = (word.when, found.when) {
                in_order += usize::from(own == its);
                out_of_order += usize::from(own != its);
            }
        }
        is_opposite ^= out_of_order > in_order;
        is_opposite ^= self.prefers_otherwise(other);
        let ends = self.ends(other);
        is_opposite ^= ends.turned % 2 == 1;
        if let (Some(own), Some(its)) = (self.bound, other.bound) {
            is_opposite ^= own != its;
        }
        let is_unclear = self.is_tangled
            || other.is_tangled
            || ends.is_unclear
            || self.may_say_less(other)
            || other.may_say_less(self);
        let words = self.word_weight() + other.word_weight();
        let all = words + 2 * WORD_WEIGHT * ends.shared + ends.lone_weight;
        let shared = shared + WORD_WEIGHT * ends.shared;
        is_opposite |= self.is_less_than(other);
        Compared {
            alike: 2.0 * shared as f64 / all.max(1) as f64,
            shared,
            side: match is_opposite {
                _ if is_unclear => Side::Unclear,
                true => Side::Opposite,
                false => Side::Same,
            },
        }
    }

    /// The word in whatever form, and whether in one that is turned round: "formal", "informal".
    fn found(&self, word: &Word) -> Option<(&Word, bool)> {
        let text = &*word.text;
        let whole = self.all_words().find(|own| is_same(&own.text, text));
        let turned = || {
            self.all_words().find(|own| {
                bare(&own.text).is_some_and(|bare| is_same(bare, text))
                    || bare(text).is_some_and(|bare| is_same(&own.text, bare))
            })
        };
        let whole = whole.map(|own| (own, false));
        whole.or_else(|| turned().map(|own| (own, true)))
    }

    /// Whether this one wants what the other sets something against, or the other way round.
    fn prefers_otherwise(&self, other: &Self) -> bool {
        let has =
            |words: &[Word], word: &Word| words.iter().any(|own| is_same(&own.text, &word.text));
        let wants =
            |one: &Self, other: &Self| other.against.iter().any(|word| has(&one.words, word));
        let is_agreed = self.against.iter().any(|word| has(&other.against, word));
        !is_agreed && (wants(self, other) || wants(other, self))
    }

    fn ends(&self, other: &Self) -> Ends {
        let mut ends = Ends::default();
        for own in &self.ends {
            match other.ends.iter().find(|its| its.is_of(*own)) {
                Some(its) => {
                    ends.shared += 1;
                    ends.turned += usize::from(its.place() != own.place());
                }
                // What is asked for is not left out.
                None if own.end.undoes() && other.is_plain() => {
                    ends.lone_weight += own.lone_weight();
                    ends.turned += 1;
                }
                None => ends.only_in_one(*own, other),
            }
        }
        for its in &other.ends {
            if !self.ends.iter().any(|own| own.is_of(*its)) {
                ends.only_in_one(*its, self);
            }
        }
        ends
    }

    /// Whether it neither denies nor leaves out anything.
    fn is_plain(&self) -> bool {
        !self.has_denial && !self.ends.iter().any(|one| one.end.undoes())
    }

    /// Whether this one makes less of what the other demands, or of whom it lets in.
    const fn is_less_than(&self, other: &Self) -> bool {
        let is_plain = !self.has_denial && !other.has_denial;
        // What is allowed within limits, or once something is done, is the demand in other words.
        let is_free = self.bound.is_none() && !self.has_order;
        is_plain
            && (is_free && self.manner.weakens(other.manner) || self.manner.opens(other.manner))
    }

    /// Whether a denial of this one belongs to a limit or an order that the other does not have: what it says without
    /// them is open.
    const fn may_say_less(&self, other: &Self) -> bool {
        self.has_denied_bound && other.bound.is_none()
            || self.has_order && self.denies && !other.has_order
    }
}

/// How the choices of two sentences stand to each other.
#[derive(Default)]
struct Ends {
    shared: usize,
    /// Of these, others.
    turned: usize,
    /// What those weigh that only one of the two has.
    lone_weight: usize,
    /// Whether one of the two undoes something where the other may only deny it.
    is_unclear: bool,
}

impl Ends {
    /// Takes up what the sentence without it, `other`, may say in other words.
    const fn only_in_one(&mut self, one: Chosen, other: &Stance) {
        self.lone_weight += one.lone_weight();
        let is_quality = matches!(one.end.kind, ChoiceKind::Pair);
        self.is_unclear |=
            one.is_denied && is_quality || one.end.undoes() || one.end.stays && other.has_denial;
    }
}

fn weight(word: &str) -> usize {
    if word.contains(is_unspaced) {
        CHARACTER_WEIGHT
    } else {
        WORD_WEIGHT
    }
}
