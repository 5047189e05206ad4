//! Which window, and how far the meter is off: both learned from what providers say.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use epitome::{Lines, UNCALIBRATED_ERROR_RATIO, Window, WindowSource, window_of};

/// How far a calibrated meter may be off.
const CALIBRATED_ERROR_RATIO: f64 = 0.04;
/// How much of a new observation goes into the ratio.
const LEARNING_RATE: f64 = 0.3;
/// Ratios outside this range come from answers that count something else.
const PLAUSIBLE_RATIOS: std::ops::RangeInclusive<f64> = 0.3..=4.0;

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
    ratio: Option<f64>,
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
        let window = match (
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
        };
        let error_ratio = match learned.ratio {
            Some(_) => CALIBRATED_ERROR_RATIO,
            None => UNCALIBRATED_ERROR_RATIO,
        };
        Gauge {
            window,
            lines: window.lines(output_tokens, error_ratio),
            ratio: learned.ratio.unwrap_or(1.0),
        }
    }

    pub(crate) fn learn_window(&self, key: &ModelKey, window_tokens: u64) {
        self.update(key, |learned| learned.window_tokens = Some(window_tokens));
    }

    /// A provider counted `real` where the meter said `estimated`.
    pub(crate) fn learn_ratio(&self, key: &ModelKey, real: u64, estimated: u64) {
        let ratio = real as f64 / estimated.max(1) as f64;
        if !PLAUSIBLE_RATIOS.contains(&ratio) {
            return;
        }
        self.update(key, |learned| {
            learned.ratio = Some(match learned.ratio {
                // An under-estimate is dangerous, so the ratio rises at once and falls slowly.
                Some(old) if ratio < old => old + (ratio - old) * LEARNING_RATE,
                _ => ratio,
            });
        });
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
