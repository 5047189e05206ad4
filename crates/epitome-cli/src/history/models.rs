//! `epitome models`: what is believed of models, and why.

use std::fmt::Write;

use anyhow::Result;
use epitome_engine::archive::{BelievedModel, believed_models};
use epitome_engine::known_models::stored_endpoint;
use epitome_store::{Beliefs, Store};
use serde_json::{Value, json};

use crate::args::ModelsArgs;
use crate::terminal::tell;
use crate::{Ending, print};

pub(super) async fn run(args: &ModelsArgs) -> Result<Ending> {
    let Some(model) = &args.forget else {
        let store = args.at.open_read_only().await?;
        let known = believed_models(&store, &args.at.tenant).await?;
        store.close().await;
        print(&told(&known, args.at.json))?;
        return Ok(Ending::Done);
    };
    let store = args.at.open().await?;
    let mut forgotten = Vec::new();
    for one in believed_models(&store, &args.at.tenant).await? {
        let endpoint = stored_endpoint(&args.at.tenant, &one.endpoint);
        if one.model == *model && store.forget_belief(&endpoint, &one.model).await? {
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

fn told(known: &[BelievedModel], as_json: bool) -> String {
    if as_json {
        let models: Vec<Value> = known.iter().map(BelievedModel::object).collect();
        return json!({ "models": models }).to_string() + "\n";
    }
    known.iter().map(line).collect()
}

fn line(known: &BelievedModel) -> String {
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
