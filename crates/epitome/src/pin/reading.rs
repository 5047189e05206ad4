//! What one sentence says: whether it is a standing instruction, and what it does to earlier ones.

use super::clauses::Sentence;
use super::sentences::Register;
use super::standing::Reader;
use super::state::Change;
use super::unspaced;

/// Sentences outside these lengths are no rules: too little to go by, or a paste.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=400;

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
    Reading::with(sentence, Depth::Form).strength
}

/// How plainly a sentence that the user typed says that it is an instruction in force; `None` when it is none. This is
/// narrower than [`strength`]: what somebody types in passing reads like a rule more often than it is one.
pub(crate) fn in_force(sentence: &str) -> Option<Strength> {
    Reading::of(sentence).in_force
}

/// How far a sentence is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Whether it has the form of a rule.
    Form,
    /// What it comes to in a document that somebody sent, too: where it says that it stands, its words are weighed.
    Document,
    /// What it comes to where somebody typed it: its words are weighed.
    Weight,
}

impl Depth {
    fn weighs(self, strength: Option<Strength>) -> bool {
        match self {
            Self::Form => false,
            Self::Document => strength == Some(Strength::Explicit),
            Self::Weight => true,
        }
    }
}

/// What a sentence says about itself and about earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// How plainly it says that it is a standing instruction.
    pub(super) strength: Option<Strength>,
    /// The same, where somebody typed it.
    pub(super) in_force: Option<Strength>,
    /// What it may do to earlier ones.
    pub(super) change: Option<Change>,
    /// Whether it has a word that rules have, although it may be none: it sets a limit, forbids, prefers or negates.
    pub(super) may_bind: bool,
}

impl Reading {
    pub(super) fn of(sentence: &str) -> Self {
        Self::with(sentence, Depth::Weight)
    }

    /// What one says that stands in such a text, as far as that asks.
    pub(super) fn within(register: Register, sentence: &str) -> Self {
        match register {
            Register::Typed => Self::of(sentence),
            Register::Document => Self::with(sentence, Depth::Document),
        }
    }

    fn with(sentence: &str, depth: Depth) -> Self {
        let sentence = own_words(sentence.trim());
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
            .map(|tongue| Reader::new(&read, tongue))
            .collect();
        if defines(sentence) {
            return Self::default();
        }
        if sentence.ends_with('?') || readers.iter().any(Reader::asks) {
            let (strength, in_force) = judged(&readers, depth, Reader::polite_rule);
            return Self {
                strength,
                in_force,
                change: None,
                may_bind: false,
            };
        }
        let (strength, in_force) = judged(&readers, depth, Reader::rule);
        if depth == Depth::Form {
            return Self {
                strength,
                ..Self::default()
            };
        }
        let change = readers
            .iter()
            .find_map(|reader| reader.change(strength.is_some()));
        let may_bind = read.may_bind() || read.negates();
        Self {
            strength,
            in_force,
            change,
            may_bind,
        }
    }
}

/// How a sentence reads, and what it comes to where somebody typed it: the most that a language reads in it.
fn judged<'a>(
    readers: &[Reader<'a>],
    depth: Depth,
    rule: impl Fn(&Reader<'a>) -> Option<Strength>,
) -> (Option<Strength>, Option<Strength>) {
    let (mut reads, mut in_force) = (None, None);
    for reader in readers {
        let strength = rule(reader);
        reads = reads.max(strength);
        if depth.weighs(strength) {
            in_force = in_force.max(reader.in_force(strength));
        }
    }
    (reads, in_force)
}

/// The sentence without what somebody else is quoted with in corner brackets, which may end in another sentence or begin in
/// one before.
fn own_words(sentence: &str) -> &str {
    const OPENING: [char; 2] = ['「', '『'];
    const CLOSING: [char; 2] = ['」', '』'];
    let (open, close) = (sentence.find(OPENING), sentence.rfind(CLOSING));
    match (open, close) {
        (None, Some(_)) if sentence.ends_with(CLOSING) => "",
        (Some(0), Some(_)) if sentence.ends_with(CLOSING) => "",
        (Some(open), None) => sentence.get(..open).unwrap_or(sentence),
        _ => sentence,
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
