//! `epitome models`: what is believed of models, and why.

use anyhow::Result;
use epitome_engine::archive::{BelievedModel, believed_models};
use epitome_engine::known_models::stored_endpoint;
use epitome_store::{Beliefs, Store};
use serde_json::{Value, json};

use crate::args::ModelsArgs;
use crate::terminal::{Page, counted, grouped, tell};
use crate::{Ending, print};

pub(super) async fn run(args: &ModelsArgs) -> Result<Ending> {
    let Some(model) = &args.forget else {
        let store = args.at.open_read_only().await?;
        let known = believed_models(&store, &args.at.tenant).await?;
        store.close().await;
        match args.at.json {
            true => print(&(object(&known).to_string() + "\n"))?,
            false => page(&known).print()?,
        }
        if known.is_empty() {
            tell!(
                "epitome: no model was asked through a proxy yet; until then windows are those of the table, or --window"
            );
        }
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

fn object(known: &[BelievedModel]) -> Value {
    let models: Vec<Value> = known.iter().map(BelievedModel::object).collect();
    json!({ "models": models })
}

fn page(known: &[BelievedModel]) -> Page {
    let mut page = Page::default();
    for known in known {
        let calibration = known.belief.calibration();
        let tokens = grouped(known.window().tokens);
        page.heading(format!("{}: {tokens} tokens", known.model));
        page.line(format!("  {}", known.why()));
        page.line(format!("  at {}", known.endpoint));
        if calibration.turns() > 0 {
            page.line(format!(
                "  counts {:.2} of our estimate, over {}",
                calibration.ratio(),
                counted(u64::from(calibration.turns()), "plain turn")
            ));
        }
    }
    page
}
