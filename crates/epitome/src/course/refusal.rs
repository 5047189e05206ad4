//! The provider said that a request is too long.

use super::{Course, Sight};
use crate::gauge::{CountedSize, Lesson, OutputCounting, RefusedSize};
use crate::reason::Reason;

/// Where a refusal names no numbers that make sense, the next try has to be smaller than this share of what was refused.
const GUESSED_WINDOW_PERCENT: u64 = 90;

impl Course {
    /// What a refusal that names this window, or none, says of the request that was just sent.
    #[must_use]
    pub fn refused_size(&self, sight: &Sight<'_>, window_tokens: Option<u64>) -> RefusedSize {
        RefusedSize {
            window_tokens,
            request_tokens: None,
            own_tokens: self.reading(sight).size_tokens,
            output_tokens: self.frame.output_tokens.unwrap_or(0),
            counting: OutputCounting::Apart,
        }
    }

    /// A provider refused the view as too long. Learns what makes sense; until an answer comes, requests have to be
    /// smaller than what was refused.
    ///
    /// # Errors
    /// [`Reason::AlreadyTried`] when that happened as often as is allowed.
    pub fn handle_refusal(
        &mut self,
        refused: RefusedSize,
        sight: &Sight<'_>,
    ) -> Result<Lesson, Reason> {
        let lesson = self.belief.refused(refused);
        self.handle_refusal_of(refused, lesson, sight)?;
        Ok(lesson)
    }

    /// [`Course::handle_refusal`] where what it teaches was learned elsewhere.
    ///
    /// # Errors
    /// As there.
    pub fn handle_refusal_of(
        &mut self,
        refused: RefusedSize,
        lesson: Lesson,
        sight: &Sight<'_>,
    ) -> Result<(), Reason> {
        let known = refused.request_tokens;
        let size = known.unwrap_or_else(|| self.reading(sight).size_tokens);
        self.refused_tokens = Some(match lesson {
            Lesson::Window(tokens) => tokens,
            Lesson::Nothing => size.max(1) * GUESSED_WINDOW_PERCENT / 100,
        });
        if let Some(real_tokens) = known {
            // A refused request was counted like any other.
            self.anchors = vec![CountedSize {
                real_tokens: real_tokens.max(1),
                estimated_tokens: self.estimated_tokens(sight),
            }];
        }
        if self.overflows >= self.overflow_attempts {
            return Err(Reason::AlreadyTried);
        }
        self.overflows += 1;
        Ok(())
    }

    /// Until an answer comes, requests have to be smaller than this too, such as where a shorter try was refused as well.
    pub fn keep_below(&mut self, tokens: u64) {
        let known = self.refused_tokens.unwrap_or(u64::MAX);
        self.refused_tokens = Some(known.min(tokens.max(1)));
    }
}
