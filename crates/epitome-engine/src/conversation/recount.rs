//! How large the conversation is, asked of the provider.

use epitome::Usage;

use super::Conversation;
use crate::model::Caller;
use crate::recount::{CountedBy, Recount, recount};

impl Conversation {
    /// Has the conversation's own request counted by `caller`, which should be the conversation's own model. What comes
    /// out is the size of the context from then on, unless the conversation went on meanwhile. While a call waits for
    /// its result there is no request that a provider would take, and nobody is asked. May be dropped.
    pub async fn recount(&self, caller: &Caller) -> Recount {
        let (request, estimated, place) = {
            let state = self.state().await;
            if state.session.log().is_in_flight() {
                return Recount {
                    tokens: state.session.context_tokens(),
                    by: CountedBy::Meter,
                };
            }
            let request = state.request(self.shared().wire);
            let place = (state.raws.len(), state.changes);
            (request, state.session.context_tokens(), place)
        };
        let asked = self.asked();
        let counted = recount(caller, &request, estimated, &asked).await;
        let mut state = self.state().await;
        if (state.raws.len(), state.changes) == place {
            state.statistics.tokens.context_tokens = counted.tokens;
            if counted.by != CountedBy::Meter {
                let usage = Usage {
                    fresh_tokens: counted.tokens,
                    ..Usage::default()
                };
                let ticket = state.session.ticket();
                let (_, update) = state.observe(ticket, usage, self.shared());
                drop(state);
                self.save_belief(update).await;
            }
        }
        counted
    }

    /// A design may have the provider count after each compaction, where its summariser is the conversation's own model.
    pub(super) async fn recount_as_the_design_does(&self) {
        let shared = self.shared();
        if !shared.settings.design().asking.recounts {
            return;
        }
        let model = self.state().await.model(shared).map(str::to_owned);
        if let Some(caller) = shared.runner.caller()
            && model.is_none_or(|model| model == caller.endpoint().model())
        {
            let counted = self.recount(caller).await;
            tracing::debug!(conversation = %self.id(), ?counted, "counted after a compaction");
        }
    }
}
