//! On which side a sentence stands of what it is about: "at most ten" and "no more than ten" stand on the same,
//! "at least ten" on the other.
//!
//! - its words and phrases: `unit` over `lexicon` and the tables in `languages`; in whatever form: `form`
//! - those that a reader knows by themselves: `told`
//! - two of them side by side: `compare`
//! - what they say together: `reading`; what comes first: `order`; what has whose place: `swap`; how many: `number`;
//!   how binding it is: `manner`
//!
//! A sentence is compared with another that is about the same. Whatever turns one of them round counts: a denial, the
//! other end of a pair of opposites, another kind of limit, another order, another choice. Two of them cancel out, so
//! that a rule in other words keeps its side. What only one of the two has may say the same in other words: then
//! nobody can tell.

mod compare;
mod form;
mod lexicon;
mod manner;
mod number;
mod order;
mod part;
mod reading;
mod swap;
mod told;
mod unit;

use super::denial::plain_answer;
use super::word::{Key, is_unspaced, key, words};
pub(super) use compare::{Compared, Side};
use form::{bare, beginning, is_same};
use lexicon::{ChoiceKind, End};
use manner::Manner;
pub(super) use number::in_figures;
use order::When;
use swap::Placed;

/// What a word weighs, and a character where words are not separated.
pub(super) const WORD_WEIGHT: usize = 2;
const CHARACTER_WEIGHT: usize = 1;

/// What a sentence is about, and on which side it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Stance {
    /// Its words that tell something, each once, and what it does.
    words: Vec<Word>,
    /// What it chooses of several things that exclude each other.
    ends: Vec<Chosen>,
    /// Whether it denies what it says first.
    denies: bool,
    /// Whether it denies anything at all.
    has_denial: bool,
    /// Whether it denies nothing but what something is done without, and whether it does that.
    only_without: bool,
    has_without: bool,
    /// Whether it says that something need not be.
    waives: bool,
    /// Whether it names a case.
    has_case: bool,
    /// Whether it says that something is not changed, and whether it speaks of nothing or anything, in the place of which
    /// another may name something.
    is_unchanged: bool,
    names_nothing: bool,
    /// Whether it denies so often that nobody can follow.
    is_tangled: bool,
    bound: Option<Bound>,
    /// Whether a denial was taken for a part of the limit.
    has_denied_bound: bool,
    has_order: bool,
    manner: Manner,
    /// Whether it begins with what is to be done or may be done.
    begins_with_manner: bool,
    /// Whether it begins with a word that tells something.
    begins_with_word: bool,
    /// Its words in order.
    placed: Vec<Placed>,
    numbers: Vec<u32>,
    /// What these come to, however they are written.
    amounts: Vec<u64>,
    /// Those of its words that are names.
    names: Vec<Box<str>>,
    /// What it is looked up by beside its words: its choices.
    looked_up: Vec<Key>,
}

/// A word, and when that happens of which it speaks.
#[derive(Clone, Debug)]
struct Word {
    text: Box<str>,
    when: Option<When>,
    /// Whether it is wanted.
    sign: Sign,
    /// Whether it is set against something else, so that it is plainly not wanted, or plainly wanted.
    is_contrast: bool,
    /// What it does, if that can be undone.
    end: Option<End>,
}

impl Word {
    fn is_same(&self, other: &Self) -> bool {
        is_same(&self.text, &other.text)
    }

    /// Whether both do the same or the opposite.
    fn does(&self, other: &Self) -> bool {
        let choice = |word: &Self| word.end.map(|end| end.choice);
        self.end.is_some() && choice(self) == choice(other)
    }

    fn weight(&self) -> usize {
        match self.text.contains(is_unspaced) && self.end.is_none() {
            true => CHARACTER_WEIGHT,
            false => WORD_WEIGHT,
        }
    }

    /// What it weighs where the other sentence lacks it. What is simply done goes without saying.
    fn lone_weight(&self) -> usize {
        match self.end {
            Some(end) if !end.undoes() => 0,
            _ => self.weight(),
        }
    }
}

/// Whether something is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
    /// Nobody can tell.
    Open,
}

impl Sign {
    const fn of(denials: usize) -> Self {
        match denials % 2 {
            0 => Self::Plus,
            _ => Self::Minus,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Plus => Self::Minus,
            Self::Minus => Self::Plus,
            Self::Open => Self::Open,
        }
    }
}

