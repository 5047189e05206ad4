//! Before each request: what the model gets, and what happens besides.

use std::sync::Arc;

use bytes::Bytes;
use epitome::{CacheState, Message, Move, Reason, ShowNow, Ticket, Work};

use super::state::{State, in_table};
use super::{Conversation, ConversationError};
use crate::summarise::Written;

/// What the next request holds.
#[derive(Clone, Debug)]
pub struct Step {
    /// The messages of the view. Entries are shared, not copied. Where a provider wants a user message before the
    /// summary of a design, only [`Step::list`] has it.
    pub messages: Vec<Arc<Message>>,
    /// The same as a JSON list of the conversation's API: original bytes around the summary.
    pub list: Bytes,
    /// What was done.
    pub action: StepAction,
    /// What the view takes.
    pub context_tokens: u64,
    /// The request that this makes: what the provider counts belongs to it.
    pub ticket: Ticket,
}

/// What was done before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// Nothing.
    Proceed,
    /// A compaction is being prepared; the request goes out on the last good view.
    Preparing,
    /// The conversation was compacted.
    Compacted(Reason),
    /// It should have been, but could not be: the request goes out as it is.
    Unchanged(Reason),
}

impl Conversation {
    /// Everything before one request in one call: decides, compacts where it must, begins to prepare where it should, and
    /// gives what the model gets. Waits for a summary only where the settings say `wait`.
    ///
    /// # Errors
    /// When the store fails. The conversation is as it was.
    pub async fn prepare_step(&self) -> Result<Step, ConversationError> {
        let action = self.before_request().await?;
        let mut state = self.state().await;
        state.asked_ms = self.shared().clock.now_ms();
        let ticket = state.session.ticket();
        state.sent = Some(ticket);
        Ok(Step {
            messages: state.session.view_messages(),
            list: state.list(self.shared().wire),
            action,
            context_tokens: state.session.context_tokens(),
            ticket,
        })
    }

    async fn before_request(&self) -> Result<StepAction, ConversationError> {
        let reason = {
            let mut state = self.state().await;
            self.heed_pins(&mut state).await?;
            match self.publish_if_it_pays(&mut state).await {
                Ok(true) => {
                    let reason = state.session.compaction().map(|made| made.plan.reason);
                    return Ok(StepAction::Compacted(reason.unwrap_or(Reason::NearLine)));
                }
                Ok(false) => {}
                Err(error) => self.pass_over(error)?,
            }
            state.session.before_turn();
            let work = self.work(&state);
            match state.session.before_request(&work) {
                Move::Compact(reason) => return self.at_once(&mut state, reason).await,
                Move::Prepare { reason, otherwise } => {
                    let is_begun = self.prepare(&mut state, reason).await?;
                    return match otherwise {
                        Some(reason) if !is_begun => self.at_once(&mut state, reason).await,
                        _ => Ok(preparing(&state)),
                    };
                }
                Move::Await(reason) => reason,
                Move::Show(_) | Move::Send(_) => {
                    return Ok(match work.is_writing {
                        true => StepAction::Preparing,
                        false => StepAction::Proceed,
                    });
                }
            }
        };
        match self.compact_for(reason, None).await {
            Ok(_) => Ok(StepAction::Compacted(reason)),
            Err(error) => self.unchanged(error),
        }
    }

    /// Who writes, and what is under way.
    fn work(&self, state: &State) -> Work {
        let shared = self.shared();
        let ready = state.ready.as_ref();
        let ready = ready.and_then(|ready| ready.written.prepared.as_ref().ok());
        Work {
            asks_somebody: shared.runner.asks_somebody(),
            waits: self.shared().settings.common.wait,
            is_writing: state.in_flight.is_some(),
            ready: ready.map(|prepared| state.session.ready_facts(prepared)),
            cache: self.cache_state(state),
        }
    }

    async fn at_once(
        &self,
        state: &mut State,
        reason: Reason,
    ) -> Result<StepAction, ConversationError> {
        match self.compact_at_once(state, reason).await {
            Ok(()) => Ok(StepAction::Compacted(reason)),
            Err(error) => self.unchanged(error),
        }
    }

    /// Whether what is ready should be shown now, and why. What failed is settled at once.
    pub(super) fn shows(&self, state: &State, written: &Written) -> Option<ShowNow> {
        let Ok(prepared) = &written.prepared else {
            return Some(ShowNow::Design);
        };
        state.session.shows(prepared, self.cache_state(state))
    }

    fn cache_state(&self, state: &State) -> CacheState {
        let shared = self.shared();
        let idle_ms = shared.clock.now_ms().saturating_sub(state.asked_ms);
        let model = in_table(state.model(shared));
        let is_cold = epitome::is_surely_cold(idle_ms, model.and_then(|model| model.cache));
        if is_cold && state.asked_ms > 0 {
            CacheState::Cold
        } else {
            CacheState::Warm
        }
    }

    fn unchanged(&self, error: ConversationError) -> Result<StepAction, ConversationError> {
        match error {
            ConversationError::NoPlan(no) => Ok(StepAction::Unchanged(no.reason)),
            ConversationError::Cancelled { .. } => Ok(StepAction::Unchanged(Reason::Cancelled)),
            ConversationError::Commit(_) => Ok(StepAction::Unchanged(Reason::NotSmaller)),
            error => Err(error),
        }
    }

    /// What cannot be shown is passed over, and said in the log; what the store says is not.
    fn pass_over(&self, error: ConversationError) -> Result<(), ConversationError> {
        match error {
            ConversationError::Store(_) => Err(error),
            error => {
                tracing::warn!(conversation = %self.id(), %error, "a compaction could not be shown");
                Ok(())
            }
        }
    }
}

const fn preparing(state: &State) -> StepAction {
    if state.in_flight.is_some() {
        StepAction::Preparing
    } else {
        StepAction::Proceed
    }
}
