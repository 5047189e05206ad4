//! What is believed of models, and why, in words.

use epitome::{
    Belief, Calibration, ContextBeta, Evidence, Learned, Window, WindowSource, window_of_with,
};
use epitome_store::{AnyStore, Beliefs, TenantId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ArchiveError;
use crate::known_models::own_endpoint;

/// What a store holds of one model at one endpoint.
#[derive(Clone, Debug)]
pub struct BelievedModel {
    /// Where it answers.
    pub endpoint: String,
    /// Its name.
    pub model: String,
    /// What is believed of it.
    pub belief: Belief,
    /// Since when, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// The part of a stored belief that is about the window.
#[derive(Deserialize)]
struct StoredWindow {
    belief: Belief,
}

/// Everything that a tenant believes of models.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer, or what it holds cannot be read.
pub async fn believed_models(
    store: &AnyStore,
    tenant: &TenantId,
) -> Result<Vec<BelievedModel>, ArchiveError> {
    let mut known: Vec<BelievedModel> = Vec::new();
    for row in store.beliefs().await? {
        let Some(endpoint) = own_endpoint(tenant, &row.endpoint) else {
            continue;
        };
        let window = row
            .window
            .as_deref()
            .map(serde_json::from_str::<StoredWindow>);
        let counts = row
            .counts
            .as_deref()
            .map(serde_json::from_str::<Calibration>);
        let belief = window
            .transpose()?
            .map_or_else(Belief::default, |stored| stored.belief);
        known.push(BelievedModel {
            belief: belief.with_calibration(counts.transpose()?.unwrap_or_default()),
            endpoint: endpoint.to_owned(),
            model: row.model,
            at_ms: row.at_ms,
        });
    }
    for row in store.learned_windows().await? {
        let Some(endpoint) = own_endpoint(tenant, &row.endpoint) else {
            continue;
        };
        let is_known = known
            .iter()
            .any(|one| one.endpoint == endpoint && one.model == row.model);
        if !is_known {
            let learned = Learned {
                window_tokens: row.window_tokens,
                evidence: Evidence::Unknown,
            };
            known.push(BelievedModel {
                belief: Belief::recalled(Some(learned)),
                endpoint: endpoint.to_owned(),
                model: row.model,
                at_ms: row.at_ms,
            });
        }
    }
    Ok(known)
}

impl BelievedModel {
    /// Its window, from wherever it is known best.
    #[must_use]
    pub fn window(&self) -> Window {
        self.belief
            .window(None, window_of_with(&self.model, ContextBeta::None))
    }

    /// Why the window is believed, in words.
    #[must_use]
    pub fn why(&self) -> String {
        let proven = self.belief.proven_tokens();
        match (self.window().source, self.belief.learned()) {
            (WindowSource::Learned, Some(learned)) => match learned.evidence {
                Evidence::Refusal {
                    request_tokens,
                    own_tokens,
                } => {
                    let said = request_tokens.map_or_else(String::new, |tokens| {
                        format!(" of {tokens} tokens by its own count")
                    });
                    format!("a refusal named it, for a request{said} ({own_tokens} by ours)")
                }
                Evidence::Truncation { counted_tokens } => {
                    format!("the server left out what did not fit, and counted {counted_tokens}")
                }
                Evidence::Unknown => String::from("learned by an earlier version"),
            },
            (WindowSource::Learned, None) => format!("a request of {proven} tokens went well"),
            (WindowSource::Table, _) => String::from("from the table of models"),
            (WindowSource::Assumed, _) => String::from("assumed: nothing is known of it"),
            (WindowSource::Configured, _) => String::from("configured"),
        }
    }

    /// The model as `models --json` and the control API print it.
    #[must_use]
    pub fn object(&self) -> Value {
        let calibration = self.belief.calibration();
        json!({
            "endpoint": self.endpoint,
            "model": self.model,
            "window_tokens": self.window().tokens,
            "why": self.why(),
            "ratio": calibration.ratio(),
            "turns": calibration.turns(),
            "at_ms": self.at_ms,
        })
    }
}
