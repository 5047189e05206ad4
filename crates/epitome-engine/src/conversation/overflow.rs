//! The provider said that a request is too long.

use epitome::{NoPlan, Reason};
use epitome_store::Store;
use epitome_wire::Overflow;

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
        let tokens = self.look(epitome::Session::context_tokens).await;
        let window = self.engine().shared().window.tokens;
        let overflow = Overflow::read(status, body, &[])
            .or_else(|| Overflow::wordless(status, body, tokens, window));
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
        let mut state = self.state().await;
        if let Some(window_tokens) = overflow.window_tokens {
            self.learn(window_tokens).await?;
        }
        self.call_off(&mut state).await;
        let mut next = state.session.clone();
        match next.overflowed(overflow.window_tokens).map(|_| ()) {
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

    async fn learn(&self, window_tokens: u64) -> Result<(), ConversationError> {
        let shared = self.engine().shared();
        let (Some(place), Some(model)) = (&shared.place, &shared.model) else {
            return Ok(());
        };
        let now = shared.clock.now_ms();
        let learned = shared.store.learn_window(place, model, window_tokens, now);
        Ok(learned.await?)
    }
}
