//! What all conversations of a host share: the store, who writes summaries, hooks, tasks.

mod builder;

use std::sync::Arc;

use epitome::settings::Settings;
use epitome::{Digest, Learned, Meter, Window};
use epitome_store::{AnyStore, ConversationId, Memories, MemoryRow, Store, TenantId};
use epitome_wire::Wire;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::conversation::{Conversation, ConversationError};
use crate::hooks::Hooks;
use crate::model::Caller;
use crate::summarise::Ladder;

pub use builder::{EngineBuilder, EngineError};

/// Keeps conversations inside their windows. A clone is the same engine.
///
/// ```
/// use epitome::{Message, Role};
/// use epitome_engine::Engine;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let engine = Engine::builder().build().await?;
/// let conversation = engine.create().await?;
/// conversation.push(&Message::text(Role::User, "Good morning")).await?;
/// let step = conversation.prepare_step().await?;
/// assert_eq!(step.messages.len(), 1);
/// engine.shutdown().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: AnyStore,
    pub(crate) tenant: TenantId,
    /// Who this engine is among those that share the store.
    pub(crate) holder: String,
    pub(crate) key: [u8; 32],
    pub(crate) settings: Settings,
    pub(crate) window: Window,
    /// What the model's provider taught about its window.
    pub(crate) learned: Option<Learned>,
    pub(crate) meter: Meter,
    pub(crate) wire: Wire,
    pub(crate) guards: bool,
    pub(crate) ladder: Ladder,
    pub(crate) caller: Option<Caller>,
    /// The conversation's own model and where it is, for what is learned about it.
    pub(crate) model: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) hooks: Hooks,
    pub(crate) clock: Clock,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    pub(crate) lease_ms: i64,
}

impl Engine {
    /// Everything that can be chosen.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Begins a conversation under a new name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn create(&self) -> Result<Conversation, ConversationError> {
        let id = ConversationId::from_number(uuid::Uuid::now_v7().as_u128());
        self.open(&id).await
    }

    /// Opens a conversation: goes on with it where the store has it, and begins it otherwise.
    ///
    /// # Errors
    /// When the store fails, or what it holds cannot be read.
    pub async fn open(&self, id: &ConversationId) -> Result<Conversation, ConversationError> {
        Conversation::open(self, id).await
    }

    /// At most `limit` memories of all conversations: with a query those that have its words, else the newest.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn memories(
        &self,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<MemoryRow>, ConversationError> {
        let shared = &self.shared;
        Ok(shared.store.memories(&shared.tenant, query, limit).await?)
    }

    /// Calls off background work, waits until it has let go, and closes the store. What was not finished is begun again
    /// by whoever opens the conversation next.
    pub async fn shutdown(&self) {
        self.shared.stopping.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.store.close().await;
    }

    /// The settings that its conversations follow.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn wire(&self) -> Wire {
        self.shared.wire
    }

    pub(crate) fn meter(&self) -> Meter {
        self.shared.meter
    }

    /// A digest that only this tenant can make.
    pub(crate) fn key_of(&self, parts: &[&[u8]]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.shared.key);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Digest::new(*hasher.finalize().as_bytes())
    }
}
