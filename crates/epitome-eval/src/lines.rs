//! The lines of a history that a method may choose from.

use std::collections::{HashMap, HashSet};

use crate::ident::Ident;
use crate::scan::idents;
use crate::text::{length, prefix, trim};
use crate::words::content_words;

/// Shorter lines are not worth choosing, longer ones are cut.
const LINE_CHARS: std::ops::RangeInclusive<usize> = 20..=400;
/// The longest line that is chosen for what it names.
const NAMING_LINE_CHARS: usize = 200;

/// A line that names something.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) chars: usize,
    pub(crate) content_words: usize,
    pub(crate) idents: HashSet<Ident>,
}

impl Line {
    /// The lines of a message that name something, clipped.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        text.split('\n')
            .map(|line| prefix(trim(line), NAMING_LINE_CHARS))
            .filter(|line| length(line) >= 8)
            .filter_map(|line| {
                let idents = idents(line);
                let is_telling = !idents.is_empty();
                is_telling.then(|| Self {
                    text: line.to_owned(),
                    chars: length(line),
                    content_words: words(line).len(),
                    idents,
                })
            })
            .collect()
    }
}

fn words(line: &str) -> Vec<String> {
    content_words(&line.chars().collect::<Vec<_>>())
}

/// All lines of a history that are worth choosing, each text once.
#[derive(Debug, Default)]
pub(crate) struct PlainLines {
    /// The text of each line, with its content words by number.
    distinct: Vec<(String, Vec<usize>)>,
    /// Every line: its message, and which text it is.
    all: Vec<(usize, usize)>,
    /// How many different words there are.
    pub(crate) words: usize,
}

impl PlainLines {
    /// The lines of messages, each given with its position.
    pub(crate) fn of<'t>(messages: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let mut lines = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (position, text) in messages {
            for line in text.split('\n').map(trim) {
                if length(line) < *LINE_CHARS.start() {
                    continue;
                }
                let line = prefix(line, *LINE_CHARS.end());
                let number = *known.entry(line).or_insert_with(|| {
                    let words = words(line).into_iter().map(|word| {
                        let next = numbers.len();
                        *numbers.entry(word).or_insert(next)
                    });
                    lines.distinct.push((line.to_owned(), words.collect()));
                    lines.distinct.len() - 1
                });
                lines.all.push((position, number));
            }
        }
        lines.words = numbers.len();
        lines
    }

    /// The different lines of the messages before `end`, in order.
    pub(crate) fn before(&self, end: usize) -> Vec<&(String, Vec<usize>)> {
        let mut is_known = vec![false; self.distinct.len()];
        self.all
            .iter()
            .take_while(|(position, _)| *position < end)
            .filter(|(_, number)| {
                let is_new = is_known.get(*number) == Some(&false);
                if let Some(known) = is_known.get_mut(*number) {
                    *known = true;
                }
                is_new
            })
            .filter_map(|(_, number)| self.distinct.get(*number))
            .collect()
    }
}
