//! The word tables, one file for each language, read once.
//!
//! A line of a table is `class: phrase, phrase, …`. A phrase is one or more words in small letters; `#` stands for a
//! number. A class may have several lines; `class.rs` says what each means.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::class::Class;

const GENERAL: &str = include_str!("languages/general.txt");
const UNSPACED: [&str; 3] = [
    include_str!("languages/chinese.txt"),
    include_str!("languages/japanese.txt"),
    include_str!("languages/korean.txt"),
];

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
        let mut pieces: HashMap<char, Vec<(Class, &'static str)>> = HashMap::new();
        for (class, piece) in UNSPACED.into_iter().flat_map(entries) {
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

/// Lists that are looked up as they stand, whatever the language.
static LISTS: LazyLock<HashMap<Class, HashSet<&'static str>>> = LazyLock::new(|| {
    let mut lists: HashMap<Class, HashSet<&'static str>> = HashMap::new();
    for (class, phrase) in entries(GENERAL) {
        lists.entry(class).or_default().insert(phrase);
    }
    lists
});

/// Whether `phrase` is in the list of a class.
pub(super) fn lists(class: Class, phrase: &str) -> bool {
    LISTS.get(&class).is_some_and(|list| list.contains(phrase))
}

/// Whether a phrase of the list of a class satisfies `test`.
pub(super) fn lists_one(class: Class, test: impl Fn(&str) -> bool) -> bool {
    LISTS
        .get(&class)
        .is_some_and(|list| list.iter().any(|phrase| test(phrase)))
}

#[cfg(test)]
mod tests {
    use super::{Class, GENERAL, Tongue, UNSPACED};

    #[test]
    fn every_line_of_every_table_is_read() {
        let tables = Tongue::ALL.map(Tongue::table);
        let tables = tables.into_iter().chain(UNSPACED).chain([GENERAL]);
        for line in tables
            .flat_map(str::lines)
            .filter(|line| !line.starts_with('#'))
        {
            let class = line
                .split_once(": ")
                .and_then(|(name, _)| Class::named(name));
            assert!(class.is_some(), "{line}");
        }
    }
}
