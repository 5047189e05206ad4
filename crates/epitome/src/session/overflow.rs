//! The provider said that a request is too long: learn from it, compact, send again.

use super::Session;
use crate::compaction::Compaction;
use crate::gauge::{Lesson, RefusedSize};
use crate::plan::NoPlan;
use crate::reason::Reason;

impl Session {
    /// The provider refused the view as too long, and perhaps said what its window is. Compacts with the built-in
    /// summariser, harder each time, as often as the settings allow until [`Session::observe`] tells of an answer.
    ///
    /// ```
    /// use epitome::{Message, Meter, Role, Session, Window};
    ///
    /// let mut session = Session::new(Window::assumed(), Meter::Estimate);
    /// for turn in 0..400 {
    ///     session.push(Message::text(Role::User, format!("Turn {turn}: look at src/part_{turn}.rs.")));
    ///     session.push(Message::text(Role::Assistant, "It is as it should be. ".repeat(20)));
    /// }
    /// // The model behind this endpoint turns out to be a small one.
    /// session.overflowed(Some(32_000))?;
    /// assert!(session.view_tokens() < 16_000);
    /// # Ok::<(), epitome::NoPlan>(())
    /// ```
    ///
    /// # Errors
    /// [`NoPlan`] when it was tried as often as allowed or nothing is left to remove: then the provider's own error
    /// is the answer.
    pub fn overflowed(&mut self, window_tokens: Option<u64>) -> Result<&Compaction, NoPlan> {
        let refused = self.course.refused_size(&self.sight(), window_tokens);
        self.refused(refused)
    }

    /// [`Session::overflowed`] with all that the refusal says. What it teaches beyond this request is learned only if
    /// its numbers make sense for what was sent.
    ///
    /// # Errors
    /// As [`Session::overflowed`].
    pub fn refused(&mut self, refused: RefusedSize) -> Result<&Compaction, NoPlan> {
        let mut belief = *self.course.belief();
        let lesson = belief.refused(refused);
        self.course.set_belief(belief);
        self.refused_with(refused, lesson)
    }

    /// [`Session::refused`] where what it teaches was learned elsewhere, and is in the belief of this session.
    ///
    /// # Errors
    /// As [`Session::overflowed`].
    pub fn refused_with(
        &mut self,
        refused: RefusedSize,
        lesson: Lesson,
    ) -> Result<&Compaction, NoPlan> {
        let sight = super::sight(
            &self.shown,
            self.entries.len(),
            &self.links,
            self.sent_tokens,
        );
        let taken = self.course.handle_refusal_of(refused, lesson, &sight);
        taken.map_err(|reason| NoPlan {
            reason,
            floor_tokens: 0,
        })?;
        self.compact(Reason::Overflow)
    }
}
