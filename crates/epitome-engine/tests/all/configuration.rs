//! An engine as an `epitome.toml` says.

use std::sync::Arc;

use epitome::{PresetName, Reason};
use epitome_config::{Files, Loaded, Sources};
use epitome_engine::Engine;
use epitome_engine::configuration::{ConfigurationError, caller, hooks};
use epitome_testkit::Reply;

use super::support::{GOOD, conversation, replies};

fn loaded(text: &str) -> (Loaded, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("epitome.toml");
    std::fs::write(&path, text).unwrap();
    let sources = Sources {
        files: Files::Named(path),
        ..Sources::default()
    };
    (sources.load().unwrap(), folder)
}

#[tokio::test]
async fn a_file_makes_an_engine_with_its_model_hooks_and_templates() {
    let model = replies(vec![Reply::text(GOOD)]).await;
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("record.md");
    std::fs::write(&template, "Our own words, {{ budget_tokens }} tokens.").unwrap();
    let told = folder.path().join("told");
    let text = format!(
        r#"
window = 40000
[summarizer]
kind = "openai-chat"
url = "{}"
model = "scripted"
stream = false
retries = 0
[summarizer.templates]
record = "{}"
[[hooks]]
on = "after"
command = ["sh", "-c", "cat > {}"]
"#,
        model.base_url(),
        template.display(),
        told.display()
    );
    let (loaded, _folder) = loaded(&text);
    let resolved = loaded.for_agent(None).for_any_model();
    assert_eq!(resolved.settings.preset(), Some(PresetName::Default));
    let engine = Engine::builder()
        .configured(&loaded, &resolved, None)
        .unwrap();
    let engine = engine.build().await.unwrap();
    let talk = engine.create().await.unwrap();
    for message in conversation(40) {
        talk.push(&message).await.unwrap();
    }
    let compaction = talk.compact(None).await.unwrap();
    assert_eq!(compaction.plan.reason, Reason::Manual);
    assert!(
        compaction
            .summary
            .text
            .contains("The change in src/parser.rs goes on.")
    );
    let sent = model.requests()[0].json();
    assert_eq!(sent["stream"], false);
    assert!(
        sent["messages"][0]["content"]
            .as_str()
            .unwrap()
            .starts_with("Our own words")
    );
    engine.shutdown().await;
    let told = std::fs::read_to_string(told).unwrap();
    assert!(
        told.contains("after_compaction") && told.contains("compactedCount"),
        "{told}"
    );
}

#[test]
fn what_is_missing_is_named() {
    let (no_model, _folder) = loaded("[summarizer]\nkind = \"anthropic\"\n");
    let resolved = no_model.for_agent(None).for_any_model();
    let error = caller(&no_model.summarizer, &resolved.settings, None).unwrap_err();
    assert!(matches!(error, ConfigurationError::NoModel), "{error}");
    let found = caller(
        &no_model.summarizer,
        &resolved.settings,
        Some("claude-sonnet-4-5"),
    );
    assert_eq!(
        found.unwrap().unwrap().endpoint().model(),
        "claude-sonnet-4-5"
    );
}

#[tokio::test]
async fn a_hook_does_only_what_it_may() {
    let (loaded, _folder) = loaded(
        r#"
[[hooks]]
on = "before_compact"
command = ["sh", "-c", "echo '{\"action\":\"cancel\",\"reason\":\"busy\"}'"]
"#,
    );
    let hooks = hooks(&loaded.hooks).unwrap();
    let context = Arc::default();
    let outcome = hooks.before_compact(Arc::default(), &context).await;
    assert_eq!(outcome.verdict, epitome_engine::hooks::Verdict::Continue);
    assert_eq!(outcome.failures.len(), 1);
    assert!(
        outcome.failures[0].to_string().contains("may_cancel"),
        "{}",
        outcome.failures[0]
    );
}
