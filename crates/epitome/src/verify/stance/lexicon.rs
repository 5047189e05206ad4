//! Words that turn a sentence round, bound it or put it in order, one table for each language, read once.
//!
//! A line of a table is `class: phrase, phrase, …`; a line of things that exclude each other has `|` between
//! them, and behind `;` those by which something stays as it is. A phrase is one or
//! more words in small letters. `word*` is every word that begins so, `*word` every one that ends so (not at the
//! beginning of a phrase), `_` any word, `~` up to six of them, `#` a number.

use std::sync::LazyLock;

use super::form::{beginning, folded};
use crate::fast_hash::FastMap;
use crate::verify::word::{Key, key, words};

const LATIN: [&str; 4] = [
    include_str!("languages/english.txt"),
    include_str!("languages/german.txt"),
    include_str!("languages/french.txt"),
    include_str!("languages/spanish.txt"),
];
/// Tables whose phrases all begin with a letter of another script: they are read where such a letter was.
const OTHER_SCRIPTS: [&str; 2] = [
    include_str!("languages/russian.txt"),
    include_str!("languages/chinese.txt"),
];
const TONGUES: usize = LATIN.len() + OTHER_SCRIPTS.len();

/// What stands for any word inside a phrase.
const ANY: &str = "_";
/// What stands for any words inside a phrase, and for how many.
const GAP: char = '~';
const GAP_WORDS: usize = 6;

/// What a phrase does to the sentence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It denies: "never", "without", "optional".
    Deny,
    /// It denies, and others in its sentence only repeat it, also those before it: "никогда не".
    Particle,
    /// It denies, unless it only repeats a denial: "no toques nada".
    Echo,
    /// It denies that anything is changed: "untouched"; and so where something stays so: "as it is".
    Unchanged,
    AsIs,
    /// It holds a word that denies, and denies nothing: "not only".
    Plain,
    /// It says nothing about what the sentence is about.
    Filler,
    /// It says that something is to be done, or that it may be done.
    Must,
    May,
    /// It says that something is not always done: "now and then".
    Weak,
    /// It leaves out all others, or nobody.
    Only,
    Everyone,
    /// It adds something to what was named before: "too".
    Also,
    /// It speaks of all of them, or of some.
    All,
    Some,
    /// It speaks of all that was not named, or denies it: "others", "nothing else".
    Else,
    NoOther,
    /// It sets an upper limit, or a lower one.
    Most,
    Least,
    /// What follows comes later: "before".
    Before,
    /// What follows comes earlier: "after".
    After,
    /// The same behind a denial: "not until".
    Until,
    /// What follows comes later, and nothing begins with it: "and then".
    Then,
    /// What stands before it, behind [`Class::Within`] if that is there, comes later: 之前.
    Earlier,
    /// The same comes earlier: 之后.
    Later,
    /// Where the words begin that the two before speak of: 在.
    Within,
    /// What follows is what is not wanted: "instead of".
    Contrast,
    /// Makes "over" and "als" such a word: "prefer tabs over spaces".
    Prefers,
    /// What a denial before it denies is set against what follows: "nicht A, sondern B".
    Turnabout,
    /// Another clause begins.
    Clause,
    /// A clause begins that tells why or what for.
    Reason,
    /// One of several things that exclude each other.
    End(End),
}

/// One of several things that exclude each other: one end of a pair of opposites, a day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Which pair or choice.
    pub(super) choice: u16,
    /// Which of them.
    pub(super) place: u8,
    pub(super) kind: ChoiceKind,
    /// Whether it says that something stays as it is: then nothing else is done to it.
    pub(super) stays: bool,
}

/// What things exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChoiceKind {
    /// How something is: "long", "short".
    Pair,
    /// What is done; the second undoes it or leaves it out: "keep", "delete".
    Deed,
    /// More than two.
    Many,
}

impl End {
    /// Whether it leaves something out, as a denial does.
    pub(super) const fn undoes(self) -> bool {
        matches!(self.kind, ChoiceKind::Deed) && self.place > 0
    }
}

