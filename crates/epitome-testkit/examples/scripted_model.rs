//! Runs the scripted model until it is interrupted, for manual use and load tests.
//!
//! `cargo run --release -p epitome-testkit --example scripted_model -- --port 8080 --window 200000 [--unchecked]`

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use epitome_testkit::{ModelConfig, ScriptedModel};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut port = 0_u16;
    let mut config = ModelConfig::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => port = value(&mut arguments, "--port")?,
            "--window" => config.window_tokens = value(&mut arguments, "--window")?,
            "--unchecked" => config.unchecked = true,
            other => bail!("unknown option {other}; known: --port N, --window TOKENS, --unchecked"),
        }
    }
    config.keeps_records = false;
    let model = ScriptedModel::bind(SocketAddr::from(([127, 0, 0, 1], port)), config)
        .await
        .context("the port is not free")?;
    announce(&model);
    tokio::signal::ctrl_c().await?;
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "whoever starts it needs to know the address"
)]
fn announce(model: &ScriptedModel) {
    println!("{}", model.base_url());
}

fn value<T: std::str::FromStr>(
    arguments: &mut impl Iterator<Item = String>,
    option: &str,
) -> anyhow::Result<T> {
    arguments
        .next()
        .and_then(|value| value.parse().ok())
        .with_context(|| format!("{option} needs a number"))
}
