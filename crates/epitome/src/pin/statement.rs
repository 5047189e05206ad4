//! Rules that are stated, not commanded: "The report can be two pages at most", "Deadline: Friday".

use super::class::Class;
use super::clauses::Hit;
use super::grammar;
use super::languages::Tongue;
use super::standing::Reader;

impl Reader<'_> {
    /// Whether it states a rule.
    pub(super) fn states(&self) -> bool {
        self.is_wish()
            || self.is_bound()
            || self.is_about_all()
            || self.ought()
            || self.closes()
            || self.limits()
    }

    pub(super) fn is_wish(&self) -> bool {
        self.hits(Class::Soft).any(|soft| {
            let subject = self.subject(soft.at);
            let tells = subject != soft.at
                && (self.is(subject, Class::First)
                    || self.is_pronoun(subject) && self.is_tale_without_subject());
            let says_something = self.is(subject, Class::Every) || !self.is(soft.at, Class::Mild);
            !tells && says_something && self.hits(Class::Scope).any(|scope| scope.at != soft.at)
        })
    }

    pub(super) fn closes(&self) -> bool {
        let tells = [Class::First, Class::Pronoun, Class::Plural, Class::Article]
            .into_iter()
            .any(|class| self.is(self.subject(0), class) || self.is(0, class));
        !tells
            && self
                .hits(Class::Closes)
                .any(|hit| hit.at > 0 && self.sentence.begins(hit.at + hit.length))
    }

    /// "The budget is 300", "Deadline: Friday".
    pub(super) fn limits(&self) -> bool {
        let is_limit = |limit: Hit| {
            let behind = limit.at + limit.length;
            let is_linked = |at: usize| self.is(at, Class::Copula) || self.sentence.begins(at);
            (behind..behind + 5).any(is_linked)
        };
        let has_value = || (0..self.sentence.len()).any(|at| self.sentence.is_number(at));
        self.hits(Class::Limit).any(is_limit)
            && !self.is(self.subject(0), Class::First)
            && (self.has(Class::Date) || has_value())
    }

    /// "Comments should explain why."
    pub(super) fn ought(&self) -> bool {
        self.hits(Class::Ought).any(|hit| {
            let subject = self.subject(hit.at);
            let about_thing = subject != hit.at
                && !self.is_pronoun(subject)
                && !self.is(subject, Class::First)
                && !self.is(subject, Class::Plural);
            about_thing
                && !self.is_tale()
                && !self.has(Class::Anew)
                && (self.tongue != Tongue::English || self.is_of_a_kind(subject, hit.at))
        })
    }

    /// Whether the words before `at` speak of a kind of thing and not of one thing at hand: "comments", "every commit",
    /// "code". What one thing should be is asked for once.
    fn is_of_a_kind(&self, subject: usize, at: usize) -> bool {
        const MASSES: &[&str] = &[
            "code",
            "output",
            "documentation",
            "everything",
            "anything",
            "copy",
            "style",
            "naming",
            "formatting",
            "prose",
            "logging",
            "work",
            "coverage",
            "content",
            "data",
            "communication",
            "feedback",
            "text",
            "english",
            "spelling",
        ];
        let is_kind = |word: &str| {
            let is_plural = word.ends_with('s')
                && !word.ends_with("ss")
                && !matches!(
                    word,
                    "is" | "this" | "its" | "status" | "bus" | "focus" | "alias"
                );
            is_plural || MASSES.contains(&word)
        };
        self.is(subject, Class::Every)
            || self.has(Class::Scope)
            || self.has(Class::Bound)
            || (subject..at).any(|at| is_kind(self.sentence.word(at)))
    }

    fn is_tale_without_subject(&self) -> bool {
        self.has(Class::Tale) || !self.has(Class::Bound)
    }

    /// A plain statement with a bound: "The report can be two pages at most."
    pub(super) fn is_bound(&self) -> bool {
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
    pub(super) fn is_about_all(&self) -> bool {
        let first = self.first();
        self.is(first, Class::Every)
            && self
                .head(first)
                .is_none_or(|head| head.class != Class::Idle)
            && self.sentence.len() > 3
            && !self.is_tale()
            && !self.has(Class::Anew)
    }
}
