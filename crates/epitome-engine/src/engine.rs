//! The conversations of a host: begun, opened, and brought to an end together.

mod builder;

use std::sync::Arc;

use epitome::settings::Settings;
use epitome_store::{ConversationId, Memories, MemoryRow, Store};

use crate::clock;
use crate::conversation::{Conversation, ConversationError};
use crate::shared::Shared;

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
        let id = ConversationId::from_number(clock::new_number());
        self.open(&id).await
    }

    /// Opens a conversation: goes on with it where the store has it, and begins it otherwise.
    ///
    /// # Errors
    /// When the store fails, or what it holds cannot be read.
    pub async fn open(&self, id: &ConversationId) -> Result<Conversation, ConversationError> {
        Conversation::open(&self.shared, id).await
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
}
