//! What is believed of each model at each endpoint: windows, how it counts, which form of a request it takes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::{
    Belief, CachePrices, Calibration, ContextBeta, Count, Course, Digest, Evidence, Frame, Learned,
    Lesson, Margins, Model, ModelTable, OutputCounting, RefusedSize, UsageFinding, Window,
    WindowSource, window_of_with,
};
use epitome_store::BeliefRow;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::config::ConfiguredWindows;

/// A window that an earlier version learned without evidence is believed only above this size, and above this part of
/// what the table says: it may have been read from anything.
const LEAST_UNPROVEN_TOKENS: u64 = 2_048;
const LEAST_UNPROVEN_DIVISOR: u64 = 4;

/// What is known of each model at each endpoint.
#[derive(Debug)]
pub(crate) struct Models {
    configured: ConfiguredWindows,
    margins: Margins,
    /// The window of a model of which nothing is known.
    assumed: Window,
    known: Arc<Mutex<HashMap<ModelKey, Known>>>,
}

/// A model at an endpoint, with or without a context beta; the same name may mean another window elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModelKey {
    pub(crate) endpoint: String,
    pub(crate) model: String,
    pub(crate) context: ContextBeta,
}

/// What a store calls a model with the long context.
const MILLION_SUFFIX: &str = "[1m]";

impl ModelKey {
    /// The name under which a store keeps what is believed.
    pub(crate) fn stored_model(&self) -> String {
        match self.context {
            ContextBeta::None => self.model.clone(),
            ContextBeta::OneMillion => format!("{}{MILLION_SUFFIX}", self.model),
        }
    }

    pub(crate) fn from_stored(endpoint: String, model: &str) -> Self {
        let (model, context) = match model.strip_suffix(MILLION_SUFFIX) {
            Some(model) => (model, ContextBeta::OneMillion),
            None => (model, ContextBeta::None),
        };
        Self {
            endpoint,
            model: model.to_owned(),
            context,
        }
    }

    /// Tells this model at this endpoint from every other; the same in every process.
    pub(crate) fn digest(&self) -> u64 {
        let parts = [self.endpoint.as_str(), "\0", &self.stored_model()].concat();
        Digest::of(parts.as_bytes()).prefix()
    }

    pub(crate) fn in_table(&self) -> Option<&'static Model> {
        ModelTable::builtin().find(&self.model)
    }
}

/// Where the summary stands in what this endpoint takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// A message of its own, after the task.
    #[default]
    OwnMessage,
    /// Inside the task, for servers that want the roles to alternate.
    Alternating,
}

impl Form {
    /// The form to try after this one was refused.
    pub(crate) const fn next(self) -> Option<Self> {
        match self {
            Self::OwnMessage => Some(Self::Alternating),
            Self::Alternating => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Known {
    belief: Belief,
    form: Form,
    /// Whether people were told that the window is only assumed.
    is_told: bool,
}

/// What a store keeps of a model.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredBelief {
    belief: Belief,
    #[serde(default)]
    form: Form,
}

/// What a belief is to the one that a store has already, which another process may have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has news about the window and takes its place.
    Replaces,
    /// It says something else; a window that the store knows stays.
    Joins,
}

/// Adds to a belief what another process learned about the window.
pub(crate) fn join(belief: &mut BeliefRow, known: Option<&BeliefRow>) {
    let key = ModelKey::from_stored(belief.endpoint.clone(), &belief.model);
    let own: Option<StoredBelief> = read(&key, belief.window.as_deref());
    let known = known.and_then(|known| read(&key, known.window.as_deref()));
    if let (Some(mut own), Some(StoredBelief { belief: known, .. })) = (own, known) {
        own.belief = own.belief.or_learned(known.learned());
        belief.window = written(&own);
    }
}

impl Models {
    pub(crate) fn new(configured: ConfiguredWindows, margins: Margins, assumed: Window) -> Self {
        Self {
            configured,
            margins,
            assumed,
            known: Arc::default(),
        }
    }

    /// The same beliefs under other settings.
    pub(crate) fn reconfigured(
        &self,
        configured: ConfiguredWindows,
        margins: Margins,
        assumed: Window,
    ) -> Self {
        Self {
            known: Arc::clone(&self.known),
            ..Self::new(configured, margins, assumed)
        }
    }

    /// What decides about a request with this frame, as far as the model is concerned.
    pub(crate) fn course(&self, key: &ModelKey, mut frame: Frame) -> Course {
        let known = self.known(key);
        let in_table = key.in_table();
        frame.counting = match in_table.and_then(|model| model.counts_output) {
            Some(true) => OutputCounting::Together,
            Some(false) | None => OutputCounting::Apart,
        };
        let course = Course::new(self.told(key))
            .with_belief(known.belief)
            .with_margins(self.margins)
            .with_cache_prices(CachePrices::of(in_table))
            .with_frame(frame)
            .without_guard();
        let window = course.window();
        if window.source == WindowSource::Assumed && !known.is_told {
            self.update(key, |known| known.is_told = true);
            tracing::warn!(
                model = key.model,
                endpoint = key.endpoint,
                window = window.tokens,
                "nothing is known of this model: its window is assumed; say it with --window"
            );
        }
        course
    }