/// The words between the two that a preference compares.
pub(super) const THAN: &[&str] = &["over", "than", "als", "чем"];

/// The languages that a sentence may be written in, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tongues(u8);

impl Tongues {
    /// By its place among the tables.
    const GERMAN: u8 = 1 << 1;

    pub(super) const fn may_be_german(self) -> bool {
        self.0 & Self::GERMAN != 0
    }
}

/// A phrase of a table, without its first word.
#[derive(Debug)]
pub(super) struct Phrase {
    rest: Vec<Piece>,
    /// Letters of the first word; the longer says more.
    chars: usize,
    pub(super) class: Class,
    tongue: u8,
    /// Whether it was written with a gap of any length: then it ends before a comma.
    has_gap: bool,
}

impl Phrase {
    /// Whether other words stand inside it.
    pub(super) fn is_parted(&self) -> bool {
        self.rest.iter().any(|piece| matches!(piece, Piece::Any))
    }

    /// Where its own words stand, counted from the first.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        let own = self.rest.iter().enumerate();
        let own = own.filter(|(_, piece)| !matches!(piece, Piece::Any));
        std::iter::once(0).chain(own.map(|(at, _)| at + 1))
    }
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    Whole(&'static str),
    Start(&'static str),
    End(&'static str),
    Number,
    Any,
}

impl Piece {
    fn of(text: &'static str) -> Self {
        match text {
            ANY => Self::Any,
            "#" => Self::Number,
            _ => match (text.strip_suffix('*'), text.strip_prefix('*')) {
                (Some(start), _) => Self::Start(start),
                (_, Some(end)) => Self::End(end),
                (None, None) => Self::Whole(text),
            },
        }
    }

    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Whole(whole) => *whole == word,
            Self::Start(start) => word.starts_with(start),
            Self::End(end) => word.ends_with(end),
            Self::Number => word.starts_with(|c: char| c.is_ascii_digit()),
            Self::Any => true,
        }
    }
}

/// The phrases of all tables.
pub(super) struct Lexicon {
    latin: LazyLock<Phrases>,
    other_scripts: LazyLock<Phrases>,
}

/// The phrases of some tables, by their first words.
#[derive(Debug)]
struct Phrases {
    whole: FastMap<&'static str, Vec<Phrase>>,
    /// Those whose first word only begins so, by the beginning of it.
    starts: FastMap<&'static str, Vec<(&'static str, Phrase)>>,
    /// Of the words for things that exclude each other, for each choice.
    keys: Vec<Vec<Key>>,
    /// The number of the first choice.
    first_choice: u16,
}

/// About so many first words there are.
const WHOLE: usize = 2_800;
const STARTS: usize = 1_200;
/// Where the choices of other scripts begin: there are some hundreds of each.
const OTHER_CHOICES: u16 = 10_000;

/// The tables in small letters without accents.
static LATIN_FOLDED: LazyLock<[String; LATIN.len()]> = LazyLock::new(|| LATIN.map(folded));
static OTHER_FOLDED: LazyLock<[String; OTHER_SCRIPTS.len()]> =
    LazyLock::new(|| OTHER_SCRIPTS.map(folded));

pub(super) static LEXICON: Lexicon = Lexicon {
    latin: LazyLock::new(|| Phrases::read(LATIN_FOLDED.as_slice(), 0, 0)),
    other_scripts: LazyLock::new(|| {
        let tongue = u8::try_from(LATIN.len()).unwrap_or(u8::MAX);
        Phrases::read(OTHER_FOLDED.as_slice(), tongue, OTHER_CHOICES)
    }),
};

