//! What the units of a sentence say together.

use super::form::{folded, rooted};
use super::lexicon::{Class, THAN};
use super::manner::Manner;
use super::order::{self, When};
use super::unit::{Begins, Unit, units};
use super::{Bound, Chosen, Stance, Word};
use crate::verify::word::is_unspaced;

/// Words of a name, and characters where words are not separated.
const NAME_WORDS: usize = 2;
const NAME_CHARS: usize = 4;
/// So far behind a denial a limit is still the one that it denies: "may not take longer than".
const DENIED_UNITS: usize = 4;
/// Who denies more often in one sentence speaks of several things.
const DENIALS: usize = 2;
/// What stands for a denial inside a word.
const SHORT: [(&str, &str); 6] = [
    ("-free", " without"),
    ("non-", "not "),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
];

/// Reads a sentence.
pub(super) fn read(sentence: &str) -> Stance {
    let mut lower = folded(sentence);
    for (short, long) in SHORT {
        if lower.contains(short) {
            lower = lower.replace(short, long);
        }
    }
    let units = units(&lower);
    let has = |class| units.iter().any(|unit| unit.class == Some(class));
    let manner = Manner {
        must: has(Class::Must),
        may: has(Class::May),
        is_weak: has(Class::Weak),
        only: has(Class::Only),
        everyone: has(Class::Everyone),
        all: has(Class::All),
        some: has(Class::Some),
    };
    let mut reader = Reader {
        has_denied: has(Class::Particle),
        ..Reader::default()
    };
    for unit in &units {
        reader.take(unit);
    }
    let mut stance = reader.finish(order::order(&units));
    stance.manner = manner;
    stance
}

/// The words between two commas.
#[derive(Default)]
struct Part {
    /// Whether it says something of its own: behind "but" or a semicolon.
    is_clause: bool,
    /// Its words, and whether each is what is not wanted.
    words: Vec<(Box<str>, bool)>,
    ends: Vec<Chosen>,
    denials: usize,
    /// Units since the last denial.
    since: usize,
    /// Whether it speaks of all that was not named.
    has_else: bool,
}

impl Part {
    const fn denies(&self) -> bool {
        self.denials % 2 == 1
    }

    /// Whether it tells of one thing only: ", not spaces".
    fn is_one_name(&self) -> bool {
        let is_character = |(word, _): &&(Box<str>, bool)| word.contains(is_unspaced);
        let characters = self.words.iter().filter(is_character).count();
        let words = self.words.len() - characters + self.ends.len();
        match characters {
            0 => (1..=NAME_WORDS).contains(&words),
            _ => characters <= NAME_CHARS && words == 0,
        }
    }

    /// Whether it only sets one thing against what stands before it.
    fn is_aside(&self) -> bool {
        !self.is_clause && self.denies() && self.is_one_name()
    }
}

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    /// Whether further denials only repeat one.
    has_denied: bool,
    /// Whether it prefers something, and names it.
    prefers: Option<bool>,
    /// Whether what follows is what is not wanted.
    is_unwanted: bool,
    bounds: Vec<Bound>,
    has_denied_bound: bool,
}

impl Reader {
    fn take(&mut self, unit: &Unit<'_>) {
        if self.parts.is_empty() || unit.begins != Begins::Nothing {
            let is_clause = unit.begins == Begins::Clause && self.parts.iter().any(says_something);
            self.is_unwanted = false;
            self.parts.push(Part {
                is_clause,
                ..Part::default()
            });
        }
        let Some(part) = self.parts.last_mut() else {
            return;
        };
        part.since += 1;
        let names_something = matches!(unit.class, None | Some(Class::End(_)));
        self.prefers = self.prefers.map(|names| names || names_something);
        match unit.class {
            None => {
                part.words
                    .push((rooted(unit.text).into(), self.is_unwanted));
                // Where words are not separated, the name goes on.
                self.is_unwanted &= unit.text.contains(is_unspaced);
            }
            Some(Class::End(end)) => part.ends.push(Chosen {
                end,
                is_unwanted: self.is_unwanted,
                is_denied: part.denials > 0 && part.since == 1,
            }),
            _ if compares(self.prefers, unit.text) => self.is_unwanted = true,
            Some(Class::Prefers) => self.prefers = Some(false),
            Some(Class::Else) => part.has_else = true,
            Some(Class::Contrast) => self.is_unwanted = true,
            // Whoever forbids says "do not".
            Some(Class::Deny) if unit.text == "not" && unit.begins == Begins::Part => {
                self.is_unwanted = true;
            }
            Some(Class::Echo) if self.has_denied => {}
            Some(class @ (Class::Deny | Class::Particle | Class::Echo | Class::NoOther)) => {
                self.has_denied = true;
                part.has_else |= class == Class::NoOther;
                part.denials += 1;
                part.since = 0;
            }
            Some(Class::Turnabout) => self.turn_about(),
            Some(Class::Most) => self.bind(Bound::Most),
            Some(Class::Least) => self.bind(Bound::Least),
            Some(_) => {}
        }
    }

