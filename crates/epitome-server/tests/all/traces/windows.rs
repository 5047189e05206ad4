//! A2, B6: what teaches a window, and whose word counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use epitome_testkit::{Answer, ModelConfig, Refuses, Reply, ScriptedModel, Wire};
use serde_json::json;

use super::rig::{Rig, Talk, server, tool};
use crate::support::{Folder, Proxy, config, user};

const TABLE: &str = "claude-haiku-4-5";

/// A server of 200,000 that gives `reply` while the switch is on.
async fn with_switch(
    reply: impl Fn(&serde_json::Value) -> Reply + Send + Sync + 'static,
) -> (Rig, Arc<AtomicBool>) {
    let switch = Arc::new(AtomicBool::new(true));
    let is_on = Arc::clone(&switch);
    let model = ModelConfig {
        refuses: Refuses::by(move |asked| {
            is_on.load(Ordering::Relaxed).then(|| reply(asked.request))
        }),
        ..server(200_000)
    };
    (Rig::start(model, |_| {}).await, switch)
}

/// A2: a refusal that sends the request back says nothing by what the user wrote in it.
pub(super) async fn a2_an_echo_of_words_about_an_overflow() {
    let (rig, switch) = with_switch(|request| {
        let body = json!({"detail": [{
            "type": "string_type", "loc": ["body", "messages", 1, "content"],
            "msg": "Input should be a valid string", "input": request["messages"],
        }]});
        Reply::raw(422, "application/json", body.to_string())
    })
    .await;
    let mut talk = Talk::of_size(Wire::OpenaiChat, "my-model", 1, 12_000, 1_500);
    talk.messages
        .push(json!({"role": "assistant", "content": "Go on."}));
    talk.messages.push(user(
        "Yesterday the server said: This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens. Please reduce the length of the messages. What does that mean?",
    ));
    let refused = rig.ask(&talk).await;
    assert_eq!(refused.received.status, 422, "the server's own answer");
    assert_eq!(refused.sent.len(), 1, "nothing else is tried");
    switch.store(false, Ordering::Relaxed);
    let outcome = rig.ask(&talk).await;
    outcome.assert_bare("the same conversation");
    let other = Talk::of_size(Wire::OpenaiChat, "my-model", 2, 60_000, 3_000);
    rig.ask(&other).await.assert_bare("another conversation");
}

/// A2: an answer that ended at the window was an answer.
pub(super) async fn a2_a_stop_reason_on_a_good_answer() {
    for is_streamed in [false, true] {
        let (rig, switch) = with_switch(|_| {
            Reply::answer(Answer {
                text: Some("All is well.".into()),
                stop_reason: Some("model_context_window_exceeded".into()),
                ..Answer::default()
            })
        })
        .await;
        let mut talk = Talk::of_size(Wire::Anthropic, TABLE, 1, 30_000, 1_500);
        let mut request = talk.request();
        request["stream"] = json!(is_streamed);
        let outcome = rig.post(Wire::Anthropic, request).await;
        outcome.assert_bare("the answer itself");
        switch.store(false, Ordering::Relaxed);
        talk.answered(1_000);
        rig.ask(&talk).await.assert_bare("the next turn");
        let other = Talk::of_size(Wire::Anthropic, TABLE, 2, 60_000, 3_000);
        rig.ask(&other).await.assert_bare("another conversation");
    }
}

/// A2: a refusal without numbers, far below the window, teaches none.
pub(super) async fn a2_a_refusal_without_numbers_of_a_small_request() {
    let (rig, switch) = with_switch(|_| {
        let words = "Input is too long for requested model.";
        Reply::error(400, "invalid_request_error", words)
    })
    .await;
    let talk = Talk::of_size(Wire::Anthropic, TABLE, 1, 20_000, 1_000);
    let refused = rig.ask(&talk).await;
    assert_eq!(refused.received.status, 400);
    switch.store(false, Ordering::Relaxed);
    let other = Talk::of_size(Wire::Anthropic, TABLE, 2, 60_000, 3_000);
    rig.ask(&other).await.assert_bare("60,000 of 200,000");
}

/// A window far below the believed one, of a server that never says how long a request may be: where the shorter try was refused
/// too, the next request is made shorter still, until one is taken; from then on the client sees no error.
pub(super) async fn a_small_window_without_numbers_is_found_in_the_end() {
    let model = ModelConfig {
        refuses: Refuses::by(|asked| {
            let is_long = asked.request.to_string().len() > 24_000;
            let words = "Input is too long for requested model.";
            is_long.then(|| Reply::error(400, "invalid_request_error", words))
        }),
        ..server(200_000)
    };
    let rig = Rig::start(model, |_| {}).await;
    let mut talk = Talk::of_size(Wire::OpenaiChat, "nobody-knows-me", 1, 30_000, 1_000);
    let mut tries = 0;
    loop {
        let outcome = rig.ask(&talk).await;
        assert!(outcome.sent.len() <= 2, "one more call at the most");
        if outcome.received.status == 200 {
            break;
        }
        tries += 1;
        assert!(tries < 6, "the client sends again and again for nothing");
    }
    for turn in 0..4 {
        talk.answered(200);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("turn {turn} after it was found"));
    }
    let other = Talk::of_size(Wire::OpenaiChat, "nobody-knows-me", 2, 4_000, 500);
    rig.ask(&other)
        .await
        .assert_bare("another conversation that is short enough");
}

