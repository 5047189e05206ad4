//! What a sentence that somebody typed is for.

use super::clauses::Sentence;
use super::reading::is_standing;
use super::standing::Reader;
use super::unspaced;

/// Words that begin a sentence about what is to be done when something happens.
const CASES: &[&str] = &[
    "if",
    "when",
    "whenever",
    "unless",
    "wenn",
    "falls",
    "sobald",
    "si",
    "quand",
    "lorsque",
    "cuando",
    "если",
    "когда",
];

/// What a sentence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is a standing instruction or constraint.
    Rule,
    /// It may ask for something.
    Request,
    /// It tells what happened or what is wrong, or it asks a question.
    Tale,
}

/// What `sentence` is for.
pub(crate) fn purpose(sentence: &str) -> Purpose {
    let sentence = sentence.trim();
    if is_standing(sentence) {
        return Purpose::Rule;
    }
    let is_question = sentence.ends_with(['?', '？']);
    if is_question || !unspaced::is_script(sentence) && tells(sentence) {
        Purpose::Tale
    } else {
        Purpose::Request
    }
}

fn tells(sentence: &str) -> bool {
    let read = Sentence::read(sentence);
    let is_case = CASES.contains(&read.word(0));
    let mut readers = read.tongues().map(|tongue| Reader::new(&read, tongue));
    readers.any(|reader| reader.asks() || reader.reports() && !reader.commands() && !is_case)
}
