//! A sentence as words and phrases, each with what it does.

use super::lexicon::{ChoiceKind, Class, LEXICON};
use crate::verify::voice;
use crate::verify::word::{is_unspaced, words};

/// What stands between clauses, and between the parts of one.
const BETWEEN_CLAUSES: [char; 8] = [';', '；', '.', '。', '!', '！', '—', '–'];
const BETWEEN_PARTS: [char; 6] = [',', '，', ':', '：', '(', ')'];

/// What joins two clauses, if the second denies.
const AND: &[&str] = &["and", "und", "et", "y", "и"];
/// What joins two things that are the same to whoever speaks.
const OR: &[&str] = &["or", "oder", "ou", "o", "или", "和", "与", "或", "及"];

/// So far back "and" is looked for.
const JOINED_UNITS: usize = 3;

/// A word or a phrase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'a> {
    /// Its first word.
    pub(super) text: &'a str,
    /// What it does; `None` for a word that tells something.
    pub(super) class: Option<Class>,
    /// What it begins.
    pub(super) begins: Begins,
}

/// What begins at a place of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    Nothing,
    /// A part of a clause: behind a comma.
    Part,
    Clause,
}

impl Unit<'_> {
    pub(super) const fn is_word(&self) -> bool {
        self.class.is_none()
    }

    /// Whether it joins two things of one kind.
    pub(super) fn joins(&self) -> bool {
        AND.contains(&self.text) || OR.contains(&self.text)
    }

    /// Whether it says what a sentence is about.
    pub(super) const fn tells(&self) -> bool {
        matches!(self.class, None | Some(Class::End(_)))
    }
}

/// The units of a sentence in small letters without accents.
pub(super) fn units(lower: &str) -> Vec<Unit<'_>> {
    let mut found: Vec<(&str, Begins)> = Vec::new();
    let mut end = 0;
    for word in words(lower) {
        let between = lower.get(end..word.start).unwrap_or_default();
        found.push((word.text, edge(between, word.text)));
        end = word.start + word.text.len();
    }
    let texts: Vec<&str> = found.iter().map(|(text, _)| *text).collect();
    let tongues = LEXICON.tongues(&texts);
    let mut units = Vec::with_capacity(found.len());
    let mut taken = vec![false; found.len()];
    // "Erst X, wenn Y": it is the last word that says what comes first.
    let mut orders = vec![None; found.len()];
    for (at, (text, begins)) in found.iter().enumerate() {
        if taken.get(at) == Some(&true) {
            continue;
        }
        // A phrase goes on behind a comma, but not in another clause.
        let behind = found.iter().skip(at + 1);
        let length = 1 + behind
            .take_while(|(_, begins)| *begins != Begins::Clause)
            .count();
        let rest = texts.get(at..at + length).unwrap_or_default();
        let behind = found.iter().skip(at + 1);
        let part = 1 + behind
            .take_while(|(_, begins)| *begins == Begins::Nothing)
            .count();
        let phrase = LEXICON.longest(rest, part, tongues);
        let parted = phrase.filter(|phrase| phrase.class == Class::After && phrase.is_parted());
        let last = parted.and_then(|phrase| phrase.places().last());
        for place in phrase.iter().flat_map(|phrase| phrase.places()) {
            if let Some(taken) = taken.get_mut(at + place) {
                *taken = Some(place) != last;
            }
        }
        if let Some(order) = last.and_then(|last| orders.get_mut(at + last)) {
            *order = parted.map(|phrase| phrase.class);
        }
        let ordered = orders.get(at).copied().flatten();
        let is_number = |at: Option<usize>| {
            let text = at.and_then(|at| texts.get(at));
            text.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        };
        // "Von 9 bis 17 Uhr"
        let is_range = is_number(at.checked_sub(1)) && is_number(Some(at + 1));
        let class = match phrase {
            _ if ordered.is_some() => ordered,
            Some(_) if parted.is_some() => Some(Class::Filler),
            Some(phrase) if is_range && phrase.class == Class::Until => Some(Class::Filler),
            Some(phrase) => Some(phrase.class),
            None if tells(text) => None,
            None => Some(Class::Filler),
        };
        let is_joined = is_joined(&units);
        let begins = match class {
            Some(Class::Clause | Class::Reason) => Begins::Clause,
            // "Use it and never copy it."
            Some(Class::Deny | Class::Particle | Class::NoOther) if is_joined => Begins::Clause,
            // "Commit it and delete the branch."
            Some(Class::End(end)) if is_joined && end.kind == ChoiceKind::Deed => Begins::Part,
            _ => *begins,
        };
        units.push(Unit {
            text,
            class,
            begins,
        });
    }
    units
}

/// Whether what follows is joined to what stands before by "and", perhaps with words between that only say how binding
/// it is: "and must".
fn is_joined(units: &[Unit<'_>]) -> bool {
    let says_how = |unit: &&Unit<'_>| {
        !AND.contains(&unit.text)
            && matches!(unit.class, Some(Class::Must | Class::May | Class::Filler))
    };
    let before = units
        .iter()
        .rev()
        .take(JOINED_UNITS)
        .find(|unit| !says_how(unit));
    before.is_some_and(|unit| AND.contains(&unit.text) && unit.class == Some(Class::Filler))
}

/// What begins behind the signs between two words. A sign inside a name or before it ends nothing: `config/prod.toml`,
/// `.env`.
fn edge(between: &str, behind: &str) -> Begins {
    let mut signs = between.chars().peekable();
    let mut begins = Begins::Nothing;
    while let Some(sign) = signs.next() {
        let is_free = !sign.is_ascii()
            || sign == '('
            || signs.peek().is_none() && behind.starts_with(is_unspaced)
            || signs.peek().is_some_and(|next| !next.is_alphanumeric());
        if is_free && BETWEEN_CLAUSES.contains(&sign) {
            return Begins::Clause;
        }
        if is_free && BETWEEN_PARTS.contains(&sign) {
            begins = Begins::Part;
        }
    }
    begins
}

/// Whether a word tells something by itself.
fn tells(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let is_long = is_number || word.contains(is_unspaced) || word.chars().count() > 2;
    is_long && !voice::names_user(word)
}
