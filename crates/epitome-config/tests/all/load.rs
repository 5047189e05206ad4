//! What comes of a file.

use epitome::PresetName;
use epitome::settings::{DesignSettings, Settings};
use epitome_config::{HookEvent, KeySource, RequestForm, Sources, SummarizerKind};

use crate::support::{Folder, load, named};

#[test]
fn without_anything_there_are_the_defaults() {
    let loaded = Sources::default().load().unwrap();
    let resolved = loaded.for_agent(None).for_any_model();
    assert_eq!(resolved.settings, Settings::of(PresetName::Default));
    assert_eq!(resolved.window.tokens, 128_000);
    assert!(loaded.values().all(|entry| entry.origin.is_default()));
    assert_eq!(loaded.warnings, []);
}

#[test]
fn every_section_is_read() {
    let folder = Folder::new();
    let file = folder.write(
        "epitome.toml",
        r#"
            preset = "openclaw"
            reserveTokens = 30_000
            [compaction]
            keep_recent_tokens = 9000
            [compaction.memory_flush]
            enabled = false
            [summarizer]
            kind = "openai-chat"
            url = "http://127.0.0.1:8080/v1"
            model = "small"
            key_env = "MODEL_KEY"
            form = "aligned"
            callTimeoutSeconds = 30
            [summarizer.spend]
            hour_usd = 2
            [summarizer.templates]
            seven_sections = "templates/seven.md"
            [memory]
            folder = "notes"
            flush = false
            [[hooks]]
            on = "before_compact"
            command = ["review", "--fast"]
            may_cancel = true
            [[hooks]]
            on = "after"
            command = ["tell"]
            timeout_seconds = 3
            [server]
            listen = "127.0.0.1:9000"
            store = "none"
            observe = true
        "#,
    );
    let loaded = named(file).load().unwrap();
    let settings = loaded.for_agent(None).for_any_model().settings;
    let DesignSettings::Openclaw(own) = settings.design else {
        panic!("another preset");
    };
    assert_eq!(
        (own.reserve_tokens, own.keep_recent_tokens),
        (30_000, 9_000)
    );
    assert!(!own.memory_flush.enabled);
    let summarizer = &loaded.summarizer;
    assert_eq!(summarizer.kind, SummarizerKind::OpenAiChat);
    assert_eq!(summarizer.form, RequestForm::Aligned);
    assert_eq!(
        summarizer.key(),
        Some(KeySource::Variable("MODEL_KEY".to_owned()))
    );
    assert_eq!(summarizer.call_timeout_seconds, 30);
    assert_eq!(summarizer.operation_timeout_seconds, 720);
    assert_eq!(summarizer.spend.hour_usd, Some(2.0));
    let template = folder.path().join("templates/seven.md");
    assert_eq!(summarizer.templates.get("seven_sections"), Some(&template));
    assert_eq!(loaded.memory.folder, Some(folder.path().join("notes")));
    assert_eq!(loaded.memory.flush, Some(false));
    let [first, second] = loaded.hooks.as_slice() else {
        panic!("{:?}", loaded.hooks);
    };
    assert_eq!(first.on, HookEvent::BeforeCompact);
    assert_eq!(first.command, ["review", "--fast"]);
    assert!(first.may_cancel && !second.may_cancel);
    assert_eq!((first.timeout_seconds, second.timeout_seconds), (10, 3));
    assert_eq!(loaded.server.listen.port(), 9000);
    assert_eq!(loaded.server.store.as_ref().unwrap().expose(), "none");
    assert!(loaded.server.observe && !loaded.server.repair);
}

#[test]
fn agents_and_models_overlay_each_other() {
    let loaded = load(
        r#"
            window = 100000
            on_failure = "reference"
            [models."gpt-*"]
            window = 200000
            wait = true
            [models."gpt-5*"]
            window = 300000
            [models.gpt-5-mini]
            window = 400000
            [agents.small]
            window = 32000
            preset = "spacebot"
            background_threshold = 0.7
            [agents.small.models."gpt-5*"]
            window = 50000
            [agents.other]
            overflow_attempts = 1
        "#,
    );
    let window = |agent, model| loaded.for_agent(agent).for_model(model).window.tokens;
    assert_eq!(window(None, "claude"), 100_000);
    assert_eq!(window(None, "gpt-4o"), 200_000);
    assert_eq!(window(None, "GPT-5-nano"), 300_000);
    assert_eq!(window(None, "gpt-5-mini"), 400_000);
    assert_eq!(window(Some("nobody"), "gpt-5-mini"), 400_000);
    assert_eq!(window(Some("small"), "gpt-4o"), 32_000);
    assert_eq!(window(Some("small"), "gpt-5"), 50_000);
    let small = loaded.for_agent(Some("small")).for_model("gpt-5").settings;
    assert_eq!(small.preset(), Some(PresetName::Spacebot));
    assert!(small.common.wait, "every pattern that matches is heard");
    assert_eq!(loaded.agents(), ["other", "small"]);
}

#[test]
fn a_long_file_loads_at_once() {
    let agent = |number| format!("[agents.a{number}]\npreset = \"spacebot\"\nwait = true\n");
    let text: String = (0..2_000).map(agent).collect();
    let loaded = load(&text);
    assert_eq!(loaded.agents().len(), 2_000);
    let last = loaded.for_agent(Some("a1999")).for_model("x").settings;
    assert!(last.common.wait && last.preset() == Some(PresetName::Spacebot));
}
