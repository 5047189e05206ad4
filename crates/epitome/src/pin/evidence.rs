//! Whether a sentence that somebody typed in English is an instruction in force: what speaks for it and against it,
//! weighed.
//!
//! Requests for once and facts use the words of rules ("make sure it is sorted", "it never worked"), so no single
//! branch of the grammar decides. Points are tenths; in doubt a sentence is a record and no rule. The weights were fitted
//! to labelled sentences; those of phrases are in `languages/english_weights.txt`.

use super::class::Class;
use super::grammar;
use super::languages::Tongue;
use super::reading::Strength;
use super::standing::Reader;

/// What counts before anything is said: most sentences are no rules.
const START: i32 = -28;
/// The points from which a sentence is in force: less are needed where it says itself that it stands, more where no
/// branch of the grammar takes it for a rule.
const EXPLICIT: i32 = -10;
const PLAIN: i32 = 3;
const SILENT: i32 = 6;

type Check = fn(&Reader<'_>) -> bool;

/// What the grammar says.
const READINGS: &[(Check, i32)] = &[
    (|it| it.forbids(), 21),
    (|it| it.forms_prohibition(), 2),
    (|it| it.has_duty(), 13),
    (|it| it.opens(), 16),
    (|it| it.is_scoped(), 12),
    (|it| it.is_wish(), 2),
    (|it| it.is_bound(), 8),
    (|it| it.is_about_all(), 8),
    (|it| it.closes(), 18),
    (|it| it.limits(), 18),
    (|it| it.is_for_now(), -14),
    (|it| it.is_tale(), -1),
    (|it| it.has_past(), -5),
    (|it| it.asks(), -1),
    (|it| it.has_number(), 1),
    (|it| it.has_limit(), 11),
    (|it| it.is_short(), -5),
    (|it| it.is_long(), -8),
    (|it| it.is_very_long(), 2),
    (|it| it.has_clause(), 2),
    (|it| it.has_clauses(), 3),
    (|it| it.begins_with_plural(), 8),
    (|it| it.describes_thing(), 6),
    (|it| it.describes_kind(), 4),
    (|it| it.names_thing(), -10),
    (|it| it.names_new_thing(), -5),
    (|it| it.names_kind(), 4),
];
/// Classes of which a phrase stands anywhere.
const ANYWHERE: &[(Class, i32)] = &[
    (Class::Stands, 20),
    (Class::Scope, 7),
    (Class::Bound, 4),
    (Class::Need, -4),
    (Class::Soft, 6),
    (Class::Duty, 12),
    (Class::Ought, -7),
    (Class::You, 7),
    (Class::Anew, -1),
    (Class::Tale, -8),
    (Class::Now, -8),
    (Class::Every, 3),
    (Class::Frequency, -7),
    (Class::Norm, 2),
    (Class::Closes, -5),
    (Class::Permits, 2),
    (Class::Lasts, 10),
    (Class::Once, -12),
    (Class::Owns, 20),
    (Class::Consults, 6),
    (Class::Stakes, 17),
    (Class::Reports, -4),
    (Class::Finishes, 1),
    (Class::Idle, -3),
];
/// Classes of the word that the sentence begins with, behind what may stand before a rule.
const FIRST: &[(Class, i32)] = &[
    (Class::First, -3),
    (Class::Pronoun, -3),
    (Class::Plural, 2),
    (Class::Article, -2),
    (Class::Every, 7),
];
/// What the first clause is.
const FIRST_HEAD: &[(Class, i32)] = &[(Class::Forbid, 19), (Class::Opens, 20)];
/// What later clauses are.
const LATER_HEADS: &[(Class, i32)] = &[
    (Class::Forbid, -2),
    (Class::Idle, -3),
    (Class::Opens, -12),
    (Class::Verb, -7),
];

impl Reader<'_> {
    /// How plainly a sentence that somebody typed says that it is in force; `strength` is how it reads by itself.
    pub(super) fn in_force(&self, strength: Option<Strength>) -> Option<Strength> {
        if self.tongue != Tongue::English {
            return strength;
        }
        let needed = match strength {
            Some(Strength::Explicit) => EXPLICIT,
            Some(Strength::Plain) => PLAIN,
            None => SILENT,
        };
        (self.points() >= needed).then_some(strength.unwrap_or(Strength::Plain))
    }

    pub(super) fn points(&self) -> i32 {
        let first = self.first();
        let phrases = self.sentence.weights().map(|(at, weight)| {
            let place = match at {
                _ if at == first => weight.first,
                0 => 0,
                _ if self.sentence.begins(at) => weight.later,
                _ => 0,
            };
            i32::from(weight.anywhere) + i32::from(place)
        });
        let readings = READINGS.iter().filter(|(check, _)| check(self));
        let anywhere = ANYWHERE.iter().filter(|(class, _)| self.has(*class));
        let begins = FIRST.iter().filter(|(class, _)| self.is(first, *class));
        let head = self.head(first).map(|head| head.class);
        let heads = FIRST_HEAD.iter().filter(|(class, _)| head == Some(*class));
        let is_later = |class: Class| self.heads().skip(1).any(|head| head.class == class);
        let later = LATER_HEADS.iter().filter(|(class, _)| is_later(*class));
        let classes = anywhere.chain(begins).chain(heads).chain(later);
        START
            + phrases.sum::<i32>()
            + readings.map(|(_, points)| points).sum::<i32>()
            + classes.map(|(_, points)| points).sum::<i32>()
    }

    fn forms_prohibition(&self) -> bool {
        grammar::forbids(self.sentence, self.tongue, &self.starts)
    }

    fn has_past(&self) -> bool {
        (0..self.sentence.len()).any(|at| grammar::is_past(self.sentence, self.tongue, at))
    }

    fn has_number(&self) -> bool {
        (0..self.sentence.len()).any(|at| self.sentence.is_number(at))
    }

    fn has_limit(&self) -> bool {
        self.has(Class::Limit) && self.has_number()
    }

    fn is_short(&self) -> bool {
        self.sentence.len() < 5
    }

    fn is_long(&self) -> bool {
        self.sentence.len() > 20
    }

    fn is_very_long(&self) -> bool {
        self.sentence.len() > 32
    }

    fn has_clause(&self) -> bool {
        self.clauses() > 0
    }

    fn has_clauses(&self) -> bool {
        self.clauses() > 1
    }

    fn clauses(&self) -> usize {
        (1..self.sentence.len())
            .filter(|at| self.sentence.begins(*at))
            .count()
    }

    /// "Comments …": all of a kind, and nobody is told to do anything.
    fn begins_with_plural(&self) -> bool {
        let first = self.first();
        is_plural(self.sentence.word(first))
            && self.head(first).is_none()
            && !self.is(first, Class::Pronoun)
    }

    /// "The button is …"
    fn describes_thing(&self) -> bool {
        self.described() == Some(Subject::Thing)
    }

    /// "Buttons are …"
    fn describes_kind(&self) -> bool {
        self.described() == Some(Subject::Kind)
    }

    /// What the words before the first verb speak of, where that verb describes and does not oblige.
    fn described(&self) -> Option<Subject> {
        let verb = (0..self.sentence.len()).find(|at| is_verb(self.sentence.word(*at)))?;
        if obliges(self.sentence.word(verb)) {
            return None;
        }
        let is_plural = self.sentence.word(verb.checked_sub(1)?).ends_with('s');
        match self.sentence.word(0) {
            "the" | "this" | "that" | "it" => Some(Subject::Thing),
            "these" | "its" | "his" => None,
            _ => is_plural.then_some(Subject::Kind),
        }
    }

    /// "Use the …", "change this": behind the first word stands something at hand.
    fn names_thing(&self) -> bool {
        matches!(
            self.sentence.word(self.first() + 1),
            "the" | "this" | "that" | "these" | "those" | "it" | "them"
        )
    }

    /// "Write a …", "show me …".
    fn names_new_thing(&self) -> bool {
        matches!(
            self.sentence.word(self.first() + 1),
            "a" | "an" | "me" | "another" | "some"
        )
    }

    /// "Write tests …"
    fn names_kind(&self) -> bool {
        is_plural(self.sentence.word(self.first() + 1))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// One at hand.
    Thing,
    /// All of a kind.
    Kind,
}

fn obliges(word: &str) -> bool {
    matches!(
        word,
        "should" | "must" | "may" | "can" | "shall" | "has" | "have" | "needs" | "need"
    )
}

/// A verb of state or duty.
fn is_verb(word: &str) -> bool {
    let describes = matches!(
        word,
        "is" | "are" | "get" | "gets" | "goes" | "go" | "come" | "comes"
    );
    describes || obliges(word)
}

fn is_plural(word: &str) -> bool {
    word.ends_with('s')
        && word.len() > 3
        && !word.ends_with("ss")
        && !matches!(word, "this" | "always" | "its")
}
