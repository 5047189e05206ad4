//! Which sentence is a standing instruction, as one language reads it.

use super::class::Class;
use super::clauses::{Hit, Sentence};
use super::grammar;
use super::languages::Tongue;
use super::reading::Strength;
use super::state::Change;

/// A sentence as one language reads it.
pub(super) struct Reader<'a> {
    sentence: &'a Sentence,
    tongue: Tongue,
    /// Where clauses begin, behind the words that may stand before a rule.
    starts: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sentence: &'a Sentence, tongue: Tongue) -> Self {
        let mut reader = Self {
            sentence,
            tongue,
            starts: Vec::new(),
        };
        for at in 0..sentence.len() {
            let joined = at > 0 && sentence.is(at - 1, tongue, Class::Joint);
            if at == 0 || joined || sentence.begins(at) {
                let start = reader.behind_leads(at);
                if reader.starts.last() != Some(&start) {
                    reader.starts.push(start);
                }
            }
        }
        reader
    }

    /// "Can you please never …?" is a rule, other questions are none.
    pub(super) fn polite_rule(&self) -> Option<Strength> {
        let asks = self.hits(Class::Request).any(|hit| hit.at == 0);
        let stands = self.has(Class::Stands)
            || self.has(Class::Frequency)
            || self.hits(Class::Forbid).any(|hit| hit.at > 1);
        (asks && stands).then_some(Strength::Plain)
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

    pub(super) fn rule(&self) -> Option<Strength> {
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
            || self.closes()
            || self.limits()
            || grammar::instructs(self.sentence, self.tongue);
        is_plain.then_some(Strength::Plain)
    }

    fn hits(&self, class: Class) -> impl Iterator<Item = Hit> {
        let hits = self.sentence.hits(self.tongue);
        hits.filter(move |hit| hit.class == class)
    }

    fn has(&self, class: Class) -> bool {
        self.sentence.has(self.tongue, class)
    }

    fn is(&self, at: usize, class: Class) -> bool {
        self.sentence.is(at, self.tongue, class)
    }

    /// The longest phrase at `at` that says what a clause is; of equals the one that says least.
    fn head(&self, at: usize) -> Option<Hit> {
        let order = |class: Class| match class {
            Class::Idle => Some(4),
            Class::Forbid => Some(3),
            Class::Opens => Some(2),
            Class::Verb => Some(1),
            Class::Lead => Some(0),
            _ => None,
        };
        self.sentence
            .hits(self.tongue)
            .filter(|hit| hit.at == at)
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

    fn heads(&self) -> impl Iterator<Item = Hit> {
        self.starts.iter().filter_map(|start| self.head(*start))
    }

    fn forbids(&self) -> bool {
        self.heads().any(|hit| {
            hit.class == Class::Forbid
                && self.sentence.len() > hit.at + hit.length
                && !grammar::tells(self.sentence, self.tongue, hit.at)
                && !self.goes_on_to_tell(hit)
                && !self.tells_of(hit)
        })
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
        let first = self.starts.first().copied().unwrap_or(0);
        is_joined
            && hit.at != first
            && !self.head(first).is_some_and(is_command)
            && !self.has(Class::Duty)
    }

    fn opens(&self) -> bool {
        self.heads().any(|hit| {
            hit.class == Class::Opens && !grammar::is_for_once(self.sentence, self.tongue, hit.at)
        })
    }

    /// The word that a clause around `at` begins with.
    fn subject(&self, at: usize) -> usize {
        let before = self.starts.iter().rev().find(|start| **start <= at);
        before.copied().unwrap_or(0)
    }

    fn has_duty(&self) -> bool {
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
            !(about_something && is_guess && !self.has(Class::Bound))
                && !(about_something && self.is(hit.at, Class::Steady))
                && self.sentence.word(behind + 1) != "been"
        })
    }

    fn has_frequency(&self) -> bool {
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
    fn is_pronoun(&self, at: usize) -> bool {
        let points = matches!(self.sentence.word(at), "this" | "that" | "these" | "those");
        self.is(at, Class::Pronoun) && (!points || self.is(at + 1, Class::Points))
    }

    /// "Comments should explain why."
    fn ought(&self) -> bool {
        self.hits(Class::Ought).any(|hit| {
            let subject = self.subject(hit.at);
            let about_thing = subject != hit.at
                && !self.is_pronoun(subject)
                && !self.is(subject, Class::First)
                && !self.is(subject, Class::Plural);
            about_thing && !self.is_tale() && !self.has(Class::Anew)
        })
    }

    fn begins_with(&self, classes: &[Class]) -> bool {
        let first = self.starts.first().copied().unwrap_or(0);
        classes
            .iter()
            .any(|class| self.is(first, *class) || self.is(0, *class))
    }

    /// Whether it tells what happened, what is wrong or what somebody thinks.
    fn is_tale(&self) -> bool {
        let first = self.starts.first().copied().unwrap_or(0);
        self.begins_with(&[Class::First])
            || self.is_pronoun(first)
            || self.has(Class::Tale)
            || (0..self.sentence.len()).any(|at| grammar::is_past(self.sentence, self.tongue, at))
    }

    fn is_tale_without_subject(&self) -> bool {
        self.has(Class::Tale) || !self.has(Class::Bound)
    }

    /// A plain statement with a bound: "The report can be two pages at most."
    fn is_bound(&self) -> bool {
        let bounds = |hit: Hit| {
            let behind = hit.at + hit.length;
            let acts = self.is(hit.at, Class::Frequency)
                && grammar::is_finite(self.sentence.word(behind), self.tongue)
                && !self.is(behind, Class::Norm);
            !acts
        };
        (self.hits(Class::Bound).any(bounds) || self.sets_aside())
            && !self.is_tale()
            && self.heads().all(|head| head.class != Class::Idle)
            && !self.is_plain_request()
    }

    /// "…, not in the code": a negation behind a comma.
    fn sets_aside(&self) -> bool {
        (1..self.sentence.len())
            .any(|at| self.sentence.begins(at) && grammar::is_negation(self.sentence.word(at)))
    }

    /// A request for once, in which a bound says nothing more.
    fn is_plain_request(&self) -> bool {
        self.heads().any(|head| head.class == Class::Verb)
    }

    /// "All times are in UTC."
    fn is_about_all(&self) -> bool {
        let first = self.starts.first().copied().unwrap_or(0);
        self.is(first, Class::Every)
            && self
                .head(first)
                .is_none_or(|head| head.class != Class::Idle)
            && self.sentence.len() > 3
            && !self.is_tale()
            && !self.has(Class::Anew)
    }

    fn is_scoped(&self) -> bool {
        let commands = self.heads().any(|head| {
            let first = self.starts.first().copied().unwrap_or(0);
            head.class == Class::Verb
                && self
                    .hits(Class::Scope)
                    .any(|scope| scope.at > head.at || scope.at == first)
        });
        commands
            || self.begins_with_scope()
            || self.is_wish()
            || self.is_bound()
            || self.is_about_all()
            || self.ought()
    }

    /// "Before every commit run the tests", in languages that put no comma there.
    fn begins_with_scope(&self) -> bool {
        if self.tongue == Tongue::English {
            return false;
        }
        let first = self.starts.first().copied().unwrap_or(0);
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

    fn is_wish(&self) -> bool {
        self.hits(Class::Soft).any(|soft| {
            let subject = self.subject(soft.at);
            let tells = subject != soft.at
                && (self.is(subject, Class::First)
                    || self.is_pronoun(subject) && self.is_tale_without_subject());
            let says_something = self.is(subject, Class::Every) || !self.is(soft.at, Class::Mild);
            !tells && says_something && self.hits(Class::Scope).any(|scope| scope.at != soft.at)
        })
    }

    fn closes(&self) -> bool {
        let tells = [Class::First, Class::Pronoun, Class::Plural, Class::Article]
            .into_iter()
            .any(|class| self.is(self.subject(0), class) || self.is(0, class));
        !tells
            && self
                .hits(Class::Closes)
                .any(|hit| hit.at > 0 && self.sentence.begins(hit.at + hit.length))
    }

    /// "The budget is 300", "Deadline: Friday".
    fn limits(&self) -> bool {
        let tells = self.is(self.subject(0), Class::First);
        let has_value =
            (0..self.sentence.len()).any(|at| self.sentence.is_number(at)) || self.has(Class::Date);
        !tells
            && has_value
            && self.hits(Class::Limit).any(|limit| {
                let behind = limit.at + limit.length;
                let is_linked = |at: usize| self.is(at, Class::Copula) || self.sentence.begins(at);
                (behind..behind + 5).any(is_linked)
            })
    }
}

const fn is_command(head: Hit) -> bool {
    matches!(head.class, Class::Verb | Class::Opens | Class::Forbid)
}
