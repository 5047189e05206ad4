//! What an engine is made of.

use std::sync::Arc;

use epitome::settings::Settings;
use epitome::{ContextBeta, Meter, PresetName, Window, WindowSource};
use epitome_store::{AnyStore, TenantId, Tenants};
use epitome_wire::Wire;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Engine;
use crate::clock::{self, Clock};
use crate::hooks::Hooks;
use crate::known_models::KnownModels;
use crate::model::Caller;
use crate::runner::{LEASE_MS, Runner};
use crate::shared::{OwnModel, Shared};
use crate::summarise::{Ladder, ModelWriter, Parts, Style, SummaryForm, Templates, Writer};

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] epitome_store::Error),
    /// No secret could be made for the tenant.
    #[error("the system gave no random numbers")]
    NoRandomNumbers,
}

/// Makes an [`Engine`]. Whatever is not said is as in `default`: the built-in summariser, and a store in memory.
#[derive(Debug)]
pub struct EngineBuilder {
    store: Option<AnyStore>,
    tenant: TenantId,
    holder: Option<String>,
    settings: Settings,
    window: Window,
    meter: Meter,
    wire: Wire,
    guards: bool,
    own_model: OwnModel,
    summaries: Summaries,
    hooks: Hooks,
    clock: Clock,
    lease_ms: i64,
}

/// Who writes summaries, and how they are asked for.
#[derive(Debug)]
struct Summaries {
    caller: Option<Caller>,
    writer: Option<Arc<dyn Writer>>,
    form: Option<SummaryForm>,
    style: Option<Style>,
    templates: Templates,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            store: None,
            tenant: TenantId::local(),
            holder: None,
            settings: Settings::of(PresetName::default()),
            window: Window::assumed(),
            meter: Meter::Estimate,
            wire: Wire::OpenAiChat,
            guards: true,
            own_model: OwnModel::default(),
            summaries: Summaries {
                caller: None,
                writer: None,
                form: None,
                style: None,
                templates: Templates::built_in(),
            },
            hooks: Hooks::default(),
            clock: Clock::default(),
            lease_ms: LEASE_MS,
        }
    }
}

impl EngineBuilder {
    /// Where conversations are kept.
    #[must_use]
    pub fn store(mut self, store: AnyStore) -> Self {
        self.store = Some(store);
        self
    }

    /// Whose conversations they are.
    #[must_use]
    pub fn tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = tenant;
        self
    }

    /// The name of this engine among those that share the store; otherwise a new one.
    #[must_use]
    pub fn holder(mut self, holder: impl Into<String>) -> Self {
        self.holder = Some(holder.into());
        self
    }

    /// The preset and its settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The window of the conversation's model, where the settings name none.
    #[must_use]
    pub const fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// How tokens are counted.
    #[must_use]
    pub const fn meter(mut self, meter: Meter) -> Self {
        self.meter = meter;
        self
    }

    /// The API that the conversation's own requests are in.
    #[must_use]
    pub const fn wire(mut self, wire: Wire) -> Self {
        self.wire = wire;
        self
    }

    /// Works in windows however small.
    #[must_use]
    pub const fn without_guard(mut self) -> Self {
        self.guards = false;
        self
    }

    /// The model that writes summaries.
    #[must_use]
    pub fn summariser(mut self, caller: Caller) -> Self {
        self.summaries.caller = Some(caller);
        self
    }

    /// Where the conversations' own model is asked, and its name; a conversation whose frame names another model has
    /// that one. What is learned about window and counting is kept for endpoint and model together, in the store, and
    /// all conversations with the same two share it. An endpoint named as the host of its address is the one that a
    /// proxy on the same store knows.
    #[must_use]
    pub fn model(mut self, endpoint: impl Into<String>, model: impl Into<String>) -> Self {
        self.own_model.endpoint = Some(endpoint.into());
        self.own_model.name = Some(model.into());
        self
    }

    /// Whether the conversations' requests ask for a longer context than their model has by itself: it is another
    /// window, and what is learned about it is kept apart.
    #[must_use]
    pub const fn context_beta(mut self, context: ContextBeta) -> Self {
        self.own_model.context = context;
        self
    }

    /// Somebody else who writes summaries.
    #[must_use]
    pub fn writer(mut self, writer: impl Writer + 'static) -> Self {
        self.summaries.writer = Some(Arc::new(writer));
        self
    }

    /// What the summariser is shown, where that is not as in the preset.
    #[must_use]
    pub const fn summary_form(mut self, form: SummaryForm) -> Self {
        self.summaries.form = Some(form);
        self
    }

    /// How summaries are asked for, where that is not as in the preset.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.summaries.style = Some(style);
        self
    }

    /// What the summariser is told.
    #[must_use]
    pub fn templates(mut self, templates: Templates) -> Self {
        self.summaries.templates = templates;
        self
    }

    /// What is called around compactions.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// What time it is.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How long background work may go without a sign of life, in milliseconds.
    #[must_use]
    pub const fn lease_ms(mut self, lease_ms: i64) -> Self {
        self.lease_ms = lease_ms;
        self
    }

    /// Makes it.
    ///
    /// # Errors
    /// [`EngineError`].
    pub async fn build(self) -> Result<Engine, EngineError> {
        let store = match self.store {
            Some(store) => store,
            None => AnyStore::open("sqlite::memory:").await?,
        };
        let mut fresh = [0; 32];
        rustls::crypto::ring::default_provider()
            .secure_random
            .fill(&mut fresh)
            .map_err(|_| EngineError::NoRandomNumbers)?;
        let key = store.tenant_key(&self.tenant, fresh).await?;
        let models = KnownModels::default();
        models.recall_all(&store).await?;
        let window = self.settings.window().unwrap_or(self.window);
        let window = reaching(&self.settings, window);
        let runner = self.summaries.runner(&self.settings, self.hooks);
        let holder = self.holder.unwrap_or_else(clock::new_id);
        Ok(Engine {
            shared: Arc::new(Shared {
                store,
                tenant: self.tenant,
                holder,
                key,
                window,
                runner,
                settings: self.settings,
                meter: self.meter,
                wire: self.wire,
                guards: self.guards,
                own_model: self.own_model,
                models,
                clock: self.clock,
                tasks: TaskTracker::new(),
                stopping: CancellationToken::new(),
                lease_ms: self.lease_ms,
            }),
        })
    }
}

impl Summaries {
    /// Who carries compactions out.
    fn runner(self, settings: &Settings, hooks: Hooks) -> Runner {
        let mut style = self.style.unwrap_or_else(|| Style::of(settings));
        if let Some(form) = self.form {
            style.form = form;
        }
        let caller = self.caller;
        let writer = self.writer.or_else(|| {
            let templates = Arc::new(self.templates);
            let writer = ModelWriter::new(caller.clone()?, templates, style, Parts::default());
            Some(Arc::new(writer) as Arc<dyn Writer>)
        });
        let ladder = Ladder::new(writer, settings.common.on_failure);
        Runner::new(settings, ladder, caller, hooks)
    }
}

/// A design that goes by a number of tokens alone has no window. Where none is known, a line must not stand before the
/// number; if the true window is smaller, the provider will say so.
fn reaching(settings: &Settings, window: Window) -> Window {
    let threshold = settings.windowless_tokens().unwrap_or(0);
    match window.source {
        WindowSource::Assumed => Window {
            tokens: window.tokens.max(threshold.saturating_mul(3) / 2),
            ..window
        },
        _ => window,
    }
}
