//! Caches that go by marks.

use super::{Borders, LOOK_BACK_BLOCKS, MINUTE_MS, ProviderCache, Refused, idle_ms};
use crate::request::{Lifetime, Prefix};

/// How many marks of a request OpenAI writes besides the one that it sets itself.
const OWN_MARKS: usize = 3;
/// How many of the latest marks of a conversation OpenAI looks at for something cached.
const MATCHED_MARKS: usize = 80;
/// OpenAI names this as the least time that what is marked is kept; more is not promised.
const MARKED_IDLE_MS: u64 = 30 * MINUTE_MS;

impl ProviderCache {
    /// As Anthropic does it: what is cached ends at a mark of an earlier request, and is found from a mark of this one
    /// by looking back over some blocks. Of all that is found the longest is read; the rest up to the last mark is
    /// written.
    pub(super) fn by_marks(&mut self, prefixes: &[Prefix], at_ms: u64) -> Result<Borders, Refused> {
        let marks: Vec<(usize, Lifetime)> = prefixes
            .iter()
            .enumerate()
            .filter_map(|(at, prefix)| Some((at, prefix.mark?)))
            .collect();
        let allowed = self.rule.marks();
        if marks.len() > allowed {
            let marks = marks.len();
            return Err(Refused::TooManyMarks { marks, allowed });
        }
        let lifetimes: Vec<Lifetime> = marks.iter().map(|(_, lifetime)| *lifetime).collect();
        if lifetimes
            .windows(2)
            .any(|pair| pair == [Lifetime::FiveMinutes, Lifetime::Hour])
        {
            return Err(Refused::HourBehindMinutes);
        }
        let found = marks.iter().filter_map(|(mark, _)| {
            let seen = prefixes.iter().take(mark + 1).enumerate();
            let mut seen = seen.skip((mark + 1).saturating_sub(LOOK_BACK_BLOCKS));
            seen.rfind(|(_, prefix)| self.is_alive(prefix, at_ms))
        });
        let found = found.max_by_key(|(at, _)| *at);
        let mut borders = Borders {
            read: found.map_or(0, |(_, prefix)| prefix.tokens),
            ..Borders::default()
        };
        let first_new = found.map_or(0, |(at, _)| at + 1);
        if let Some(last_read) = first_new.checked_sub(1) {
            self.use_up_to(prefixes, last_read, at_ms);
        }
        for (at, lifetime) in marks {
            let Some(prefix) = prefixes.get(at).filter(|_| at >= first_new) else {
                continue;
            };
            if prefix.tokens < self.minimum_tokens {
                continue;
            }
            self.hold(prefix, at_ms, idle_ms(lifetime));
            match lifetime {
                Lifetime::FiveMinutes => borders.minutes = prefix.tokens,
                Lifetime::Hour => borders.hour = prefix.tokens,
            }
        }
        Ok(borders)
    }

    /// As OpenAI does it where writing is paid: one mark stands at the end by itself, and what was cached is found
    /// wherever an earlier mark stood, however far back.
    pub(super) fn by_marks_and_end(&mut self, prefixes: &[Prefix], at_ms: u64) -> Borders {
        let known = prefixes.iter().enumerate().rev();
        let found = known
            .filter(|(_, prefix)| self.held.contains_key(&prefix.key))
            .take(MATCHED_MARKS)
            .find(|(_, prefix)| self.is_alive(prefix, at_ms))
            .map(|(at, prefix)| (at, prefix.tokens));
        let first_new = found.map_or(0, |(at, _)| at + 1);
        if let Some((at, _)) = found {
            self.use_up_to(prefixes, at, at_ms);
        }
        let marked = prefixes.iter().enumerate().rev().skip(1);
        let marked = marked.filter(|(_, prefix)| prefix.mark.is_some());
        let end = prefixes.len().checked_sub(1);
        let written = marked.take(OWN_MARKS).map(|(at, _)| at).chain(end);
        let mut borders = Borders {
            read: found.map_or(0, |(_, tokens)| tokens),
            ..Borders::default()
        };
        let written: Vec<usize> = written.filter(|at| *at >= first_new).collect();
        for prefix in written.into_iter().filter_map(|at| prefixes.get(at)) {
            if prefix.tokens >= self.minimum_tokens {
                self.hold(prefix, at_ms, MARKED_IDLE_MS);
                borders.minutes = borders.minutes.max(prefix.tokens);
            }
        }
        borders
    }
}
