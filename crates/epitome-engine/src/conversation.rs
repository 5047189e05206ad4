//! One conversation over time: everything is written down before it counts, and nobody waits for a summary.
//!
//! - what there is: `state`; put together again from the store: `restore`
//! - before each request: `step`; compactions at once, in the background, and on the day they pay: `compact`, `background`
//! - how large it is after one, by the provider: `recount`; the provider said no: `overflow`; taken back, branched, looked up: `history`; pins that somebody dropped: `pins`

mod background;
mod compact;
mod entry;
mod flush;
mod history;
mod overflow;
mod pins;
mod recount;
mod restore;
mod state;
mod step;

use std::sync::Arc;

use bytes::Bytes;
use epitome::{CommitError, Event, Message, NoPlan, Session, Ticket, Usage, UsageFinding};
use epitome_store::{Append, Appended, ConversationId, Entries, NewConversation};
use epitome_wire::Wire;
use tokio::sync::{Mutex, MutexGuard};

use crate::hooks::HookContext;
use crate::known_models::BeliefUpdate;
use crate::record::RecordError;
use crate::shared::Shared;
use crate::statistics::Statistics;

use entry::{Entry, Rows};
pub use flush::{FlushOutcome, Flushed};
pub use history::{LogEntry, Recalled};
pub use overflow::Recovery;
use state::State;
pub use step::{Step, StepAction};

/// Why something could not be done. The conversation is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] epitome_store::Error),
    /// What is stored of the conversation cannot be read, or what is to be stored cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A message is not one of this API.
    #[error("this is not a message of {wire}: {why}")]
    Unreadable {
        /// The API.
        wire: Wire,
        /// Why.
        why: String,
    },
    /// There is nothing in a message that could be sent.
    #[error("the message has nothing in it that could be sent")]
    Empty,
    /// Somebody else wrote to the conversation. It has been read again, with what they wrote; try again.
    #[error("the conversation was changed by somebody else: it was read again, try again")]
    Superseded,
    /// There is nothing to compact, or no room to gain.
    #[error(transparent)]
    NoPlan(#[from] NoPlan),
    /// A compaction was not accepted, or there is none to take back.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A hook said no.
    #[error("a hook called the compaction off: {reason}")]
    Cancelled {
        /// What it said.
        reason: String,
    },
}

/// A conversation of an [`Engine`](crate::Engine). A clone is the same conversation.
///
/// *Input*: [`push`](Self::push), [`push_raw`](Self::push_raw), [`observe`](Self::observe),
/// [`overflowed`](Self::overflowed). *Before each request*: [`prepare_step`](Self::prepare_step). *By hand*:
/// [`compact`](Self::compact), [`undo`](Self::undo), [`fork`](Self::fork), [`recall`](Self::recall).
///
/// Every call may be dropped: what it did is done as a whole or not at all.
#[derive(Clone, Debug)]
pub struct Conversation {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    id: ConversationId,
    state: Mutex<State>,
    context: std::sync::Mutex<Arc<HookContext>>,
}

