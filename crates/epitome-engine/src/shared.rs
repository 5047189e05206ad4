//! What all conversations of a host share: the store, who writes summaries, hooks, tasks.

use epitome::settings::Settings;
use epitome::{Digest, Learned, Meter, Window};
use epitome_store::{AnyStore, TenantId};
use epitome_wire::Wire;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::runner::Runner;

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
    pub(crate) runner: Runner,
    /// The conversation's own model and where it is, for what is learned about it.
    pub(crate) model: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    pub(crate) lease_ms: i64,
}

impl Shared {
    /// A digest that only this tenant can make.
    pub(crate) fn key_of(&self, parts: &[&[u8]]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Digest::new(*hasher.finalize().as_bytes())
    }
}
