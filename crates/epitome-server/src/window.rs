//! Which window, and how far the meter is off: both learned from what providers say.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use epitome::{Calibration, Lines, UsageFinding, Window, WindowSource, window_of};

/// What is known of each model at each endpoint.
#[derive(Debug, Default)]
pub(crate) struct Models {
    configured: Option<u64>,
    known: Mutex<HashMap<ModelKey, Learned>>,
}

/// A model at an endpoint; the same name may mean another window elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModelKey {
    pub(crate) endpoint: String,
    pub(crate) model: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    window_tokens: Option<u64>,
    calibration: Calibration,
}

/// The gauge for one request: lines in real tokens, and real tokens per estimated one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    pub(crate) window: Window,
    pub(crate) lines: Option<Lines>,
    pub(crate) ratio: f64,
}

impl Models {
    pub(crate) fn new(configured: Option<u64>) -> Self {
        Self {
            configured,
            known: Mutex::default(),
        }
    }

    /// A window named by a provider beats the table, the table beats the setting for unknown models, and the
    /// setting beats the assumption.
    pub(crate) fn gauge(&self, key: &ModelKey, output_tokens: u64) -> Gauge {
        let learned = self.learned(key);
        let window = self.window(key, learned);
        Gauge {
            window,
            lines: window.lines(output_tokens, learned.calibration.error_ratio()),
            ratio: learned.calibration.ratio(),
        }
    }

    fn window(&self, key: &ModelKey, learned: Learned) -> Window {
        match (
            learned.window_tokens,
            window_of(&key.model),
            self.configured,
        ) {
            (Some(tokens), _, _) => Window {
                tokens,
                source: WindowSource::Learned,
            },
            (None, Some(window), _) => window,
            (None, None, Some(tokens)) => Window::configured(tokens),
            (None, None, None) => Window::assumed(),
        }
    }

    pub(crate) fn learn_window(&self, key: &ModelKey, window_tokens: u64) {
        self.update(key, |learned| learned.window_tokens = Some(window_tokens));
    }

    /// A provider counted `real_tokens` where the meter said `estimated_tokens`. What that gives away is returned: a
    /// count far below what was sent is one of what a server silently left.
    pub(crate) fn observe(
        &self,
        key: &ModelKey,
        real_tokens: u64,
        estimated_tokens: u64,
    ) -> Option<UsageFinding> {
        let window = self.window(key, self.learned(key));
        let mut finding = None;
        self.update(key, |learned| {
            finding = learned
                .calibration
                .observe(estimated_tokens, real_tokens, window);
            if let Some(UsageFinding::Truncated {
                window_tokens: Some(tokens),
                ..
            }) = finding
            {
                learned.window_tokens = Some(tokens);
            }
        });
        finding
    }

    fn learned(&self, key: &ModelKey) -> Learned {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).copied().unwrap_or_default()
    }

    fn update(&self, key: &ModelKey, change: impl FnOnce(&mut Learned)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(known.entry(key.clone()).or_default());
    }
}
