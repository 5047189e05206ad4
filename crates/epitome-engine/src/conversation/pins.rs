//! Pins that somebody dropped from outside, such as with `epitome pins --drop`.

use epitome::Session;
use epitome_store::{Appended, PinRow, Pins};

use super::state::State;
use super::{Conversation, ConversationError};

/// How often somebody else may be faster.
const ATTEMPTS: usize = 5;

impl Conversation {
    /// Takes over what was said about pins since, and takes the compactions back that do not go with it. A store that
    /// cannot be asked is no reason not to go on.
    pub(super) async fn heed_pins(&self, state: &mut State) -> Result<(), ConversationError> {
        let shared = self.shared();
        let marked = match shared.store.marked_pins(&shared.tenant, self.id()).await {
            Ok(marked) => marked,
            Err(error) => {
                tracing::warn!(conversation = %self.id(), %error, "whether pins were dropped is not known");
                return Ok(());
            }
        };
        let dropped = PinRow::dropped(marked);
        if dropped != state.session.dropped_pins() {
            // It was begun on what is no longer so.
            self.call_off(state).await;
            state.session.set_dropped_pins(dropped);
        }
        let mut attempts = ATTEMPTS;
        while attempts > 0 && is_outdated(&state.session) {
            self.call_off(state).await;
            let mut next = state.session.clone();
            // Whether it fits without is seen to right after: then it is compacted anew.
            next.replay_undo()?;
            if self.take_back(state, next).await? == Appended::Superseded {
                attempts -= 1;
            }
        }
        Ok(())
    }
}

/// Whether a compaction in force carries what was dropped, or was made without what is no longer dropped.
fn is_outdated(session: &Session) -> bool {
    let dropped = session.dropped_pins();
    session.in_force().any(|made| !made.heeds(dropped))
}