    /// What is known of the window without any provider: what the user set, the table, the usual assumption.
    fn told(&self, key: &ModelKey) -> Window {
        match self.configured.of(&key.model) {
            Some(tokens) => Window::configured(tokens),
            None => table_window(key).unwrap_or(self.assumed),
        }
    }

    fn window(&self, key: &ModelKey, belief: &Belief) -> Window {
        Course::new(self.told(key)).with_belief(*belief).window()
    }

    /// A provider counted a request that went well. What that gives away is returned; a window that was unlearned or
    /// learned by it changes what a store should keep.
    pub(crate) fn counted(&self, key: &ModelKey, count: Count) -> Counted {
        let window = self.window(key, &self.known(key).belief);
        let mut counted = Counted::default();
        self.update(key, |known| {
            let before = (known.belief.learned(), known.belief.calibration().turns());
            counted.finding = known.belief.counted(count, window);
            let turns = known.belief.calibration().turns();
            // Ratios move slowly: what a restart forgets of them is soon counted again.
            counted.is_window_news = before.0 != known.belief.learned();
            counted.is_news = turns != before.1 && (turns < 8 || turns.is_multiple_of(16));
        });
        counted
    }

    /// A provider refused a request as too long.
    pub(crate) fn refused(&self, key: &ModelKey, refused: RefusedSize) -> Lesson {
        let mut lesson = Lesson::Nothing;
        self.update(key, |known| lesson = known.belief.refused(refused));
        lesson
    }

    pub(crate) fn form(&self, key: &ModelKey) -> Form {
        self.known(key).form
    }

    /// This endpoint takes only this form.
    pub(crate) fn remember_form(&self, key: &ModelKey, form: Form) {
        self.update(key, |known| known.form = form);
    }

    /// What a store keeps of the window, as text.
    pub(crate) fn stored_window(&self, key: &ModelKey) -> Option<String> {
        let known = self.known(key);
        written(&StoredBelief {
            belief: known.belief.with_calibration(Calibration::default()),
            form: known.form,
        })
    }

    /// What a store keeps of how a model counts, as text.
    pub(crate) fn stored_counts(&self, key: &ModelKey) -> Option<String> {
        written(&self.known(key).belief.calibration())
    }

    /// Takes over what was believed before; what cannot be read is forgotten.
    pub(crate) fn recall(&self, row: &BeliefRow) {
        let key = ModelKey::from_stored(row.endpoint.clone(), &row.model);
        let window: Option<StoredBelief> = read(&key, row.window.as_deref());
        let counts: Option<Calibration> = read(&key, row.counts.as_deref());
        self.update(&key, |known| {
            if let Some(stored) = window {
                known.belief = stored.belief;
                known.form = stored.form;
            }
            if let Some(calibration) = counts {
                known.belief = known.belief.with_calibration(calibration);
            }
        });
    }

    /// Takes over a window of a version that kept no evidence, if it can be true.
    pub(crate) fn recall_window(&self, key: &ModelKey, window_tokens: u64) {
        let least = table_window(key).map_or(0, |window| window.tokens / LEAST_UNPROVEN_DIVISOR);
        if window_tokens < least.max(LEAST_UNPROVEN_TOKENS) {
            tracing::warn!(
                model = key.model,
                window_tokens,
                "a window that an earlier version learned makes no sense and is forgotten"
            );
            return;
        }
        self.update(key, |known| {
            known.belief = Belief::recalled(Some(Learned {
                window_tokens,
                evidence: Evidence::Unknown,
            }));
        });
    }

    fn known(&self, key: &ModelKey) -> Known {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).cloned().unwrap_or_default()
    }

    fn update(&self, key: &ModelKey, change: impl FnOnce(&mut Known)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(known.entry(key.clone()).or_default());
    }
}

/// What came of a count.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) finding: Option<UsageFinding>,
    /// Whether a store should be told how the model counts.
    pub(crate) is_news: bool,
    /// Whether a store should be told about the window.
    pub(crate) is_window_news: bool,
}

fn written(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value)
        .inspect_err(|error| tracing::error!(%error, "a belief cannot be written"))
        .ok()
}

fn read<T: DeserializeOwned>(key: &ModelKey, stored: Option<&str>) -> Option<T> {
    serde_json::from_str(stored?)
        .inspect_err(|error| {
            let model = &key.model;
            tracing::warn!(model, %error, "what was believed of a model cannot be read and is forgotten");
        })
        .ok()
}

fn table_window(key: &ModelKey) -> Option<Window> {
    window_of_with(&key.model, key.context)
}
