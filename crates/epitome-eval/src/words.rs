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
const LONGEST_STOP: usize = 7;

fn is_stop(word: &str) -> bool {
    word.len() <= LONGEST_STOP && STOP.binary_search(&word).is_ok()
}

/// Visits what `end_at` finds from left to right, in lower case. One buffer serves all words: there are millions.
fn visit_words(
    text: &[char],
    end_at: impl Fn(usize, char) -> Option<usize>,
    mut visit: impl FnMut(&str),
) {
    let mut buffer = String::new();
    let mut at = 0;
    while let Some(character) = text.get(at) {
        let Some(end) = end_at(at, *character) else {
            at += 1;
            continue;
        };
        buffer.clear();
        for character in text.get(at..end).unwrap_or_default() {
            // Words are of ASCII letters and of digits: no other characters have a lower case here.
            buffer.push(character.to_ascii_lowercase());
        }
        visit(&buffer);
        at = end;
    }
}

/// The end of the longest part of `from..to` whose last character passes the test.
fn end_of_last(
    text: &[char],
    from: usize,
    to: usize,
    is_last: impl Fn(char) -> bool,
) -> Option<usize> {
    let part = text.get(from..to)?;
    let last = part.iter().rposition(|character| is_last(*character))?;
    Some(from + last + 1)
}

pub(crate) fn visit_content_words(text: &[char], mut visit: impl FnMut(&str)) {
    let is_inner = |c: char| c.is_ascii_alphabetic() || matches!(c, '\'' | '-');
    let end_at = |at: usize, first: char| {
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
    };
    visit_words(text, end_at, |word| {
        if word.chars().count() > 2 && !is_stop(word) {
            visit(word);
        }
    });
}

/// Words of at least three letters and numbers, in lower case, without those that carry no content.
///
/// ```
/// let text: Vec<char> = "Please keep the 12.5 MB limit".chars().collect();
/// assert_eq!(epitome_eval::content_words(&text), ["keep", "12.5", "limit"]);
/// ```
#[must_use]
pub fn content_words(text: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    visit_content_words(text, |word| words.push(word.to_owned()));
    words
}

pub(crate) fn visit_rare_tokens(text: &[char], visit: impl FnMut(&str)) {
    let is_edge = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_inner = |c: char| is_edge(c) || matches!(c, '.' | '/' | ':' | '@' | '#' | '-');
    let end_at = |at: usize, first: char| {
        if !is_edge(first) {
            return None;
        }
        let end = run_end(text, at, is_inner);
        end_of_last(text, at + 3, end, is_edge)
    };
    visit_words(text, end_at, visit);
}

/// Plain tokens of at least four characters, whatever they mean: a check on the identifier patterns.
#[must_use]
pub fn rare_tokens(text: &[char]) -> HashSet<String> {
    let mut tokens = HashSet::new();
    visit_rare_tokens(text, |token| {
        if !tokens.contains(token) {
            tokens.insert(token.to_owned());
        }
    });
    tokens
}

/// Visits what a keyword search indexes: words and numbers, stemmed; `None` stands for a word without content.
pub(crate) fn visit_terms(text: &[char], mut visit: impl FnMut(Option<&str>)) {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '_' | '.' | '+' | '-');
    let is_in_number = |c: char| is_digit(c) || matches!(c, '.' | ',' | ':' | '%' | '-');
    let end_at = |at: usize, first: char| {
        if first.is_ascii_alphabetic() {
            let end = run_end(text, at, is_inner);
            end_of_last(text, at + 1, end, |c| c.is_ascii_alphanumeric())
        } else if is_digit(first) {
            end_of_last(text, at, run_end(text, at, is_in_number), is_digit)
        } else {
            None
        }
    };
    visit_words(text, end_at, |word| {
        if is_stop(word) {
            visit(None);
        } else if word.contains("'s") {
            visit(Some(stem(&word.replace("'s", ""))));
        } else {
            visit(Some(stem(word)));
        }
    });
}

/// The terms of a text for a keyword search.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let mut terms = Vec::new();
    visit_terms(&text, |term| terms.extend(term.map(str::to_owned)));
    terms
}

/// Cuts the commonest endings.
fn stem(word: &str) -> &str {
    let long_enough = |stem: &&str| stem.chars().count() >= 4;
    ["ing", "ed", "es", "s"]
        .into_iter()
        .find_map(|ending| word.strip_suffix(ending).filter(long_enough))
        .unwrap_or(word)
}
