//! A conversation that outgrows its window, sent through a real proxy on this machine to a provider that is made up.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use epitome::PresetName;
use epitome::settings::Settings;
use epitome_server::{
    Config, ConfiguredWindows, INSPECTION_LIMIT_BYTES, Mode, Pruning, Server, StoreLocation,
    TenantSettings,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::http;
use crate::clock::within;

/// The window of the canary's model, which its conversation outgrows several times.
const WINDOW_TOKENS: u64 = 4_000;
const TURNS: usize = 60;
/// What has to come through word for word.
const RULE: &str = "Never touch the file canary.env, whatever happens.";
const PATIENCE: Duration = Duration::from_secs(30);
const ANSWER: &str = r#"{"id":"c","object":"chat.completion","model":"canary","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"chirp"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;

/// Sends it, and says how it arrived.
pub(super) async fn fly() -> Result<String> {
    let provider = TcpListener::bind(("127.0.0.1", 0)).await?;
    let upstream: ::http::Uri = format!("http://{}", provider.local_addr()?).parse()?;
    let server = Server::bind(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        openai_upstream: Some(upstream),
        anthropic_upstream: None,
        store: StoreLocation::None,
        window_tokens: Some(WINDOW_TOKENS),
        windows: ConfiguredWindows::none(),
        settings: Settings::of(PresetName::default()),
        summariser: None,
        hooks: epitome_engine::Hooks::default(),
        mode: Mode::Act,
        pruning: Pruning::Off,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
        tenants: TenantSettings::default(),
    })
    .await?;
    let address = server.address();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = server.run(async move {
        let _ = ended.await;
    });
    let flight = async {
        let body = conversation().to_string();
        let path = "/v1/chat/completions";
        let both = async {
            tokio::join!(
                http::post(address, path, &body),
                http::answer_one(provider, ANSWER)
            )
        };
        let arrived = within(PATIENCE, both).await;
        let _ = end.send(());
        arrived
    };
    let (served, flown) = tokio::join!(serving, flight);
    served?;
    let (answer, asked) = flown.context("no answer in time")?;
    let (answer, asked) = (answer?, asked?);
    let action = answer.header("x-epitome-action");
    if answer.status != 200 || !answer.body.contains("chirp") || action != "compacted" {
        bail!("status {}, action {action:?}", answer.status);
    }
    if !asked.contains(RULE) {
        bail!("the user's rule was lost on the way");
    }
    let sizes = answer.header("x-epitome-tokens").replace(';', " to ");
    Ok(format!(
        "a conversation above its window was shortened from {sizes} tokens, and the user's rule came through"
    ))
}

fn conversation() -> Value {
    let mut messages = vec![json!({"role": "user", "content": RULE})];
    for turn in 0..TURNS {
        let words = "the tide went out and came in again, ".repeat(12);
        messages.push(json!({"role": "assistant", "content": format!("Note {turn}: {words}")}));
        messages.push(json!({"role": "user", "content": format!("And note {}?", turn + 1)}));
    }
    json!({"model": "canary", "messages": messages})
}
