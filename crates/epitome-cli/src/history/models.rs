//! `epitome models`: what is believed of models, and why.

use std::fmt::Write;

use anyhow::Result;
use epitome::{Belief, Calibration, ContextBeta, Evidence, Learned, WindowSource, window_of_with};
use epitome_store::{AnyStore, Beliefs, Store};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::ModelsArgs;
use crate::terminal::tell;
use crate::{Ending, print};

/// What a store holds of one model at one endpoint.
struct Known {
    endpoint: String,
    model: String,
    belief: Belief,
    at_ms: i64,
}

/// The part of a stored belief that is about the window.
#[derive(Deserialize)]
struct StoredWindow {
    belief: Belief,
}

pub(super) async fn run(args: &ModelsArgs) -> Result<Ending> {
    let Some(model) = &args.forget else {
        let store = args.at.open_read_only().await?;
        let known = known(&store).await?;
        store.close().await;
        print(&told(&known, args.at.json))?;
        return Ok(Ending::Done);
    };
    let store = args.at.open().await?;
    let mut forgotten = Vec::new();
    for one in known(&store).await? {
        if one.model == *model && store.forget_belief(&one.endpoint, &one.model).await? {
            forgotten.push(one.endpoint);
        }
    }
    store.close().await;
    if args.at.json {
        print(&(json!({ "model": model, "forgotten": forgotten }).to_string() + "\n"))?;
    } else {
        for endpoint in &forgotten {
            print(&format!("forgot {model} at {endpoint}\n"))?;
        }
    }
    if forgotten.is_empty() {
        tell!("epitome: nothing is believed of {model}; `epitome models` lists the names");
        return Ok(Ending::No);
    }
    Ok(Ending::Done)
}

async fn known(store: &AnyStore) -> Result<Vec<Known>> {
    let mut known = Vec::new();
    for row in store.beliefs().await? {
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
        known.push(Known {
            belief: belief.with_calibration(counts.transpose()?.unwrap_or_default()),
            endpoint: row.endpoint,
            model: row.model,
            at_ms: row.at_ms,
        });
    }
    for row in store.learned_windows().await? {
        let is_known = known
            .iter()
            .any(|one| one.endpoint == row.endpoint && one.model == row.model);
        if !is_known {
            let learned = Learned {
                window_tokens: row.window_tokens,
                evidence: Evidence::Unknown,
            };
            known.push(Known {
                belief: Belief::recalled(Some(learned)),
                endpoint: row.endpoint,
                model: row.model,
                at_ms: row.at_ms,
            });
        }
    }
    Ok(known)
}

fn told(known: &[Known], as_json: bool) -> String {
    if as_json {
        let models: Vec<Value> = known.iter().map(object).collect();
        return json!({ "models": models }).to_string() + "\n";
    }
    known.iter().map(line).collect()
}

impl Known {
    fn window(&self) -> epitome::Window {
        self.belief
            .window(None, window_of_with(&self.model, ContextBeta::None))
    }

    /// Why the window is believed, in words.
    fn why(&self) -> String {
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
}

fn object(known: &Known) -> Value {
    let calibration = known.belief.calibration();
    json!({
        "endpoint": known.endpoint,
        "model": known.model,
        "window_tokens": known.window().tokens,
        "why": known.why(),
        "ratio": calibration.ratio(),
        "turns": calibration.turns(),
        "at_ms": known.at_ms,
    })
}

fn line(known: &Known) -> String {
    let calibration = known.belief.calibration();
    let mut line = format!(
        "{} at {}: {} tokens, {}",
        known.model,
        known.endpoint,
        known.window().tokens,
        known.why()
    );
    if calibration.turns() > 0 {
        let _ = write!(
            line,
            "; counts {:.2} of our estimate over {} plain turns",
            calibration.ratio(),
            calibration.turns()
        );
    }
    line + "\n"
}
