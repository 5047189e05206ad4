//! Texts as bags of words: content words, rare tokens, search terms.

use std::collections::HashSet;

use crate::text::{is_digit, run_end};

/// Words that carry no content.
const STOP: &[&str] = &[
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "but", "by", "can", "could", "did", "do", "does", "don't", "for", "from", "get", "got", "had",
    "has", "have", "he", "her", "his", "how", "i", "i'm", "if", "in", "into", "is", "it", "it's",
    "its", "just", "let", "like", "make", "me", "more", "my", "need", "new", "no", "not", "now",
    "of", "on", "one", "only", "or", "other", "our", "out", "over", "please", "see", "she",
    "should", "so", "some", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "to", "too", "up", "us", "use", "using", "very", "want", "was", "we", "were",
    "what", "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

fn lower(text: &[char], from: usize, to: usize) -> String {
    let word: String = text.get(from..to).unwrap_or_default().iter().collect();
    word.to_lowercase()
}

/// Calls `end_at` at every position and goes on behind what it found.
fn collect(text: &[char], end_at: impl Fn(usize, char) -> Option<usize>) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(character) = text.get(at) {
        at = match end_at(at, *character) {
            Some(end) => {
                found.push(lower(text, at, end));
                end
            }
            None => at + 1,
        };
    }
    found
}

/// Words of at least three letters and numbers, in lower case, without those that carry no content.
#[must_use]
pub fn content_words(text: &[char]) -> Vec<String> {
    let is_inner = |c: char| c.is_ascii_alphabetic() || matches!(c, '\'' | '-');
    let mut words = collect(text, |at, first| {
        if first.is_ascii_alphabetic() {
            let end = run_end(text, at, is_inner);
            return (end > at + 1).then_some(end);
        }
        if !is_digit(first) {
            return None;
        }
        let whole = run_end(text, at, is_digit);
        if text.get(whole) != Some(&'.') {
            return Some(whole);
        }
        let fraction = run_end(text, whole + 1, is_digit);
        Some(if fraction > whole + 1 {
            fraction
        } else {
            whole
        })
    });
    words.retain(|word| word.chars().count() > 2 && !is_stop(word));
    words
}

/// Plain tokens of at least four characters, whatever they mean: a check on the identifier patterns.
#[must_use]
pub fn rare_tokens(text: &[char]) -> HashSet<String> {
    let is_edge = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_inner = |c: char| is_edge(c) || matches!(c, '.' | '/' | ':' | '@' | '#' | '-');
    let tokens = collect(text, |at, first| {
        if !is_edge(first) {
            return None;
        }
        let end = run_end(text, at, is_inner);
        (at + 3..end)
            .rev()
            .find(|last| text.get(*last).is_some_and(|c| is_edge(*c)))
            .map(|last| last + 1)
    });
    tokens.into_iter().collect()
}

/// What a keyword search indexes: words and numbers, stemmed; `None` stands for a word without content.
pub(crate) fn terms_and_gaps(text: &[char]) -> Vec<Option<String>> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '_' | '.' | '+' | '-');
    let is_in_number = |c: char| is_digit(c) || matches!(c, '.' | ',' | ':' | '%' | '-');
    let last_of = |from: usize, to: usize, is_last: fn(char) -> bool| {
        (from..to)
            .rev()
            .find(|at| text.get(*at).is_some_and(|c| is_last(*c)))
            .map(|last| last + 1)
    };
    let words = collect(text, |at, first| {
        if first.is_ascii_alphabetic() {
            let end = run_end(text, at, is_inner);
            last_of(at + 1, end, |c| c.is_ascii_alphanumeric())
        } else if is_digit(first) {
            last_of(at, run_end(text, at, is_in_number), is_digit)
        } else {
            None
        }
    });
    words
        .into_iter()
        .map(|word| (!is_stop(&word)).then(|| stem(&word)))
        .collect()
}

/// The terms of a text for a keyword search.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    terms_and_gaps(&text).into_iter().flatten().collect()
}

/// Cuts the commonest endings.
fn stem(word: &str) -> String {
    let word = word.replace("'s", "");
    for ending in ["ing", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 4
        {
            return stem.to_owned();
        }
    }
    word
}
