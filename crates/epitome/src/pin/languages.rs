//! The word tables, one file for each language, read once.
//!
//! A line of a table is `class: phrase, phrase, …`. A phrase is one or more words in small letters; `#` stands for a
//! number. A class may have several lines.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::standing::{Strength, strength};

/// What a phrase says about the sentence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    /// A word by which the language is known.
    Common,
    /// May stand before a rule: "please", "also".
    Lead,
    /// Joins clauses: what follows begins anew.
    Joint,
    /// Asks politely: "can you".
    Request,
    /// Makes a rule where a clause begins, and says that it stands: "never", "don't".
    Forbid,
    /// Begins like a rule and is none: "don't worry".
    Idle,
    /// Makes a rule where a clause begins: "use", "I prefer".
    Opens,
    /// An imperative. It is a request for once, unless a scope says more.
    Verb,
    /// Says how far something goes: "only", "for this project", "at most".
    Scope,
    /// Makes a rule unless somebody tells about himself: "must", "is off limits".
    Duty,
    /// A duty only together with a scope: "should", "I want".
    Soft,
    /// "Always", "never" in the middle of a sentence: a rule if an imperative leads it.
    Frequency,
    /// What follows a frequency word in a rule without a subject that acts: "secrets never go …".
    Norm,
    /// Makes a rule at the end of a clause: "nothing else".
    Closes,
    /// Begins a sentence in which somebody tells about himself or others.
    First,
    /// Begins a sentence about something at hand.
    Pronoun,
    /// "We": a convention, or a story.
    Plural,
    /// Begins a sentence about a thing.
    Article,
    /// Behind a duty word: it was a guess ("must be the cache").
    Guess,
    /// Makes a rule wherever it stands, and says that it stands: "from now on".
    Stands,
    /// A thing that has a limit or is one.
    Limit,
    /// Links a limit to its value.
    Copula,
    /// A day or a month.
    Date,
    /// A number in words.
    Number,
    /// Speaks of all of a kind.
    Every,
    /// Makes a rule at the end of a sentence (scripts without spaces).
    Ends,
    /// Makes a rule at the beginning of a sentence (scripts without spaces).
    Begins,
    /// Makes a question (scripts without spaces).
    Question,
    /// May stand before a beginning (scripts without spaces).
    Polite,
    /// Allows something: "you may".
    Permits,
    /// Says that what is allowed is new: "now", "again".
    Anew,
    /// Takes a rule back.
    Revokes,
    /// Puts another rule in the place of one.
    Replaces,
    /// Says that something is done or dropped.
    Finishes,
    /// Who is spoken to.
    You,
    /// A verb that tells: behind "no" or "nothing" there is no prohibition.
    Told,
    /// Makes a telling verb a rule again: "is allowed".
    Allowed,
    /// Behind a duty: what one sees or has to do by the way.
    Seen,
    /// A weak duty: "we need to talk".
    Need,
    /// A soft duty that says nothing without a subject that speaks of all.
    Mild,
    /// Behind "use … to": a command for once.
    Aims,
    /// A form that forbids behind a negation.
    Imperative,
    /// A form that tells behind a negation although it looks like a command.
    Indicative,
    /// Says who does something: the sentence is no bare infinitive.
    Finite,
    /// Ends like an infinitive and is none.
    Nouns,
}

