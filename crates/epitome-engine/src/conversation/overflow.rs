//! The provider said that a request is too long.

use epitome::{NoPlan, OutputCounting, Reason, RefusedSize};
use epitome_wire::{Cure, Overflow};

use super::{Conversation, ConversationError};

/// What to do after an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The conversation is smaller: send it again.
    Retry,
    /// It was tried as often as the settings allow, or nothing is left to remove: the provider's own error is the answer.
    GiveUp(Reason),
    /// The error is about something else.
    NotAnOverflow,
}

impl Conversation {
    /// The provider answered a request with this error. If it says that the request is too long, the conversation is
    /// compacted at once, harder each time and as often as the settings allow until [`observe`](Self::observe) tells of an
    /// answer; what the error says about the window is remembered for the endpoint and the model.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn overflowed(
        &self,
        status: u16,
        body: &[u8],
    ) -> Result<Recovery, ConversationError> {
        let (reading, window, request) = {
            let state = self.state().await;
            let request = state.request(self.shared().wire);
            (state.session.reading(), state.session.window(), request)
        };
        let tokens = reading.size_tokens;
        // What may be a quotation of the request counts only where the size speaks for it too.
        let overflow = Overflow::read(status, body, &request)
            .filter(|overflow| !overflow.is_echoed || reading.nears_the_line())
            .or_else(|| Overflow::wordless(status, body, tokens, window.tokens));
        match overflow {
            Some(overflow) => self.too_long(&overflow).await,
            None => Ok(Recovery::NotAnOverflow),
        }
    }

    /// [`overflowed`](Self::overflowed) for those who have read the error already.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn too_long(&self, overflow: &Overflow) -> Result<Recovery, ConversationError> {
        let shared = self.shared();
        let mut state = self.state().await;
        self.call_off(&mut state).await;
        let mut next = state.session.clone();
        let counting = match overflow.counts_output || overflow.cure == Cure::LessOutput {
            true => OutputCounting::Together,
            false => OutputCounting::Apart,
        };
        // A limit of bytes says nothing about tokens, and what stands in our own request says nothing at all.
        let teaches = overflow.cure != Cure::FewerBytes && !overflow.is_echoed;
        let refused = RefusedSize {
            window_tokens: overflow.window_tokens.filter(|_| teaches),
            request_tokens: overflow.request_tokens.filter(|_| teaches),
            own_tokens: next.context_tokens(),
            output_tokens: state.frame.output_tokens.unwrap_or(0),
            counting,
        };
        let outcome = match state.model_key(shared) {
            Some(key) => {
                let (lesson, news) = shared.models.refused(&key, refused);
                let now_ms = shared.clock.now_ms();
                let update = shared.models.update_of(&key, news, now_ms);
                self.save_belief(update).await;
                next.set_belief(shared.models.belief(&key));
                next.refused_with(refused, lesson).map(|_| ())
            }
            None => next.refused(refused).map(|_| ()),
        };
        match outcome {
            Ok(()) => {
                self.settle(&mut state, next).await?;
                Ok(Recovery::Retry)
            }
            Err(NoPlan { reason, .. }) => {
                state.session = next;
                Ok(Recovery::GiveUp(reason))
            }
        }
    }
}