    /// "Nicht A, sondern B": A is what is not wanted.
    fn turn_about(&mut self) {
        if let Some(part) = self.parts.iter_mut().rev().find(|part| part.denies()) {
            part.denials -= 1;
            for (_, is_unwanted) in &mut part.words {
                *is_unwanted = true;
            }
        }
    }

    fn bind(&mut self, bound: Bound) {
        let Some(part) = self.parts.last_mut() else {
            return;
        };
        let is_denied = part.denials > 0 && part.since <= DENIED_UNITS;
        part.denials -= usize::from(is_denied);
        self.has_denied_bound |= is_denied;
        self.bounds
            .push(if is_denied { bound.other() } else { bound });
    }

    fn finish(mut self, order: Option<order::Order>) -> Stance {
        let first = self.parts.iter().position(says_something);
        // What stands before the first word denies what follows.
        let before: usize = self
            .parts
            .drain(..first.unwrap_or_default())
            .map(|part| part.denials)
            .sum();
        if let Some(part) = self.parts.first_mut() {
            part.denials += before;
            part.is_clause = true;
        }
        // "Only these, no others": what was named stays as it is. "Except for these, no others" says so by itself.
        let mut before = 0;
        for (at, part) in self.parts.iter_mut().enumerate() {
            if at > 0 && part.has_else && before % 2 == 0 {
                part.denials -= part.denials % 2;
            }
            before += part.denials;
        }
        let mut clauses: Vec<Vec<Part>> = Vec::new();
        for part in self.parts {
            match clauses.last_mut() {
                Some(clause) if !part.is_clause => clause.push(part),
                _ => clauses.push(vec![part]),
            }
        }
        let denials = |clause: &Vec<Part>| clause.iter().map(|part| part.denials).sum::<usize>();
        let is_tangled = clauses.iter().any(|clause| denials(clause) > DENIALS);
        let mut denies: Vec<bool> = clauses.iter().map(|clause| denies(clause)).collect();
        let mut stance = Stance {
            has_denial: clauses.iter().any(|clause| denials(clause) > 0),
            is_tangled,
            has_order: order.is_some(),
            has_denied_bound: self.has_denied_bound,
            // Where both are set, nobody can say which is meant.
            bound: match self.bounds.as_slice() {
                [first, others @ ..] if others.iter().all(|other| other == first) => Some(*first),
                _ => None,
            },
            ..Stance::default()
        };
        // "Not until" is "only after".
        let is_not_until =
            denies.first() == Some(&true) && order.as_ref().is_some_and(|order| order.is_until);
        if let Some(first) = denies.first_mut().filter(|_| is_not_until) {
            *first = false;
        }
        stance.denies = denies.first() == Some(&true);
        let turned = |when: When| if is_not_until { when.other() } else { when };
        let mut whens = order.into_iter().flat_map(|order| order.when).map(turned);
        for (clause, denies) in clauses.into_iter().zip(denies) {
            for (at, part) in clause.into_iter().enumerate() {
                let is_aside = at > 0 && part.is_aside();
                let is_against = is_aside != (denies != stance.denies);
                let ends = part.ends.iter().map(|chosen| Chosen {
                    is_unwanted: chosen.is_unwanted != is_against,
                    ..*chosen
                });
                stance.ends.extend(ends);
                for (text, is_unwanted) in part.words {
                    let word = Word {
                        text,
                        when: whens.next(),
                    };
                    stance.add(word, is_against != is_unwanted);
                }
            }
        }
        stance.settle();
        stance
    }
}

/// Whether a clause denies, without what it only sets one thing against.
fn denies(clause: &[Part]) -> bool {
    let rest = clause
        .iter()
        .enumerate()
        .filter(|(at, part)| *at == 0 || !part.is_aside());
    rest.map(|(_, part)| part.denials).sum::<usize>() % 2 == 1
}

fn says_something(part: &Part) -> bool {
    !part.words.is_empty() || !part.ends.is_empty()
}

/// Whether a word stands between what is preferred and what is not; `names` tells whether something was preferred, and
/// named. Who prefers "to" do something compares nothing.
fn compares(names: Option<bool>, word: &str) -> bool {
    names.is_some() && THAN.contains(&word) || names == Some(true) && word == "to"
}