impl Class {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "common" => Self::Common,
            "lead" => Self::Lead,
            "joint" => Self::Joint,
            "request" => Self::Request,
            "forbid" => Self::Forbid,
            "idle" => Self::Idle,
            "opens" => Self::Opens,
            "verb" => Self::Verb,
            "scope" => Self::Scope,
            "duty" => Self::Duty,
            "soft" => Self::Soft,
            "frequency" => Self::Frequency,
            "norm" => Self::Norm,
            "closes" => Self::Closes,
            "first" => Self::First,
            "pronoun" => Self::Pronoun,
            "plural" => Self::Plural,
            "article" => Self::Article,
            "guess" => Self::Guess,
            "stands" => Self::Stands,
            "limit" => Self::Limit,
            "copula" => Self::Copula,
            "date" => Self::Date,
            "number" => Self::Number,
            "every" => Self::Every,
            "ends" => Self::Ends,
            "begins" => Self::Begins,
            "question" => Self::Question,
            "polite" => Self::Polite,
            "permits" => Self::Permits,
            "anew" => Self::Anew,
            "revokes" => Self::Revokes,
            "replaces" => Self::Replaces,
            "finishes" => Self::Finishes,
            "you" => Self::You,
            "told" => Self::Told,
            "allowed" => Self::Allowed,
            "seen" => Self::Seen,
            "need" => Self::Need,
            "mild" => Self::Mild,
            "aims" => Self::Aims,
            "imperative" => Self::Imperative,
            "indicative" => Self::Indicative,
            "finite" => Self::Finite,
            "nouns" => Self::Nouns,
            _ => return None,
        })
    }
}

/// A language whose words stand apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Tongue {
    English,
    German,
    Spanish,
    French,
    Portuguese,
    Italian,
    Dutch,
    Russian,
}

impl Tongue {
    pub(super) const ALL: [Self; 8] = [
        Self::English,
        Self::German,
        Self::Spanish,
        Self::French,
        Self::Portuguese,
        Self::Italian,
        Self::Dutch,
        Self::Russian,
    ];

    const fn table(self) -> &'static str {
        match self {
            Self::English => include_str!("languages/english.txt"),
            Self::German => include_str!("languages/german.txt"),
            Self::Spanish => include_str!("languages/spanish.txt"),
            Self::French => include_str!("languages/french.txt"),
            Self::Portuguese => include_str!("languages/portuguese.txt"),
            Self::Italian => include_str!("languages/italian.txt"),
            Self::Dutch => include_str!("languages/dutch.txt"),
            Self::Russian => include_str!("languages/russian.txt"),
        }
    }
}

/// A phrase of one language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phrase {
    pub(super) tongue: Tongue,
    pub(super) class: Class,
    /// The words behind the first.
    pub(super) rest: &'static str,
}

/// Every phrase, by its first word.
pub(super) static PHRASES: LazyLock<HashMap<&'static str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut phrases: HashMap<&'static str, Vec<Phrase>> = HashMap::new();
    for tongue in Tongue::ALL {
        for (class, phrase) in entries(tongue.table()) {
            let (first, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
            phrases.entry(first).or_default().push(Phrase {
                tongue,
                class,
                rest,
            });
        }
    }
    phrases
});

/// The pieces of scripts without spaces, by their first character.
pub(super) static PIECES: LazyLock<HashMap<char, Vec<(Class, &'static str)>>> =
    LazyLock::new(|| {
        let tables = [
            include_str!("languages/chinese.txt"),
            include_str!("languages/japanese.txt"),
            include_str!("languages/korean.txt"),
        ];
        let mut pieces: HashMap<char, Vec<(Class, &'static str)>> = HashMap::new();
        for (class, piece) in tables.into_iter().flat_map(entries) {
            if let Some(first) = piece.chars().next() {
                pieces.entry(first).or_default().push((class, piece));
            }
        }
        pieces
    });

fn entries(table: &'static str) -> impl Iterator<Item = (Class, &'static str)> {
    table
        .lines()
        .filter_map(|line| {
            let (class, phrases) = line.split_once(": ")?;
            Some((Class::named(class)?, phrases))
        })
        .flat_map(|(class, phrases)| phrases.split(',').map(move |phrase| (class, phrase.trim())))
        .filter(|(_, phrase)| !phrase.is_empty())
}

/// Whether an instruction says itself that it stands.
pub(super) fn says_it_stands(text: &str) -> bool {
    strength(text) == Some(Strength::Explicit)
}

#[cfg(test)]
mod tests {
    use super::{Class, Tongue};

    #[test]
    fn every_line_of_every_table_is_read() {
        for tongue in Tongue::ALL {
            for line in tongue.table().lines().filter(|line| !line.starts_with('#')) {
                let class = line
                    .split_once(": ")
                    .and_then(|(name, _)| Class::named(name));
                assert!(class.is_some(), "{tongue:?}: {line}");
            }
        }
    }
}