impl Conversation {
    pub(crate) async fn open(
        shared: &Arc<Shared>,
        id: &ConversationId,
    ) -> Result<Self, ConversationError> {
        let state = restore::restore(shared, id).await?;
        let context = HookContext {
            session_key: Some(id.to_string()),
            ..HookContext::default()
        };
        Ok(Self {
            inner: Arc::new(Inner {
                shared: Arc::clone(shared),
                id: id.clone(),
                state: Mutex::new(state),
                context: std::sync::Mutex::new(Arc::new(context)),
            }),
        })
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &ConversationId {
        &self.inner.id
    }

    /// Appends a message. When this returns, it is on disk.
    ///
    /// # Errors
    /// [`ConversationError`]; the message is not in the conversation then.
    pub async fn push(&self, message: &Message) -> Result<(), ConversationError> {
        let entries = Entry::of(self.shared().wire, message)?;
        self.append(entries).await
    }

    /// Appends a message as the bytes that the provider or the client sent. They are kept as they are.
    ///
    /// # Errors
    /// [`ConversationError`]; the message is not in the conversation then.
    pub async fn push_raw(&self, raw: impl Into<Bytes>) -> Result<(), ConversationError> {
        let entry = Entry::read(self.shared().wire, raw.into())?;
        self.append(vec![entry]).await
    }

    async fn append(&self, entries: Vec<Entry>) -> Result<(), ConversationError> {
        let mut state = self.state().await;
        let shared = self.shared();
        let rows = Rows::of(shared, self.id(), state.tip, &entries);
        let after = state.tip.filter(|tip| tip.is_own).map(|tip| tip.node);
        let append = Append {
            conversation: self.new_conversation(),
            entries: rows.entries,
            nodes: rows.nodes,
            words: rows.words,
            touched_ms: shared.clock.now_ms(),
        };
        match shared.store.extend(&shared.tenant, &append, after).await? {
            Appended::Stored => {}
            Appended::Superseded => {
                self.read_again(&mut state).await?;
                return Err(ConversationError::Superseded);
            }
        }
        state.tip = rows.tip;
        for entry in entries {
            state.push(entry);
        }
        Ok(())
    }

    /// The provider counted the request of the last [`prepare_step`](Self::prepare_step) and its answer, which took so
    /// many seconds. What became of the conversation meanwhile does not matter.
    pub async fn observe(&self, usage: Usage, seconds: f64) -> Option<UsageFinding> {
        let state = self.state().await;
        let ticket = state.sent.unwrap_or_else(|| state.session.ticket());
        self.counted(state, ticket, usage, seconds).await
    }

    /// [`observe`](Self::observe) for a host that has several requests under way: `ticket` is that of the
    /// [`Step`] the request was made of.
    pub async fn observe_sent(
        &self,
        ticket: Ticket,
        usage: Usage,
        seconds: f64,
    ) -> Option<UsageFinding> {
        let state = self.state().await;
        self.counted(state, ticket, usage, seconds).await
    }

    async fn counted(
        &self,
        mut state: MutexGuard<'_, State>,
        ticket: Ticket,
        usage: Usage,
        seconds: f64,
    ) -> Option<UsageFinding> {
        let prices = self.prices(&state);
        state.statistics.update(usage, seconds, &prices);
        let (finding, update) = state.observe(ticket, usage, self.shared());
        drop(state);
        self.save_belief(update).await;
        finding
    }

    /// Everything but the messages that the conversation's requests have: model, system prompt, tools and so on, as one
    /// JSON object. Needed for requests made here and for the aligned form of summaries.
    ///
    /// # Errors
    /// [`ConversationError::Unreadable`] when it is no object.
    pub async fn set_frame(&self, frame: &str) -> Result<(), ConversationError> {
        let frame = state::Frame::read(frame).map_err(|why| ConversationError::Unreadable {
            wire: self.shared().wire,
            why,
        })?;
        let mut state = self.state().await;
        state.set_frame(frame, self.shared());
        Ok(())
    }

    /// Who it is, for hooks.
    pub fn set_context(&self, context: HookContext) {
        let mut place = self.lock_context();
        *place = Arc::new(context);
    }

    /// The whole request: the frame with the messages of the view.
    pub async fn request(&self) -> Bytes {
        self.state().await.request(self.shared().wire)
    }

    /// What happened since the last call, in order.
    pub async fn take_events(&self) -> Vec<Event> {
        self.state().await.session.take_events()
    }

    /// What the conversation took so far.
    pub async fn statistics(&self) -> Statistics {
        self.state().await.statistics
    }

    /// Looks at the session: sizes, records, the view.
    pub async fn look<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        look(&self.state().await.session)
    }

    /// Every message ever pushed, byte for byte.
    pub async fn raw_entries(&self) -> Vec<Bytes> {
        self.state().await.raws.clone()
    }

    /// Whether a compaction is being prepared.
    pub async fn is_preparing(&self) -> bool {
        self.state().await.in_flight.is_some()
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// What it is at the moment, with what is believed of its model by now: other conversations learn too.
    async fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.inner.state.lock().await;
        state.believe(self.shared());
        state
    }

    /// Stores what was learned of a model. What cannot be stored is known until the engine ends.
    async fn save_belief(&self, update: Option<BeliefUpdate>) {
        let Some(update) = update else {
            return;
        };
        if let Err(error) = update.save(&self.shared().store).await {
            tracing::warn!(conversation = %self.id(), %error, "what was learned of a model cannot be stored");
        }
    }

    fn context(&self) -> Arc<HookContext> {
        Arc::clone(&self.lock_context())
    }

    fn lock_context(&self) -> std::sync::MutexGuard<'_, Arc<HookContext>> {
        let context = self.inner.context.lock();
        context.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn prices(&self, state: &State) -> epitome::Prices {
        let found = state::in_table(state.model(self.shared()));
        found.map(|model| model.prices).unwrap_or_default()
    }

    fn new_conversation(&self) -> NewConversation {
        NewConversation {
            id: self.id().clone(),
            parent: None,
            label: None,
            created_ms: self.shared().clock.now_ms(),
        }
    }

    /// Throws away what is in memory and reads the store.
    async fn read_again(&self, state: &mut State) -> Result<(), ConversationError> {
        let mut fresh = restore::restore(self.shared(), self.id()).await?;
        // It was begun on what is no longer so.
        self.call_off(state).await;
        fresh.works_begun = state.works_begun;
        fresh.set_frame(std::mem::take(&mut state.frame), self.shared());
        fresh.statistics = std::mem::take(&mut state.statistics);
        *state = fresh;
        Ok(())
    }
}