/// One of several things that exclude each other, as it is meant.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    end: End,
    /// Whether it is set against something else, as what is not wanted.
    is_unwanted: bool,
    /// On which side it stands with the words around it, and whether plainly so.
    sign: Sign,
    is_contrast: bool,
    /// Whether a denial stands right before it: "nothing expensive".
    is_denied: bool,
    /// Whether nothing is denied around it.
    is_plain: bool,
}

impl Chosen {
    /// Which of them is wanted: of two the one, where the other is not.
    const fn place(self) -> u8 {
        match self.end.kind {
            ChoiceKind::Pair | ChoiceKind::Deed => self.end.place ^ self.is_unwanted as u8,
            ChoiceKind::Many => self.end.place,
        }
    }

    /// Whether not both can be wanted. Of many, what is not wanted leaves all but itself open.
    const fn excludes(self, other: Self) -> bool {
        let is_same = self.place() == other.place();
        match self.end.kind {
            ChoiceKind::Pair | ChoiceKind::Deed => !is_same,
            ChoiceKind::Many if self.is_unwanted && other.is_unwanted => false,
            ChoiceKind::Many if self.is_unwanted || other.is_unwanted => is_same,
            ChoiceKind::Many => !is_same,
        }
    }

    const fn is_of(self, other: Self) -> bool {
        self.end.choice == other.end.choice
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

/// Whether a word, in small letters, says how something is meant and not what: "must", "without", "the".
pub(super) fn says_how(word: &str) -> bool {
    lexicon::LEXICON.says_how(&form::folded(word))
}

impl Stance {
    pub(super) fn of(sentence: &str) -> Self {
        reading::read(plain_answer(sentence))
    }

    /// Takes up a word once. One that stands on both sides is no matter of choice: "in house 2, not in house 1".
    fn add(&mut self, word: Word) {
        match self.words.iter_mut().find(|known| known.is_same(&word)) {
            Some(known) if known.sign != word.sign => known.sign = Sign::Open,
            Some(_) => {}
            None => self.words.push(word),
        }
    }

    /// Of things that exclude each other each counts once, and none where both are wanted.
    fn settle(&mut self) {
        let ends = &mut self.ends;
        // Of many, what is not wanted says nothing beside what is.
        let all = ends.clone();
        ends.retain(|one| {
            let mut wanted = all.iter().filter(|other| other.is_of(*one));
            let is_said = wanted.any(|other| !other.is_unwanted);
            one.end.kind != ChoiceKind::Many || !one.is_unwanted || !is_said
        });
        let all = ends.clone();
        let is_disputed = |one: &Chosen| {
            let mut others = all.iter().filter(|other| other.is_of(*one));
            others.any(|other| other.place() != one.place())
        };
        // "Short ones, no long ones."
        let is_wanted = |one: &Chosen| !one.is_unwanted && one.sign == Sign::Plus;
        let wanted = |one: &Chosen| {
            let mut others = all
                .iter()
                .filter(|other| other.is_of(*one) && is_wanted(other));
            is_wanted(one) && others.all(|other| other.place() == one.place())
        };
        ends.retain(|one| !is_disputed(one) || wanted(one));
        ends.sort_by_key(|one| one.end.choice);
        ends.dedup_by_key(|one| one.end.choice);
    }

    /// What its words and choices weigh.
    pub(super) fn weight(&self) -> usize {
        let words: usize = self.words.iter().map(Word::lone_weight).sum();
        words + WORD_WEIGHT * self.ends.len()
    }

    /// What it is looked up by: see [`word_keys`].
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let words = self.words.iter().map(|word| &*word.text);
        words
            .flat_map(keys_of)
            .chain(self.looked_up.iter().copied())
    }

    /// Whether it only says that something may be done.
    pub(super) const fn frees(&self) -> bool {
        self.manner.is_free() && self.bound.is_none() && (!self.has_denial || self.only_without)
    }

    /// Whether it may be what somebody wants, although it tells something: it begins with what is to be done or may be done,
    /// or says what comes first.
    pub(super) const fn may_be_wanted(&self) -> bool {
        self.begins_with_manner || self.has_order
    }
}

/// Tells the keys by which a sentence is found: the beginnings of its words, also without the syllable that turns them
/// round.
pub(super) fn word_keys(sentence: &str, mut tell: impl FnMut(Key)) {
    let lower = form::folded(sentence);
    for word in words(&lower) {
        keys_of(&form::rooted(word.text)).for_each(&mut tell);
    }
}

fn keys_of(word: &str) -> impl Iterator<Item = Key> {
    let words = std::iter::once(word).chain(bare(word));
    words.map(|word| key(beginning(word)))
}
