//! The file that `init` writes, and the example configurations of the reference designs in the form of this file.

use epitome::PresetName;
use epitome::settings::{
    CompactionMode, DesignSettings, LayerSettings, MicroSettings, Settings, SpacebotSettings,
};
use epitome_config::{Memory, Server, Summarizer, example};

use crate::support::load;

#[test]
fn what_init_writes_are_the_defaults_commented_or_not() {
    for preset in PresetName::ALL {
        let text = example(preset);
        // A comment without a space is a setting.
        let live: String = text
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        assert_ne!(text, live);
        for text in [&text, &live] {
            let loaded = load(text);
            let resolved = loaded.for_agent(None).for_any_model();
            assert_eq!(resolved.settings, Settings::of(preset), "{text}");
            assert_eq!(loaded.summarizer, Summarizer::default());
            assert_eq!(loaded.memory, Memory::default());
            assert_eq!(loaded.server, Server::default());
            assert_eq!(loaded.hooks, []);
        }
        let loaded = load(&live);
        for entry in loaded.values() {
            assert!(
                !entry.origin.is_default(),
                "{preset}: {} is not in it",
                entry.path
            );
        }
        assert!(text.lines().all(|line| line.chars().count() <= 120));
    }
}

#[test]
fn vibe() {
    let loaded =
        load("preset = \"vibe\"\nauto_compact_threshold = 200000\ncontext_warnings = false");
    assert_eq!(
        loaded.for_agent(None).for_any_model().settings,
        Settings::of(PresetName::Vibe)
    );
}

#[test]
fn openclaw() {
    let loaded = load(
        r#"
            preset = "openclaw"
            [agents.defaults.compaction]
            mode = "safeguard"
            reserveTokensFloor = 24000
            maxHistoryShare = 0.5
            [agents.defaults.compaction.memoryFlush]
            enabled = true
            softThresholdTokens = 6000
            systemPrompt = "Soon there is less to see."
            prompt = "Note what should last, or say NO_REPLY."
        "#,
    );
    let settings = loaded.for_agent(Some("any")).for_any_model().settings;
    let DesignSettings::Openclaw(own) = settings.design else {
        panic!("another preset");
    };
    assert_eq!(own.mode, CompactionMode::Safeguard);
    assert_eq!((own.reserve(), own.max_history_share), (24_000, 0.5));
    assert_eq!(own.memory_flush.soft_threshold_tokens, 6_000);
    assert!(own.memory_flush.prompt.is_some() && own.memory_flush.system_prompt.is_some());
}

#[test]
fn micro() {
    let loaded = load(
        r#"
            preset = "micro"
            MaxConversationMessages = 40
            CompactionThresholdTokens = 60000
            ProtectedTailMessages = 8
            CompactionEnabled = false
            MaxToolResultChars = 20000
        "#,
    );
    let expected = MicroSettings {
        compaction_threshold_tokens: 60_000,
        protected_tail_messages: 8,
        compaction_enabled: false,
        max_conversation_messages: 40,
        max_tool_result_chars: 20_000,
        ..MicroSettings::default()
    };
    let settings = loaded.for_agent(None).for_any_model().settings;
    assert_eq!(settings.design, DesignSettings::Micro(expected));
}

#[test]
fn spacebot() {
    let loaded = load(
        r#"
            preset = "spacebot"
            [defaults.compaction]
            background_threshold = 0.80
            aggressive_threshold = 0.85
            emergency_threshold = 0.95
            [[agents]]
            id = "small-model-bot"
            context_window = 32000
            [agents.compaction]
            background_threshold = 0.70
            aggressive_threshold = 0.75
            emergency_threshold = 0.90
        "#,
    );
    let tight = DesignSettings::Spacebot(SpacebotSettings {
        background_threshold: 0.70,
        aggressive_threshold: 0.75,
        emergency_threshold: 0.90,
    });
    let small = loaded.for_agent(Some("small-model-bot")).for_any_model();
    assert_eq!(
        (small.settings.design, small.window.tokens),
        (tight, 32_000)
    );
    let other = loaded.for_agent(Some("other")).for_any_model();
    assert_eq!(other.settings, Settings::of(PresetName::Spacebot));
}

#[test]
fn layer() {
    let loaded = load(
        r#"
            preset = "layer"
            modelContextLimit = 128_000
            systemReserve = 2_000
            outputReserve = 4_000
            safetyBuffer = 5_000
            thresholdPercent = 0.80
            recentMessagesToKeep = 10
        "#,
    );
    let resolved = loaded.for_agent(None).for_model("whatever");
    assert_eq!(
        resolved.settings.design,
        DesignSettings::Layer(LayerSettings::default())
    );
    assert_eq!(resolved.window.tokens, 128_000);
}
