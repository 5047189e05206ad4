//! What the units of a sentence say together.

use super::form::{folded, rooted};
use super::lexicon::{ChoiceKind, Class, LEXICON, THAN};
use super::manner::Manner;
use super::number;
use super::order::{self, When};
use super::part::{Item, NAME_CHARS, Part, signs};
use super::swap;
use super::told::{CASES, CONDITIONS, NEEDS, NOBODY, NOTHING, TO, WANTS};
use super::unit::{Begins, Unit, units};
use super::{Bound, Chosen, Sign, Stance, Word};
use crate::verify::word::{is_unspaced, words};
use crate::verify::{quantity, spelled};

/// So far behind a denial a limit is still the one that it denies: "may not take longer than".
const DENIED_UNITS: usize = 4;
/// Who denies more often in one sentence speaks of several things.
const DENIALS: usize = 2;
/// So many units are the beginning of a sentence.
const FIRST_UNITS: usize = 2;
/// How the verb begins that says by the case of its nouns which it prefers.
const BY_CASE: &str = "предпоч";
/// "A is better than B" in one word.
const BETTER: &str = "лучше";
/// So many words behind "without" are what it denies.
const WITHOUT_ITEMS: usize = 2;
/// What stands for a denial inside a word.
const SHORT: [(&str, &str); 6] = [
    ("-free", " without"),
    ("non-", "non "),
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
    if let Some(plain) = number::in_figures(&lower) {
        lower = plain;
    }
    let units = units(&lower);
    let has = |class| units.iter().any(|unit| unit.class == Some(class));
    let manner = Manner {
        must: has(Class::Must),
        may: has(Class::May),
        is_weak: has(Class::Weak),
        only: has(Class::Only),
        everyone: has(Class::Everyone),
        also: has(Class::Also),
        all: has(Class::All),
        some: has(Class::Some),
        prefers: has(Class::Prefers),
        prefers_by_case: units
            .iter()
            .any(|unit| unit.class == Some(Class::Prefers) && unit.text.starts_with(BY_CASE)),
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
    stance.begins_with_manner = units
        .iter()
        .take(FIRST_UNITS)
        .any(|unit| matches!(unit.class, Some(Class::Must | Class::May | Class::Deny)));
    stance.waives = stance.has_denial && units.iter().any(|unit| NEEDS.contains(&unit.text));
    stance.placed = swap::placed(&units);
    stance.begins_with_word = units.first().is_some_and(Unit::is_word);
    stance.names = names(sentence, &lower);
    stance.names_nothing = units.iter().any(|unit| NOTHING.contains(&unit.text));
    let chosen = units.iter().filter_map(|unit| match unit.class {
        Some(Class::End(end)) => Some(LEXICON.keys(end.choice)),
        _ => None,
    });
    stance.looked_up = chosen.flatten().copied().collect();
    let told = units.iter().filter(|unit| unit.is_word());
    stance.numbers = told.filter_map(|unit| number::value(unit.text)).collect();
    if !stance.numbers.is_empty() {
        stance.amounts = quantity::values(sentence);
    }
    stance
}

/// The words of a sentence that are written with a capital, but for its first, as they stand in `lower`: names. In German
/// any noun may be.
fn names(sentence: &str, lower: &str) -> Vec<Box<str>> {
    let texts: Vec<&str> = words(lower).map(|word| word.text).collect();
    if LEXICON.tongues(&texts).may_be_german() {
        return Vec::new();
    }
    let found = words(sentence).skip(1);
    let found = found.filter(|word| word.text.starts_with(char::is_uppercase));
    found
        .map(|word| rooted(&folded(word.text)).into())
        .collect()
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
    /// Whether it said "nobody but".
    leaves_out_nobody: bool,
}

impl Reader {
    fn take(&mut self, unit: &Unit<'_>) {
        // "Stop if it fails."
        let is_case = unit.class == Some(Class::Filler) && CASES.contains(&unit.text);
        let is_behind = is_case && self.parts.last().is_some_and(Part::says_something);
        if self.parts.is_empty() || unit.begins != Begins::Nothing || is_behind {
            let is_clause =
                unit.begins == Begins::Clause && self.parts.iter().any(Part::says_something);
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
        let names_something = unit.tells();
        self.prefers = self.prefers.map(|names| names || names_something);
        match unit.class {
            None => {
                let figures = spelled::figures(unit.text).map(str::to_owned);
                let text = figures.unwrap_or_else(|| rooted(unit.text));
                part.items.push(Item {
                    text: text.into(),
                    end: None,
                    is_unwanted: self.is_unwanted,
                    follows_unwanted: part.items.last().is_some_and(|item| item.is_unwanted)
                        && !self.is_unwanted,
                    is_denied: false,
                });
                // Where words are not separated, the name goes on.
                self.is_unwanted &= unit.text.contains(is_unspaced);
            }
            Some(Class::End(end)) => {
                part.asserts |= end.kind == ChoiceKind::Deed;
                part.items.push(Item {
                    text: unit.text.into(),
                    end: Some(end),
                    is_unwanted: self.is_unwanted,
                    follows_unwanted: false,
                    is_denied: part.denials > 0 && part.since == 1,
                });
            }
            _ if compares(self.prefers, unit.text) => self.is_unwanted = true,
            Some(Class::Prefers) if unit.text == BETTER && part.says_something() => {
                self.is_unwanted = true;
            }
            Some(Class::Prefers) => {
                part.asserts = true;
                self.prefers = Some(false);
            }
            Some(Class::Else) => part.has_else = true,
            Some(Class::Contrast) => self.is_unwanted = true,
            // Whoever forbids says "do not".
            Some(Class::Deny) if unit.text == "not" && unit.begins == Begins::Part => {
                self.is_unwanted = true;
            }
            Some(Class::Echo) if self.has_denied => {}
            // "Никто, кроме него, не": the denial belongs to whom it leaves out.
            Some(Class::Particle) if self.leaves_out_nobody => self.leaves_out_nobody = false,
            Some(Class::AsIs) if !part.has_stayed() => {}
            Some(
                class @ (Class::Deny
                | Class::Particle
                | Class::Echo
                | Class::NoOther
                | Class::Unchanged
                | Class::AsIs),
            ) => {
                self.has_denied = true;
                part.has_else |= class == Class::NoOther;
                part.is_unchanged |= matches!(class, Class::Unchanged | Class::AsIs);
                if CONDITIONS.contains(&unit.text) {
                    part.is_condition = true;
                    part.without = Some(part.items.len());
                }
                part.denials += 1;
                // "Without" belongs to what follows, whatever limit comes later.
                part.since = match part.without {
                    Some(_) => DENIED_UNITS,
                    None => 0,
                };
            }
            Some(Class::Turnabout) => self.turn_about(),
            Some(Class::Most) => self.bind(Bound::Most),
            Some(Class::Least) => self.bind(Bound::Least),
            Some(class @ (Class::Must | Class::May | Class::Only)) => {
                part.asserts = true;
                part.has_manner |= class != Class::Only;
                self.leaves_out_nobody |= class == Class::Only && NOBODY.contains(&unit.text);
            }
            Some(Class::Reason) => part.is_reason = true,
            Some(Class::Filler) => {
                part.asserts |= WANTS.contains(&unit.text);
                part.is_condition |= CASES.contains(&unit.text);
            }
            Some(_) => {}
        }
    }

    /// "Nicht A, sondern B": A is what is not wanted.
    fn turn_about(&mut self) {
        if let Some(part) = self.parts.iter_mut().rev().find(|part| part.denies()) {
            part.denials -= 1;
            for item in &mut part.items {
                item.is_unwanted = true;
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
        self.join_parts();
        let mut clauses: Vec<Vec<Part>> = Vec::new();
        for part in self.parts {
            match clauses.last_mut() {
                Some(clause) if !part.is_clause => clause.push(part),
                _ => clauses.push(vec![part]),
            }
        }
        let parts = || clauses.iter().flatten();
        let denials = |clause: &[Part]| clause.iter().map(|part| part.denials).sum::<usize>();
        let mut signs: Vec<Vec<Sign>> = clauses.iter().map(|clause| signs(clause)).collect();
        let mut stance = Stance {
            has_denial: parts().any(|part| part.denials > 0),
            has_case: parts().any(|part| part.is_condition && part.without.is_none()),
            has_without: parts().any(|part| part.without.is_some()),
            only_without: parts().all(|part| part.denials == usize::from(part.without.is_some())),
            is_unchanged: parts().any(|part| part.is_unchanged),
            is_tangled: clauses.iter().any(|clause| denials(clause) > DENIALS),
            has_order: order.is_some(),
            has_denied_bound: self.has_denied_bound,
            // Where both are set, nobody can say which is meant.
            bound: match self.bounds.as_slice() {
                [first, others @ ..] if others.iter().all(|other| other == first) => Some(*first),
                _ => None,
            },
            ..Stance::default()
        };
        let denies = |signs: &[Vec<Sign>]| {
            let first = signs.first().and_then(|signs| signs.first());
            first == Some(&Sign::Minus)
        };
        // "Not until" is "only after".
        let is_not_until = denies(&signs) && order.as_ref().is_some_and(|order| order.is_until);
        if let Some(first) = signs.first_mut().filter(|_| is_not_until) {
            first.fill(Sign::Plus);
        }
        let without = clauses.first().and_then(|clause| clause.first()?.without);
        stance.denies = denies(&signs) && without.is_none_or(|without| without == 0);
        let turned = |when: When| if is_not_until { when.other() } else { when };
        let mut whens = order.into_iter().flat_map(|order| order.when).map(turned);
        let asides = clauses.iter().flat_map(|clause| {
            let parts = clause.iter().enumerate();
            parts.map(|(at, part)| at > 0 && part.is_aside())
        });
        let asides: Vec<bool> = asides.collect();
        let parts = clauses.into_iter().flatten();
        for ((part, sign), is_aside) in parts.zip(signs.into_iter().flatten()).zip(asides) {
            let whens: Vec<Option<When>> = part.items.iter().map(|_| whens.next()).collect();
            // "Without" denies what stands behind it, unless all of it is denied once more.
            let without = part
                .without
                .filter(|at| part.denials == 1 && sign == Sign::Minus && *at < part.items.len());
            let is_without = |at: usize| {
                let is_character = part.items.get(at).is_some_and(Item::is_character);
                let most = if is_character {
                    NAME_CHARS
                } else {
                    WITHOUT_ITEMS
                };
                without.is_some_and(|without| (without..without + most).contains(&at))
            };
            let is_case = part.is_condition && part.denials == 0;
            for (at, (item, when)) in part.items.iter().zip(&whens).enumerate() {
                // "Stays unchanged": it stays, and nothing is done to it.
                let is_staying = part.is_unchanged && item.end.is_some_and(|end| end.stays);
                // Who undoes something denies what he does it to.
                let undone = part.items.iter().zip(&whens);
                let undone = undone.filter(|(item, its)| item.undoes() && *its == when);
                let is_before = without.is_some_and(|without| at < without);
                let is_turned = ((undone.count() % 2 == 1) != is_before) != is_staying;
                let is_past = without.is_some() && !is_before && !is_without(at);
                // "Book it without": nobody says without what.
                let is_bare = part.denials == 1 && part.without == Some(part.items.len());
                let deed = match item.follows_unwanted || is_past || is_bare {
                    true => Sign::Open,
                    false if is_turned => sign.other(),
                    false => sign,
                };
                let is_contrast = item.is_unwanted || is_aside || is_without(at) || is_staying;
                let when = when.filter(|_| !is_case);
                match item.end {
                    Some(end) if end.kind != ChoiceKind::Deed => stance.ends.push(Chosen {
                        end,
                        // "Short ones, no long ones": alone it is all that is set against the other.
                        is_unwanted: item.is_unwanted || is_aside && part.items.len() == 1,
                        is_contrast,
                        sign: deed,
                        is_denied: item.is_denied,
                        is_plain: part.denials == 0 || part.denials == 1 && is_before,
                    }),
                    end => stance.add(Word {
                        text: item.text.clone(),
                        when,
                        sign: if item.is_unwanted { deed.other() } else { deed },
                        is_contrast,
                        end,
                    }),
                }
            }
        }
        stance.settle();
        stance
    }

    /// What stands before the first word denies what follows; and "only these, no others": what was named stays as it
    /// is, while "except for these, no others" says so by itself.
    fn join_parts(&mut self) {
        let first = self.parts.iter().position(Part::says_something);
        let before: Vec<Part> = self.parts.drain(..first.unwrap_or_default()).collect();
        if let Some(part) = self.parts.first_mut() {
            part.denials += before.iter().map(|part| part.denials).sum::<usize>();
            part.is_clause = true;
        }
        // "Do it, also without me": what denies nothing of its own belongs to what stands before.
        let mut parts: Vec<Part> = Vec::with_capacity(self.parts.len());
        for part in self.parts.drain(..) {
            let is_bare = !part.says_something() && part.without.is_some();
            match parts.last_mut().filter(|_| is_bare) {
                Some(before) => before.denials += part.denials,
                None => parts.push(part),
            }
        }
        self.parts = parts;
        let mut before = 0;
        for (at, part) in self.parts.iter_mut().enumerate() {
            if at > 0 && part.has_else && before % 2 == 0 {
                part.denials -= part.denials % 2;
            }
            before += part.denials;
        }
    }
}

/// Whether a word stands between what is preferred and what is not; `names` tells whether something was preferred, and
/// named. Who prefers "to" do something compares nothing.
fn compares(names: Option<bool>, word: &str) -> bool {
    names.is_some() && THAN.contains(&word) || names == Some(true) && TO.contains(&word)
}
