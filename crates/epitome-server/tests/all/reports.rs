//! What the store keeps of the verification of a summary.

use epitome_testkit::{ModelConfig, Script, Wire};
use serde_json::Value;

use crate::support::{Folder, action, assistant, history, pair, request, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_verification_found_is_stored_with_a_compaction() {
    let folder = Folder::new();
    let model = ModelConfig {
        window_tokens: 8_000,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 20,
        },
        ..ModelConfig::default()
    };
    let (_model, proxy) = pair(model, |config| {
        config.window_tokens = Some(8_000);
        config.store = folder.location();
    })
    .await;
    let mut messages = history(1, 16, 400);
    // Behind the task, which stays as it is: only what the summary stands for is counted.
    let named = [
        user("Fix src/session.rs: `expire_at` is 4711 too late."),
        assistant("Done."),
    ];
    messages.splice(2..2, named);
    let received = proxy
        .post(Wire::OpenaiChat, &request(Wire::OpenaiChat, "x", messages))
        .await;
    assert_eq!(action(&received), ("compacted", "hard_line"));
    let rows = folder.compactions().await;
    assert_eq!(rows.len(), 1);
    let record: Value = serde_json::from_str(&rows[0].record).unwrap();
    let kinds = record["report"]["kinds"].as_object().unwrap();
    assert_eq!(kinds.len(), 4);
    for (kind, counts) in kinds {
        let count = |name: &str| counts[name].as_u64().unwrap();
        let known = count("retained") + count("recoverable") + count("missing");
        assert_eq!(count("anchors"), known, "{kind}");
        assert_eq!(count("invented"), 0, "{kind}: all of it is quoted");
    }
    let told = |kind: &str| kinds[kind]["anchors"].as_u64().unwrap();
    assert!(told("path") > 0 && told("identifier") > 0 && told("number") > 0);
}
