//! What one sentence says: whether it is a standing instruction, and what it does to earlier ones.

use super::clauses::Sentence;
use super::standing::Reader;
use super::state::Change;
use super::unspaced;

/// Sentences outside these lengths are no rules: too little to go by, or a paste.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=400;

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

/// How plainly a sentence says that it is a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// It reads like one: "Use tabs for indentation."
    Plain,
    /// It says that it stands: "never", "from now on", "must".
    Explicit,
}

/// Whether a sentence is a standing instruction or constraint, and no question, report or request for once.
pub(crate) fn is_standing(sentence: &str) -> bool {
    strength(sentence).is_some()
}

/// How plainly `sentence` says that it is a standing instruction; `None` when it is none.
pub(crate) fn strength(sentence: &str) -> Option<Strength> {
    Reading::of(sentence).strength
}

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

/// What a sentence that somebody typed is for.
pub(crate) fn purpose(sentence: &str) -> Purpose {
    let sentence = sentence.trim();
    if is_standing(sentence) {
        Purpose::Rule
    } else if sentence.ends_with(['?', '？']) || !unspaced::is_script(sentence) && tells(sentence)
    {
        Purpose::Tale
    } else {
        Purpose::Request
    }
}

fn tells(sentence: &str) -> bool {
    let read = Sentence::read(sentence);
    let mut tongues = read.tongues().iter();
    tongues.any(|tongue| {
        let reader = Reader::new(&read, *tongue);
        let is_case = CASES.contains(&read.word(0));
        reader.asks() || reader.reports() && !reader.commands() && !is_case
    })
}

/// What a sentence says about itself and about earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// How plainly it says that it is a standing instruction.
    pub(super) strength: Option<Strength>,
    /// What it may do to earlier ones.
    pub(super) change: Option<Change>,
    /// Whether it has a word that rules have, although it may be none: it sets a limit, forbids, prefers or negates.
    pub(super) may_bind: bool,
}

impl Reading {
    pub(super) fn of(sentence: &str) -> Self {
        let sentence = sentence.trim();
        if unspaced::is_script(sentence) {
            return unspaced::read(sentence);
        }
        if !LENGTHS.contains(&sentence.chars().count()) {
            return Self::default();
        }
        let read = Sentence::read(sentence);
        if read.len() < 2 {
            return Self::default();
        }
        let readers: Vec<Reader<'_>> = read
            .tongues()
            .iter()
            .map(|tongue| Reader::new(&read, *tongue))
            .collect();
        if defines(sentence) {
            return Self::default();
        }
        if sentence.ends_with('?') || readers.iter().any(Reader::asks) {
            let strength = readers.iter().filter_map(Reader::polite_rule).max();
            return Self {
                strength,
                change: None,
                may_bind: false,
            };
        }
        let strength = readers.iter().filter_map(Reader::rule).max();
        let change = readers
            .iter()
            .find_map(|reader| reader.change(strength.is_some()));
        let may_bind = read.may_bind() || read.negates();
        Self {
            strength,
            change,
            may_bind,
        }
    }
}

/// A line of a list that says what a name means: "`T2`: data stays in its region". It describes, whatever it says.
fn defines(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches('*');
    let Some((_, behind)) = bare.strip_prefix('`').and_then(|rest| rest.split_once('`')) else {
        return false;
    };
    let behind = behind.trim_start_matches('*').trim_start();
    behind.starts_with([':', '–', '—']) || behind.starts_with("- ")
}