impl Phrases {
    fn read(tables: &'static [String], first_tongue: u8, first_choice: u16) -> Self {
        let mut lexicon = Self {
            whole: FastMap::with_capacity_and_hasher(WHOLE, Default::default()),
            starts: FastMap::with_capacity_and_hasher(STARTS, Default::default()),
            keys: Vec::new(),
            first_choice,
        };
        let mut choice = first_choice;
        for (tongue, table) in (first_tongue..).zip(tables) {
            let lines = table.lines().filter(|line| !line.starts_with('#'));
            for (class, phrases) in lines.filter_map(|line| line.split_once(':')) {
                let kind = match class {
                    "pair" => ChoiceKind::Pair,
                    "undo" => ChoiceKind::Deed,
                    "choice" => ChoiceKind::Many,
                    _ => {
                        if let Some(class) = named(class) {
                            lexicon.add(phrases, class, 1 << tongue);
                        }
                        continue;
                    }
                };
                choice += 1;
                for (place, phrases) in (0_u8..).zip(phrases.split('|')) {
                    for (stays, phrases) in [false, true].into_iter().zip(phrases.split(';')) {
                        let end = End {
                            choice,
                            place,
                            kind,
                            stays,
                        };
                        lexicon.add(phrases, Class::End(end), 1 << tongue);
                    }
                }
            }
        }
        lexicon
    }

    fn add(&mut self, phrases: &'static str, class: Class, tongue: u8) {
        for phrase in phrases.split(',') {
            // Most phrases are one word.
            let word = phrase.trim_ascii();
            if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                self.add_phrase(&[word], class, tongue, false);
                continue;
            }
            let (front, back) = match phrase.split_once(GAP) {
                Some((front, back)) => (front, Some(pieces(back))),
                None => (phrase, None),
            };
            let front = pieces(front);
            let Some(back) = back else {
                self.add_phrase(&front, class, tongue, false);
                continue;
            };
            for words in 0..=GAP_WORDS {
                let gap = std::iter::repeat_n(ANY, words);
                let all = front.iter().copied().chain(gap);
                let all: Vec<&str> = all.chain(back.iter().copied()).collect();
                self.add_phrase(&all, class, tongue, true);
            }
        }
    }

    fn add_phrase(&mut self, parts: &[&'static str], class: Class, tongue: u8, has_gap: bool) {
        let Some((&first, rest)) = parts.split_first() else {
            return;
        };
        let start = first.strip_suffix('*');
        let phrase = Phrase {
            rest: rest.iter().copied().map(Piece::of).collect(),
            chars: start.unwrap_or(first).chars().count(),
            class,
            tongue,
            has_gap,
        };
        if let Class::End(end) = class {
            let choice = usize::from(end.choice - self.first_choice);
            if self.keys.len() <= choice {
                self.keys.resize_with(choice + 1, Vec::new);
            }
            let key = key(beginning(start.unwrap_or(first)));
            if let Some(keys) = self
                .keys
                .get_mut(choice)
                .filter(|keys| !keys.contains(&key))
            {
                keys.push(key);
            }
        }
        match start {
            Some(start) => {
                let starts = self.starts.entry(beginning(start)).or_default();
                starts.push((start, phrase));
            }
            None => self.whole.entry(first).or_default().push(phrase),
        }
    }

    fn keys(&self, choice: u16) -> &[Key] {
        let keys = self.keys.get(usize::from(choice - self.first_choice));
        keys.map(Vec::as_slice).unwrap_or_default()
    }

    fn fitting<'a, 't>(
        &'a self,
        texts: &'t [&'t str],
    ) -> impl Iterator<Item = &'a Phrase> + use<'a, 't> {
        let (first, rest) = texts.split_first().unwrap_or((&"", &[]));
        let whole = self.whole.get(*first).into_iter().flatten();
        let starts = self.starts.get(beginning(first)).into_iter().flatten();
        let starts = starts.filter(|(start, _)| first.starts_with(start));
        whole
            .chain(starts.map(|(_, phrase)| phrase))
            .filter(move |phrase| {
                let pieces = phrase.rest.iter().zip(rest);
                rest.len() >= phrase.rest.len()
                    && pieces.into_iter().all(|(piece, word)| piece.fits(word))
            })
    }
}

impl Lexicon {
    /// The keys of all words for one of several things that exclude each other.
    pub(super) fn keys(&self, choice: u16) -> &[Key] {
        match choice < OTHER_CHOICES {
            true => self.latin.keys(choice),
            false => self.other_scripts.keys(choice),
        }
    }

