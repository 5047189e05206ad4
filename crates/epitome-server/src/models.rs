//! What decides about a request, as far as its model is concerned: what is set, what the table says, what was learned.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::{
    CachePrices, Count, Course, Frame, Margins, OutputCounting, UsageFinding, Window, WindowSource,
};
use epitome_engine::known_models::{KnownModels, ModelKey, News};

use crate::config::ConfiguredWindows;

/// The models of a server, as its settings and their providers have them.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    configured: ConfiguredWindows,
    margins: Margins,
    /// The window of a model of which nothing is known.
    assumed: Window,
    known: KnownModels,
    /// Those of which people were told that the window is only assumed.
    told: Arc<Mutex<HashSet<ModelKey>>>,
}

impl Models {
    pub(crate) fn new(
        configured: ConfiguredWindows,
        margins: Margins,
        assumed: Window,
        known: KnownModels,
    ) -> Self {
        Self {
            configured,
            margins,
            assumed,
            known,
            told: Arc::default(),
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
            told: Arc::clone(&self.told),
            ..Self::new(configured, margins, assumed, self.known.clone())
        }
    }

    /// What was learned, whatever the settings are.
    pub(crate) const fn known(&self) -> &KnownModels {
        &self.known
    }

    /// What decides about a request with this frame, as far as the model is concerned.
    pub(crate) fn course(&self, key: &ModelKey, mut frame: Frame) -> Course {
        let in_table = key.in_table();
        frame.counting = match in_table.and_then(|model| model.counts_output) {
            Some(true) => OutputCounting::Together,
            Some(false) | None => OutputCounting::Apart,
        };
        let course = Course::new(self.told_window(key))
            .with_belief(self.known.belief(key))
            .with_margins(self.margins)
            .with_cache_prices(CachePrices::of(in_table))
            .with_frame(frame)
            .without_guard();
        let window = course.window();
        if window.source == WindowSource::Assumed && self.is_new(key) {
            tracing::warn!(
                model = key.model,
                endpoint = key.endpoint,
                window = window.tokens,
                "nothing is known of this model: its window is assumed; say it with --window"
            );
        }
        course
    }

    /// Whether people were not told of a model before; from now on they were.
    fn is_new(&self, key: &ModelKey) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        !told.contains(key) && told.insert(key.clone())
    }

    /// What is known of the window without any provider: what the user set, the table, the usual assumption.
    fn told_window(&self, key: &ModelKey) -> Window {
        match self.configured.of(&key.model) {
            Some(tokens) => Window::configured(tokens),
            None => key.table_window().unwrap_or(self.assumed),
        }
    }

    /// A provider counted a request that went well. What that gives away is returned, with what a store should be told.
    pub(crate) fn counted(&self, key: &ModelKey, count: Count) -> (Option<UsageFinding>, News) {
        let told = self.told_window(key);
        self.known.learn(key, |belief| {
            let window = Course::new(told).with_belief(*belief).window();
            belief.counted(count, window)
        })
    }
}
