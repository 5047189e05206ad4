//! Which sentence is a standing instruction, as one language reads it.

use std::cell::OnceCell;

use super::class::Class;
use super::clauses::{Hit, Sentence};
use super::grammar;
use super::languages::Tongue;
use super::reading::Strength;
use super::state::Change;

/// Deeds that are done once, however much they are done to: "check every issue".
const LOOKS: &[&str] = &[
    "check",
    "review",
    "list",
    "find",
    "look",
    "read",
    "rank",
    "go",
    "see",
    "show",
    "count",
    "compare",
    "summarize",
    "summarise",
    "scan",
    "search",
    "inspect",
    "verify",
    "investigate",
    "analyze",
    "analyse",
    "explain",
    "describe",
];
/// Words that say how many.
const QUANTITIES: &[&str] = &["every", "each", "all", "both", "any"];

/// A sentence as one language reads it.
pub(super) struct Reader<'a> {
    pub(super) sentence: &'a Sentence,
    pub(super) tongue: Tongue,
    /// Where clauses begin, behind the words that may stand before a rule.
    pub(super) starts: Vec<usize>,
    /// What they are.
    heads: Vec<Hit>,
    rule: OnceCell<Option<Strength>>,
    has_past: OnceCell<bool>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sentence: &'a Sentence, tongue: Tongue) -> Self {
        let mut reader = Self {
            sentence,
            tongue,
            starts: Vec::new(),
            heads: Vec::new(),
            rule: OnceCell::new(),
            has_past: OnceCell::new(),
        };
        for at in 0..sentence.len() {
            let joined = at > 0 && sentence.is(at - 1, tongue, Class::Joint);
            if at == 0 || joined || sentence.begins(at) {
                let start = reader.behind_leads(at);
                if reader.starts.last() != Some(&start) {
                    reader.starts.push(start);
                    reader.heads.extend(reader.head(start));
                }
            }
        }
        reader
    }

    /// "Can you please never …?" is a rule, other questions are none.
    pub(super) fn polite_rule(&self) -> Option<Strength> {
        let stands = self.has(Class::Stands)
            || self.has(Class::Frequency)
            || self
                .hits(Class::Forbid)
                .any(|hit| self.forbids_behind_request(hit));
        let asks = self.hits(Class::Request).any(|hit| hit.at == 0);
        (asks && stands).then_some(Strength::Plain)
    }

    /// Whether it asks for something politely: "can you …", with or without a question mark.
    pub(super) fn asks(&self) -> bool {
        let mut requests = self.hits(Class::Request);
        self.tongue == Tongue::English
            && requests.any(|hit| hit.at == 0 && self.sentence.word(0) != "please")
    }

    /// "Can you please not …", "could you do it without changing the dates", but not "can you check why it does not work".
    fn forbids_behind_request(&self, hit: Hit) -> bool {
        const NEAR_WORDS: usize = 4;
        match self.sentence.word(hit.at) {
            "without" => self.sentence.word(hit.at + 1).ends_with("ing"),
            _ => (2..=NEAR_WORDS).contains(&hit.at),
        }
    }

    /// What it may do to earlier sentences.
    pub(super) fn change(&self, is_rule: bool) -> Option<Change> {
        let permits = self
            .starts
            .iter()
            .any(|start| self.is(*start, Class::Permits))
            && self.has(Class::Anew);
        if permits || self.has(Class::Revokes) {
            return Some(Change::Revokes);
        }
        if self.has(Class::Finishes) {
            return Some(Change::Finishes);
        }
        // "The budget is 400 now", but not "from now on".
        let last = self.sentence.len().saturating_sub(1);
        let ends_anew = is_rule && self.is(last, Class::Anew);
        (is_rule && (ends_anew || self.has(Class::Replaces))).then_some(Change::Replaces)
    }

    /// How plainly it says that it is a rule.
    pub(super) fn rule(&self) -> Option<Strength> {
        *self.rule.get_or_init(|| self.read_rule())
    }

    fn read_rule(&self) -> Option<Strength> {
        if self.is_for_now() {
            return None;
        }
        if self.has(Class::Stands)
            || self.forbids()
            || self.has_duty()
            || self.has_frequency()
            || grammar::forbids(self.sentence, self.tongue, &self.starts)
        {
            return Some(Strength::Explicit);
        }
        let is_plain = self.opens()
            || self.is_scoped()
            || self.states()
            || grammar::instructs(self.sentence, self.tongue);
        is_plain.then_some(Strength::Plain)
    }

    /// "Let's drop the quotes", "I think we should ask": about the work at hand, and nothing says that it stands.
    pub(super) fn is_for_now(&self) -> bool {
        let is_firm = |hit: Hit| {
            let word = self.sentence.word(hit.at);
            match hit.class {
                Class::Forbid => {
                    matches!(word, "never" | "don't" | "dont" | "do" | "stop" | "avoid")
                }
                Class::Opens => word == "let's" || word == "i",
                _ => false,
            }
        };
        let Some(now) = self.hits(Class::Now).map(|hit| hit.at).min() else {
            return false;
        };
        // "We can live with warnings, but errors are unacceptable."
        let has_other_duty = self
            .hits(Class::Duty)
            .any(|hit| self.subject(hit.at) > now && !self.is(self.subject(hit.at), Class::First));
        !has_other_duty
            && !self.has(Class::Stands)
            && !self.has_frequency()
            && !self.heads().any(is_firm)
    }

    pub(super) fn hits(&self, class: Class) -> impl Iterator<Item = Hit> {
        let hits = self
            .sentence
            .may_have(class)
            .then(|| self.sentence.hits(self.tongue));
        hits.into_iter()
            .flatten()
            .filter(move |hit| hit.class == class)
    }

    pub(super) fn has(&self, class: Class) -> bool {
        self.sentence.has(self.tongue, class)
    }

    pub(super) fn is(&self, at: usize, class: Class) -> bool {
        self.sentence.is(at, self.tongue, class)
    }

    /// The longest phrase at `at` that says what a clause is; of equals the one that says least.
    pub(super) fn head(&self, at: usize) -> Option<Hit> {
        let order = |class: Class| match class {
            Class::Idle => Some(4),
            Class::Forbid => Some(3),
            Class::Opens => Some(2),
            Class::Verb => Some(1),
            Class::Lead => Some(0),
            _ => None,
        };
        self.sentence
            .hits_at(at, self.tongue)
            .filter_map(|hit| order(hit.class).map(|order| (hit.length, order, hit)))
            .max_by_key(|(length, order, _)| (*length, *order))
            .map(|(_, _, hit)| hit)
    }

    fn behind_leads(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(hit) = self.head(at).filter(|hit| hit.class == Class::Lead) {
            at += hit.length;
        }
        at
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = Hit> {
        self.heads.iter().copied()
    }

    pub(super) fn forbids(&self) -> bool {
        self.heads().any(|hit| {
            hit.class == Class::Forbid
                && self.sentence.len() > hit.at + hit.length
                && !grammar::tells(self.sentence, self.tongue, hit.at)
                && !self.goes_on_to_tell(hit)
                && !self.tells_of(hit)
                && !self.only_answers(hit)
        })
    }

    /// "No, the other one", "no remove this again": an answer, and a request for once.
    fn only_answers(&self, hit: Hit) -> bool {
        let behind = hit.at + 1;
        self.sentence.word(hit.at) == "no"
            && hit.length == 1
            && (self.sentence.begins(behind)
                || self
                    .head(behind)
                    .is_some_and(|head| head.class == Class::Verb))
    }

    /// "Never thought that this would work."
    fn tells_of(&self, hit: Hit) -> bool {
        let behind = hit.at + hit.length;
        self.is(hit.at, Class::Frequency)
            && (self.is(behind, Class::Tale)
                || grammar::is_past(self.sentence, self.tongue, behind))
    }

    /// "One of them hangs and never comes back": what is joined to a tale belongs to it.
    fn goes_on_to_tell(&self, hit: Hit) -> bool {
        let is_joined =
            hit.at > 0 && !self.sentence.begins(hit.at) && self.is(hit.at, Class::Frequency);
        let first = self.first();
        is_joined
            && hit.at != first
            && !self.head(first).is_some_and(is_command)
            && !self.has(Class::Duty)
    }

    /// The word that the sentence begins with, behind those that may stand before a rule.
    pub(super) fn first(&self) -> usize {
        self.starts.first().copied().unwrap_or(0)
    }

    pub(super) fn opens(&self) -> bool {
        self.heads().any(|hit| {
            hit.class == Class::Opens
                && self.sentence.len() > hit.at + hit.length
                && !grammar::is_for_once(self.sentence, self.tongue, hit.at)
                && !grammar::tells(self.sentence, self.tongue, hit.at)
        })
    }

    /// The word that a clause around `at` begins with.
    pub(super) fn subject(&self, at: usize) -> usize {
        let before = self.starts.iter().rev().find(|start| **start <= at);
        before.copied().unwrap_or(0)
    }

    pub(super) fn has_duty(&self) -> bool {
        self.hits(Class::Duty).any(|hit| {
            let subject = self.subject(hit.at);
            let behind = hit.at + hit.length;
            let is_guess = self.is(behind, Class::Guess);
            let speaks_to_you =
                self.is(hit.at, Class::You) || hit.at > 0 && self.is(hit.at - 1, Class::You);
            if speaks_to_you {
                return !self.is(behind, Class::Seen);
            }
            if hit.at == subject {
                return !is_guess || self.has(Class::Scope);
            }
            if self.is(subject, Class::First) {
                return false;
            }
            let is_plural = self.is(subject, Class::Plural);
            if is_plural && self.is(hit.at, Class::Need) {
                return self.has(Class::Scope);
            }
            let about_something = is_plural || self.is_pronoun(subject);
            let is_tale = is_guess && !self.has(Class::Bound) || self.is(hit.at, Class::Steady);
            !(about_something && is_tale) && self.sentence.word(behind + 1) != "been"
        })
    }

    pub(super) fn has_frequency(&self) -> bool {
        self.hits(Class::Frequency).any(|hit| {
            let subject = self.subject(hit.at);
            if subject == hit.at {
                return false;
            }
            let commands = self.head(subject).is_some_and(is_command);
            let behind = hit.at + hit.length;
            // "If you always …": whoever speaks, it is about what is to be done.
            let asks_you = (1..=2).any(|back| hit.at >= back && self.is(hit.at - back, Class::You));
            let is_norm = !self.is_tale()
                && !self.begins_with(&[Class::Article])
                && self.is(behind, Class::Norm);
            commands || asks_you || is_norm
        })
    }

    /// "This" alone, not "this conversation".
    pub(super) fn is_pronoun(&self, at: usize) -> bool {
        let points = matches!(self.sentence.word(at), "this" | "that" | "these" | "those");
        self.is(at, Class::Pronoun) && (!points || self.is(at + 1, Class::Points))
    }

    pub(super) fn begins_with(&self, classes: &[Class]) -> bool {
        let first = self.first();
        classes
            .iter()
            .any(|class| self.is(first, *class) || self.is(0, *class))
    }

    /// Whether it tells what happened, what is wrong or what somebody thinks.
    pub(super) fn is_tale(&self) -> bool {
        self.begins_with(&[Class::First]) || self.reports()
    }

    /// Whether a clause of it begins with a command.
    pub(super) fn commands(&self) -> bool {
        self.heads().any(is_command)
    }

    /// Whether it tells what happened or what is wrong.
    pub(super) fn reports(&self) -> bool {
        self.is_pronoun(self.first()) || self.has(Class::Tale) || self.has_past()
    }

    /// Whether any word says by its form what happened.
    pub(super) fn has_past(&self) -> bool {
        let is_past = |at| grammar::is_past(self.sentence, self.tongue, at);
        *self
            .has_past
            .get_or_init(|| (0..self.sentence.len()).any(is_past))
    }

    pub(super) fn is_scoped(&self) -> bool {
        let commands = self.heads().any(|head| {
            let first = self.first();
            let looks = LOOKS.contains(&self.sentence.word(head.at));
            let counts = |scope: Hit| QUANTITIES.contains(&self.sentence.word(scope.at));
            let is_scope =
                |scope: Hit| (scope.at > head.at || scope.at == first) && !(looks && counts(scope));
            head.class == Class::Verb
                && (self.hits(Class::Scope).any(is_scope)
                    || grammar::is_negated(self.sentence, self.tongue, head.at))
        });
        commands || self.begins_with_scope()
    }

    /// "Before every commit run the tests", in languages that put no comma there.
    fn begins_with_scope(&self) -> bool {
        if self.tongue == Tongue::English {
            return false;
        }
        let first = self.first();
        let scope = self
            .hits(Class::Scope)
            .filter(|hit| hit.at == first)
            .map(|hit| hit.at + hit.length)
            .max();
        scope.is_some_and(|end| {
            self.hits(Class::Verb).any(|verb| {
                let before = verb.at.saturating_sub(1);
                let tells = [Class::First, Class::Plural, Class::Pronoun, Class::Article]
                    .into_iter()
                    .any(|class| self.is(before, class));
                verb.at >= end && !tells
            })
        })
    }
}

const fn is_command(head: Hit) -> bool {
    matches!(head.class, Class::Verb | Class::Opens | Class::Forbid)
}