    /// The longest phrase that `texts` begin with; behind `part` of them stands the first comma.
    pub(super) fn longest(&self, texts: &[&str], part: usize, tongues: Tongues) -> Option<&Phrase> {
        let found = self.fitting(texts);
        let known = found.filter(|phrase| {
            let is_whole = !phrase.has_gap || phrase.rest.len() < part;
            is_whole && phrase.tongue & tongues.0 != 0
        });
        known.max_by_key(|phrase| (phrase.rest.len(), phrase.chars))
    }

    fn fitting<'a, 't>(
        &'a self,
        texts: &'t [&'t str],
    ) -> impl Iterator<Item = &'a Phrase> + use<'a, 't> {
        let is_other = texts
            .first()
            .is_some_and(|first| !first.starts_with(|c: char| c.is_ascii()));
        let others = is_other.then(|| self.other_scripts.fitting(texts));
        self.latin
            .fitting(texts)
            .chain(others.into_iter().flatten())
    }

    /// Whether a word is listed by itself, and tells nothing.
    pub(super) fn says_how(&self, word: &str) -> bool {
        let word = [word];
        let mut found = self.fitting(&word);
        found.any(|phrase| !matches!(phrase.class, Class::End(_)))
    }

    /// The languages whose tables know most of the words.
    pub(super) fn tongues(&self, texts: &[&str]) -> Tongues {
        let mut known = [0_usize; TONGUES];
        for at in 0..texts.len() {
            let rest = texts.get(at..).unwrap_or_default();
            let mut longest = [0_usize; TONGUES];
            for phrase in self.fitting(rest) {
                let words = phrase.rest.len() + 1;
                let place = longest.get_mut(phrase.tongue.trailing_zeros() as usize);
                // What a verb or a noun is called says less than how a sentence is joined together.
                if let Some(longest) = place.filter(|_| !matches!(phrase.class, Class::End(_))) {
                    *longest = words.max(*longest);
                }
            }
            for (known, longest) in known.iter_mut().zip(longest) {
                *known += longest;
            }
        }
        let most = known.iter().max().copied().unwrap_or_default();
        let best = (0_u8..).zip(known).filter(|(_, count)| *count == most);
        Tongues(best.fold(0, |set, (tongue, _)| set | 1 << tongue))
    }
}

/// The words of a phrase of a table, each with the sign that says how it is meant.
fn pieces(phrase: &'static str) -> Vec<&'static str> {
    let mut pieces = Vec::new();
    for part in phrase.split_whitespace() {
        let is_one = part.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_one || matches!(part, ANY | "#") || part.contains('*') {
            pieces.push(part);
        } else {
            pieces.extend(words(part).map(|word| word.text));
        }
    }
    pieces
}

fn named(class: &str) -> Option<Class> {
    Some(match class {
        "deny" => Class::Deny,
        "particle" => Class::Particle,
        "echo" => Class::Echo,
        "unchanged" => Class::Unchanged,
        "as-is" => Class::AsIs,
        "plain" => Class::Plain,
        "filler" => Class::Filler,
        "must" => Class::Must,
        "may" => Class::May,
        "weak" => Class::Weak,
        "only" => Class::Only,
        "everyone" => Class::Everyone,
        "also" => Class::Also,
        "all" => Class::All,
        "some" => Class::Some,
        "else" => Class::Else,
        "no-other" => Class::NoOther,
        "most" => Class::Most,
        "least" => Class::Least,
        "before" => Class::Before,
        "after" => Class::After,
        "until" => Class::Until,
        "then" => Class::Then,
        "earlier" => Class::Earlier,
        "later" => Class::Later,
        "within" => Class::Within,
        "contrast" => Class::Contrast,
        "over" => Class::Prefers,
        "turnabout" => Class::Turnabout,
        "clause" => Class::Clause,
        "reason" => Class::Reason,
        _ => return None,
    })
}

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;
