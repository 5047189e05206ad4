//! What all conversations of a host share: the store, who writes summaries, hooks, tasks.

use epitome::settings::Settings;
use epitome::{ContextBeta, Digest, Meter, Window, WindowSource, window_of_with};
use epitome_store::{AnyStore, TenantId};
use epitome_wire::Wire;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::known_models::{KnownModels, ModelKey};
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
    pub(crate) meter: Meter,
    pub(crate) wire: Wire,
    pub(crate) guards: bool,
    pub(crate) runner: Runner,
    /// What is believed of models, for all conversations.
    pub(crate) models: KnownModels,
    pub(crate) own_model: OwnModel,
    pub(crate) clock: Clock,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    pub(crate) lease_ms: i64,
}

/// The conversations' own model, as the host names it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnModel {
    /// Its name, where the frame of a conversation names no other.
    pub(crate) name: Option<String>,
    /// Where it is asked.
    pub(crate) endpoint: Option<String>,
    /// Whether a longer context than usual is asked for.
    pub(crate) context: ContextBeta,
}

impl Shared {
    /// What is learned about a model is kept under this, where it is known which one it is.
    pub(crate) fn model_key(&self, model: Option<&str>) -> Option<ModelKey> {
        Some(ModelKey {
            endpoint: self.own_model.endpoint.clone()?,
            model: model?.to_owned(),
            context: self.own_model.context,
        })
    }

    /// What is known of a model's window without any provider. What the host says is about the model that it names.
    pub(crate) fn window_of(&self, model: Option<&str>) -> Window {
        let other = model.filter(|_| self.window.source != WindowSource::Configured);
        let other = other.filter(|other| Some(*other) != self.own_model.name.as_deref());
        let found = other.and_then(|other| window_of_with(other, self.own_model.context));
        found.unwrap_or(self.window)
    }

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
