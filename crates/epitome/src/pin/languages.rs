//! The word tables, one file for each language, read once.
//!
//! A line of a table is `class: phrase, phrase, …`. A phrase is one or more words in small letters; `#` stands for a
//! number. A class may have several lines; `class.rs` says what each means.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::class::Class;
use crate::fast_hash::FastMap;

pub(super) const GENERAL: &str = include_str!("languages/general.txt");
pub(super) const UNSPACED: [&str; 3] = [
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

    pub(super) const fn table(self) -> &'static str {
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

/// The pieces of scripts without spaces, by their first character.
pub(super) static PIECES: LazyLock<FastMap<char, Vec<(Class, &'static str)>>> =
    LazyLock::new(|| {
        let mut pieces: FastMap<char, Vec<(Class, &'static str)>> = FastMap::default();
        for (class, piece) in UNSPACED.into_iter().flat_map(entries) {
            if let Some(first) = piece.chars().next() {
                pieces.entry(first).or_default().push((class, piece));
            }
        }
        pieces
    });

/// The phrases of a table, with their classes.
pub(super) fn entries(table: &'static str) -> impl Iterator<Item = (Class, &'static str)> {
    lists_of(table)
        .flat_map(|(class, phrases)| phrases.split(',').map(move |phrase| (class, phrase.trim())))
        .filter(|(_, phrase)| !phrase.is_empty())
}

/// The lines of a table: a class, and its phrases between commas.
pub(super) fn lists_of(table: &'static str) -> impl Iterator<Item = (Class, &'static str)> {
    table.lines().filter_map(|line| {
        let (class, phrases) = line.split_once(": ")?;
        Some((Class::named(class)?, phrases))
    })
}

/// Lists that are looked up as they stand, whatever the language, by class and first character.
static LISTS: LazyLock<FastMap<(Class, char), Vec<&'static str>>> = LazyLock::new(|| {
    let mut lists: FastMap<(Class, char), Vec<&'static str>> = FastMap::default();
    for (class, phrases) in WHOLE_LISTS.iter() {
        for phrase in phrases {
            if let Some(first) = phrase.chars().next() {
                lists.entry((*class, first)).or_default().push(phrase);
            }
        }
    }
    lists
});

/// Whether `phrase` is in the list of a class.
pub(super) fn lists(class: Class, phrase: &str) -> bool {
    starts_with_listed(class, phrase, |rest, _| rest.is_empty())
}

/// Whether a phrase of the list of a class may stand at the beginning of a text, by two characters of it and whatever their size:
/// most texts begin with others.
pub(super) fn may_begin_listed(class: Class, text: &str) -> bool {
    let mut characters = text.chars().map(|one| one.to_lowercase().next());
    let (Some(first), second) = (characters.next().flatten(), characters.next().flatten()) else {
        return false;
    };
    let list = LISTS.get(&(class, first)).into_iter().flatten();
    // A comma may stand in a phrase where the list has none, and apostrophes are alike.
    let mut seconds = list.map(|phrase| phrase.chars().nth(1));
    matches!(second, Some(',' | '’')) || seconds.any(|listed| listed.is_none() || listed == second)
}

/// Whether `text` begins with a phrase of the list of a class, and what follows satisfies `test`.
pub(super) fn starts_with_listed(
    class: Class,
    text: &str,
    test: impl Fn(&str, &str) -> bool,
) -> bool {
    let first = text.chars().next();
    let list = first.and_then(|first| LISTS.get(&(class, first)));
    list.into_iter().flatten().any(|phrase| {
        text.strip_prefix(phrase)
            .is_some_and(|rest| test(rest, phrase))
    })
}

/// The same lists, by class alone.
static WHOLE_LISTS: LazyLock<FastMap<Class, Vec<&'static str>>> = LazyLock::new(|| {
    let mut lists: FastMap<Class, Vec<&'static str>> = FastMap::default();
    for (class, phrase) in entries(GENERAL) {
        lists.entry(class).or_default().push(phrase);
    }
    lists
});

/// Those that are looked for inside of texts.
static SOUGHT: LazyLock<FastMap<Class, Vec<(&'static str, Finder<'static>)>>> =
    LazyLock::new(|| {
        let classes = [Class::Inside, Class::Heading];
        let sought = |class: Class| {
            let list = WHOLE_LISTS.get(&class).into_iter().flatten();
            list.map(|phrase| (*phrase, Finder::new(phrase))).collect()
        };
        classes
            .map(|class| (class, sought(class)))
            .into_iter()
            .collect()
    });

/// Whether `text` contains a phrase of the list of one of those classes, as whole words where words stand apart.
pub(super) fn contains_listed(class: Class, text: &str) -> bool {
    let list = SOUGHT.get(&class);
    let is_ascii = text.is_ascii();
    let list = list.into_iter().flatten();
    let mut list = list.filter(|(phrase, _)| !is_ascii || phrase.is_ascii());
    list.any(|(phrase, finder)| {
        let borders = |at: usize| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + phrase.len()..);
            let behind = behind.and_then(|behind| behind.chars().next());
            let goes_on = behind.is_some_and(char::is_alphanumeric)
                && phrase.ends_with(char::is_alphanumeric);
            !phrase.is_ascii() || !before.is_some_and(char::is_alphanumeric) && !goes_on
        };
        finder.find_iter(text.as_bytes()).any(borders)
    })
}
