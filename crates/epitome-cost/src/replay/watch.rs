//! What became of each compaction that lay ready, request by request.

use epitome::{Reading, ReadyFacts};

use super::Why;
use crate::timing::{Phase, Wait};

/// Looks on.
#[derive(Debug, Default)]
pub(super) struct Watch {
    done: Vec<Phase>,
    now: Option<Phase>,
    /// How large the last request was.
    last_tokens: u64,
    /// What the compaction took off when it was shown, and what of the request it left was not cached.
    shown: Option<Shown>,
}

#[derive(Clone, Copy, Debug)]
struct Shown {
    excess_tokens: u64,
    again_tokens: u64,
    hard_tokens: u64,
}

impl Watch {
    /// A compaction lies ready from the next request on.
    pub(super) fn begin(&mut self, reading: &Reading) {
        self.end();
        self.now = Some(Phase::default());
        self.last_tokens = reading.size_tokens;
    }

    /// A request goes out without it.
    pub(super) fn waits(&mut self, reading: &Reading, facts: &ReadyFacts) {
        let wait = self.wait(reading, facts);
        if let Some(phase) = &mut self.now {
            phase.waits.push(wait);
        }
    }

    /// A request shows it. What it would have been without is known from here on: larger by as much.
    pub(super) fn shown(&mut self, reading: &Reading, facts: &ReadyFacts, why: Why) {
        let wait = self.wait(reading, facts);
        let Some(phase) = &mut self.now else {
            return;
        };
        phase.shown = Some(phase.waits.len());
        phase.waits.push(wait);
        if matches!(why, Why::Must(_)) {
            phase.is_forced = true;
            self.end();
            return;
        }
        self.shown = Some(Shown {
            excess_tokens: wait.before_tokens.saturating_sub(wait.after_tokens),
            again_tokens: wait.again_tokens + wait.new_tokens,
            hard_tokens: reading.lines.map_or(u64::MAX, |lines| lines.hard_tokens),
        });
        self.last_tokens = wait.after_tokens;
    }

    /// A request goes out where nothing lies ready.
    pub(super) fn goes_on(&mut self, reading: &Reading) {
        let (Some(phase), Some(shown)) = (&mut self.now, &mut self.shown) else {
            self.last_tokens = reading.size_tokens;
            return;
        };
        let after_tokens = reading.size_tokens;
        let before_tokens = after_tokens + shown.excess_tokens;
        let new_tokens = after_tokens.saturating_sub(self.last_tokens);
        phase.waits.push(Wait {
            before_tokens,
            after_tokens,
            again_tokens: shown.again_tokens,
            new_tokens,
        });
        shown.again_tokens += new_tokens;
        self.last_tokens = after_tokens;
        if before_tokens > shown.hard_tokens {
            phase.is_forced = true;
            self.end();
        }
    }

    /// Whatever lay ready is of no interest any more.
    pub(super) fn end(&mut self) {
        self.shown = None;
        let now = self.now.take();
        self.done
            .extend(now.filter(|phase| !phase.waits.is_empty()));
    }

    pub(super) fn finish(mut self) -> Vec<Phase> {
        self.end();
        self.done
    }

    fn wait(&mut self, reading: &Reading, facts: &ReadyFacts) -> Wait {
        let before_tokens = reading.size_tokens;
        let after_tokens = reading.real(facts.after_tokens);
        let new_tokens = before_tokens.saturating_sub(self.last_tokens);
        let rewritten = after_tokens.saturating_sub(reading.real(facts.kept_tokens));
        self.last_tokens = before_tokens;
        Wait {
            before_tokens,
            after_tokens,
            again_tokens: rewritten.saturating_sub(new_tokens),
            new_tokens,
        }
    }
}