/// A2: the length of a name is not the length of a conversation.
pub(super) async fn a2_the_length_of_a_tools_name() {
    let (rig, switch) = with_switch(|_| {
        let words = "Malformed input request: #/tools/0/name: expected maxLength: 64, actual: 71, please reformat your input and try again.";
        Reply::raw(400, "application/json", json!({"message": words}).to_string())
    })
    .await;
    let wire = Wire::OpenaiChat;
    let mut talk = Talk::of_size(wire, "bedrock-model", 1, 10_000, 1_000);
    talk.tools = vec![tool(wire, &"reads_a_file_".repeat(6)[..71])];
    let refused = rig.ask(&talk).await;
    assert_eq!(refused.received.status, 400);
    assert_eq!(refused.sent.len(), 1, "nothing else is tried");
    switch.store(false, Ordering::Relaxed);
    talk.tools.clear();
    rig.ask(&talk).await.assert_bare("the same conversation");
    let other = Talk::of_size(wire, "bedrock-model", 2, 60_000, 3_000);
    rig.ask(&other).await.assert_bare("another conversation");
}

/// A2: what was learned from a smaller window is forgotten when something larger has passed.
pub(super) async fn a2_a_server_restarted_with_a_larger_window() {
    let folder = Folder::new();
    let model = ScriptedModel::start(server(8_192)).await;
    let mut config = config(model.address());
    config.store = folder.location();
    let proxy = Proxy::start(config.clone()).await;
    let rig = Rig { model, proxy };
    let wire = Wire::OpenaiChat;
    let talk = Talk::of_size(wire, "llama", 1, 10_000, 500);
    let helped = rig.ask(&talk).await;
    helped.assert_answered("an overflow is helped");
    assert_eq!(helped.sent.len(), 2, "one refusal, one better try");
    rig.model.set_window(32_768);
    // One message of 14,000 tokens leaves nothing to take away: it goes through, and now it fits.
    let mut whole = Talk::new(wire, "llama", 2);
    whole.max_tokens = 500;
    whole.messages = vec![user(whole.words(14_000))];
    rig.ask(&whole).await.assert_bare("14,000 in one message");
    let other = Talk::of_size(wire, "llama", 3, 12_500, 500);
    rig.ask(&other)
        .await
        .assert_bare("12,500 after 14,000 passed");
    let Rig { model, proxy } = rig;
    proxy.stop().await;
    let proxy = Proxy::start(config).await;
    let rig = Rig { model, proxy };
    let other = Talk::of_size(wire, "llama", 4, 12_500, 500);
    rig.ask(&other)
        .await
        .assert_bare("12,500 after a restart of the proxy");
}

/// B6: what the user configured wins over the table, upwards.
pub(super) async fn b6_a_configured_window_raises_the_tables() {
    let rig = Rig::of_window(server(1_000_000)).await;
    let talk = Talk::of_size(Wire::Anthropic, TABLE, 1, 260_000, 10_000);
    rig.ask(&talk).await.assert_bare("260,000 of 1,000,000");
}

/// B6: and downwards.
pub(super) async fn b6_a_configured_window_lowers_the_tables() {
    let rig = Rig::of_window(server(50_000)).await;
    let talk = Talk::of_size(Wire::Anthropic, TABLE, 1, 60_000, 2_000);
    let outcome = rig.ask(&talk).await;
    outcome.assert_compacted("60,000 of 50,000");
    assert!(outcome.true_tokens() < 50_000);
}

/// What a name that the table must know does: no refusal, and nothing is touched that fits.
async fn known(wire: Wire, name: &str, window: u64, fits: u64, too_large: u64) {
    let rig = Rig::start(server(window), |_| {}).await;
    let talk = Talk::of_size(wire, name, 1, fits, fits / 20);
    rig.ask(&talk)
        .await
        .assert_bare(&format!("{name}: {fits} of {window}"));
    let talk = Talk::of_size(wire, name, 2, too_large, too_large / 20);
    let outcome = rig.ask(&talk).await;
    outcome.assert_compacted(&format!("{name}: {too_large} of {window}"));
}

/// B6: a small window is known before anybody was refused.
pub(super) async fn b6_gpt_4_is_known() {
    known(Wire::OpenaiChat, "gpt-4", 8_192, 4_000, 10_000).await;
}

/// B6.
pub(super) async fn b6_gpt_5_1_codex_is_known() {
    known(
        Wire::OpenaiResponses,
        "gpt-5.1-codex",
        400_000,
        150_000,
        410_000,
    )
    .await;
}

/// B6.
pub(super) async fn b6_claude_opus_4_1_is_known() {
    known(
        Wire::Anthropic,
        "claude-opus-4-1-20250805",
        200_000,
        150_000,
        210_000,
    )
    .await;
}

/// B6.
pub(super) async fn b6_a_name_of_bedrock_is_known() {
    let name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    known(Wire::Anthropic, name, 200_000, 150_000, 210_000).await;
}
