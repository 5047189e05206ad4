//! The provider that real clients are driven against: `cargo xtask agents` starts it.
//!
//! `upstream --window TOKENS [--faults] [--bodies FOLDER]` prints its address, answers until its standard input ends, then prints what it
//! made of each request, one JSON object a line; the requests themselves go to FOLDER. It plays a model that works off orders (see [`script`]), counts in
//! o200k ([`count`]), and refuses what the three providers refuse, in their words.

#[path = "upstream/count.rs"]
mod count;
#[path = "upstream/report.rs"]
mod report;
#[path = "upstream/script.rs"]
mod script;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use epitome_testkit::{Asked, Chunking, Counts, Fault, Faults, ModelConfig, ScriptedModel};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever starts it reads this")]
async fn main() -> anyhow::Result<()> {
    // What a request refers to belongs to it, and only the hooks see that.
    let rules: Arc<Mutex<BTreeMap<usize, Vec<u64>>>> = Arc::default();
    let seen = Arc::clone(&rules);
    let count = move |asked: Asked<'_>| {
        let found = script::rules(&script::texts(asked.request));
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(asked.number, found);
        count::tokens(asked.wire, asked.request)
    };
    let mut config = ModelConfig {
        chunking: Chunking::Events,
        counts: Counts::by(count),
        keeps_answers: true,
        script: script::script(),
        ..ModelConfig::default()
    };
    let mut bodies = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--window" => {
                let value = arguments.next().and_then(|value| value.parse().ok());
                config.window_tokens = value.context("--window needs a number of tokens")?;
            }
            "--faults" => config.faults = faults(),
            "--bodies" => bodies = arguments.next().map(PathBuf::from),
            other => bail!("unknown option {other}; see the top of this file"),
        }
    }
    let window_tokens = config.window_tokens;
    let model = ScriptedModel::bind(SocketAddr::from(([127, 0, 0, 1], 0)), config).await?;
    println!("{}", model.base_url());
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    let rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
    for request in model.requests() {
        if let Some(folder) = &bodies {
            std::fs::write(
                folder.join(format!("{}.json", request.number)),
                &request.body,
            )?;
        }
        let found = rules.get(&request.number).map_or(&[][..], Vec::as_slice);
        if let Some(line) = report::line(&request, found, window_tokens) {
            println!("{line}");
        }
    }
    Ok(())
}

/// What goes wrong at a provider on a bad day, at numbers far enough from each other that one retry is enough.
fn faults() -> Faults {
    Faults::none()
        .on(3, Fault::ServerError)
        .on(8, Fault::Overloaded)
        .on(12, Fault::Cut)
        .on(17, Fault::Overloaded)
        .on(21, Fault::ServerError)
        .on(26, Fault::Cut)
}
