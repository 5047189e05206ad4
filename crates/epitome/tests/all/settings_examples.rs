//! The example configuration of each reference design loads, in its own file form, with the values it names.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use epitome::PresetName;
use epitome::settings::{
    CompactionMode, Configuration, DesignSettings, LayerSettings, MicroSettings, OpenclawSettings,
    Settings, SpacebotSettings, Value, VibeSettings,
};

/// A tree as `serde_json` has it, in ours.
pub(crate) fn tree(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Null,
        Json::Bool(switch) => Value::Switch(*switch),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| Value::Number(number.as_f64().unwrap()), Value::Whole),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(list) => Value::List(list.iter().map(tree).collect()),
        Json::Object(table) => {
            let entry = |(key, value): (&String, _)| (key.clone(), tree(value));
            Value::Table(table.iter().map(entry).collect())
        }
    }
}

pub(crate) fn json(text: &str) -> Value {
    tree(&serde_json::from_str(text).unwrap())
}

fn toml(text: &str) -> Value {
    tree(&toml::from_str(text).unwrap())
}

/// JSON with bare keys, comments, grouped digits and commas at the end.
fn json5(text: &str) -> Value {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').unwrap() + 2,
            '/' => rest.find('\n').unwrap(),
            letter if letter.is_alphanumeric() => rest
                .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
                .unwrap(),
            _ => first.len_utf8(),
        };
        let (token, left) = rest.split_at(length);
        let is_closing = matches!(token, "}" | "]");
        tokens.pop_if(|last| is_closing && last == ",");
        match first {
            '/' => {}
            '0'..='9' => tokens.push(token.replace('_', "")),
            letter if letter.is_alphabetic() && !matches!(token, "true" | "false" | "null") => {
                tokens.push(format!("{token:?}"));
            }
            _ => tokens.push(token.to_owned()),
        }
        rest = left.trim_start();
    }
    json(&tokens.concat())
}

/// The part of a reference text from `start` to `end`; when the texts are not here, that is said and reported.
fn excerpt(file: &str, start: &str, end: &str) -> Option<String> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Ok(text) = std::fs::read_to_string(seeds.join(file)) else {
        let line = format!("DATA-ABSENT settings_examples: no reference text {file}");
        eprintln!("{line}");
        if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
            let mut options = OpenOptions::new();
            let mut report = options.create(true).append(true).open(report).unwrap();
            writeln!(report, "{line}").unwrap();
        }
        return None;
    };
    let (_, text) = text.split_once(start).unwrap();
    Some(text.split_once(end).unwrap().0.to_owned())
}

/// Our own copy of an example, and the original where it is.
fn texts(copy: &str, original: Option<String>) -> impl Iterator<Item = String> {
    std::iter::once(copy.to_owned()).chain(original)
}

#[test]
fn vibe() {
    let example = r#"{"auto_compact_threshold": 200000, "context_warnings": false}"#;
    let original = excerpt(
        "000_0dd03fc3379293a9.txt",
        "## 12. Configuration Reference\n\n```json",
        "```",
    );
    for text in texts(example, original) {
        let loaded = Configuration::load_reference(PresetName::Vibe, &json(&text)).unwrap();
        assert_eq!(loaded.settings, Settings::of(PresetName::Vibe));
        assert_eq!(loaded.notices, []);
    }
    let other = json(r#"{"auto_compact_threshold": -1, "context_warnings": true}"#);
    let loaded = Configuration::load_reference(PresetName::Vibe, &other).unwrap();
    let expect = VibeSettings {
        auto_compact_threshold: -1,
        context_warnings: true,
    };
    assert_eq!(loaded.settings.design, DesignSettings::Vibe(expect));
}

#[test]
fn openclaw() {
    let example = r#"{
      agents: {
        defaults: {
          compaction: {
            mode: "safeguard",
            reserveTokensFloor: 24000,
            maxHistoryShare: 0.5,
            memoryFlush: {
              enabled: true,
              softThresholdTokens: 6000, // earlier than usual
              systemPrompt: "Soon there is less to see.",
              prompt: "Note what should last, or say NO_REPLY.",
            },
          },
        },
      },
    }
    "#;
    let original = excerpt("001_75c6730349a2168f.txt", "```json5\n", "```");
    for text in texts(example, original) {
        let loaded = Configuration::load_reference(PresetName::Openclaw, &json5(&text)).unwrap();
        assert_eq!(loaded.notices, []);
        let DesignSettings::Openclaw(mut own) = loaded.settings.design else {
            panic!("another preset");
        };
        let prompts = [
            own.memory_flush.prompt.take().unwrap(),
            own.memory_flush.system_prompt.take().unwrap(),
        ];
        for prompt in prompts {
            assert!(text.contains(&prompt), "verbatim: {prompt}");
        }
        let mut expect = OpenclawSettings {
            mode: CompactionMode::Safeguard,
            reserve_tokens_floor: 24_000,
            max_history_share: 0.5,
            ..OpenclawSettings::default()
        };
        expect.memory_flush.soft_threshold_tokens = 6_000;
        assert_eq!(own, expect);
        assert_eq!(own.reserve(), 24_000);
    }
}

#[test]
fn micro() {
    let example = r#"{
      "Logging": {"LogLevel": {"Default": "Warning"}},
      "MaxConversationMessages": 40,
      "CompactionThresholdTokens": 60000,
      "ProtectedTailMessages": 8,
      "CompactionEnabled": false,
      "MaxToolResultChars": 20000,
      "ProtectedTailMessage": 3
    }"#;
    let loaded = Configuration::load_reference(PresetName::Micro, &json(example)).unwrap();
    let expect = MicroSettings {
        compaction_threshold_tokens: 60_000,
        protected_tail_messages: 8,
        compaction_enabled: false,
        max_conversation_messages: 40,
        max_tool_result_chars: 20_000,
        ..MicroSettings::default()
    };
    assert_eq!(loaded.settings.design, DesignSettings::Micro(expect));
    let mut said: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    said.sort();
    assert_eq!(
        said,
        [
            "`Logging` is not read here",
            "`ProtectedTailMessage` is not read here: did you mean `ProtectedTailMessages`?",
        ]
    );
}

#[test]
fn spacebot() {
    let example = r#"
        [defaults.compaction]
        background_threshold = 0.80
        aggressive_threshold = 0.85
        emergency_threshold = 0.95

        [[agents]]
        id = "small-model-bot"

        [agents.compaction]
        background_threshold = 0.70
        aggressive_threshold = 0.75
        emergency_threshold = 0.90
    "#;
    let original = excerpt(
        "003_819191304d51bd08.txt",
        "overridden per agent:\n",
        "The context_window setting",
    );
    let tight = DesignSettings::Spacebot(SpacebotSettings {
        background_threshold: 0.70,
        aggressive_threshold: 0.75,
        emergency_threshold: 0.90,
    });
    for text in texts(example, original) {
        let loaded = Configuration::load_reference(PresetName::Spacebot, &toml(&text)).unwrap();
        assert_eq!(loaded.notices, []);
        assert_eq!(loaded.settings, Settings::of(PresetName::Spacebot));
        assert_eq!(loaded.for_agent("small-model-bot").design, tight);
        assert_eq!(loaded.for_agent("another"), &loaded.settings);
    }
}

#[test]
fn spacebot_has_its_window_in_any_table_but_once() {
    let load = |text: &str| Configuration::load_reference(PresetName::Spacebot, &toml(text));
    for text in [
        "context_window = 64000",
        "[defaults]\ncontext_window = 64000",
        "[defaults.compaction]\ncontext_window = 64000",
    ] {
        let loaded = load(text).unwrap();
        assert_eq!(loaded.settings.common.window, Some(64_000), "{text}");
        let agents = "[[agents]]\nid = \"a\"\ncontext_window = 32000\n[[agents]]\nid = \"b\"\n";
        let loaded = load(&format!("{text}\n{agents}")).unwrap();
        assert_eq!(loaded.for_agent("a").common.window, Some(32_000));
        assert_eq!(loaded.for_agent("b").common.window, Some(64_000));
        assert_eq!(loaded.agents().count(), 2);
    }
    let twice = load("context_window = 1\n[defaults]\nmodel_context_limit = 2").unwrap_err();
    assert_eq!(
        twice.to_string(),
        "`context_window` and `defaults.model_context_limit` are the same setting: keep one of them"
    );
}

#[test]
fn layer() {
    let example = r"{
      modelContextLimit: 128_000,
      systemReserve: 2_000,
      outputReserve: 4_000,
      safetyBuffer: 5_000,
      thresholdPercent: 0.80,
      recentMessagesToKeep: 10,
    }";
    let original = excerpt(
        "004_de18f529e65eee2b.txt",
        "const DEFAULT_CONFIG: CompactionConfig = {",
        "};",
    )
    .map(|inner| format!("{{{inner}}}"));
    for text in texts(example, original) {
        let loaded = Configuration::load_reference(PresetName::Layer, &json5(&text)).unwrap();
        let mut expect = Settings::of(PresetName::Layer);
        expect.common.window = Some(128_000);
        assert_eq!(loaded.settings, expect);
        assert_eq!(loaded.notices, []);
        let reference = LayerSettings::default().reference(128_000);
        assert_eq!(reference, epitome::reference::layer::Settings::default());
        assert_eq!(reference.threshold(), 93_600);
    }
}

#[test]
fn a_slip_on_the_way_to_the_settings_is_noticed() {
    let notices = |preset, text: &str| {
        let loaded = Configuration::load_reference(preset, &json(text)).unwrap();
        assert_eq!(loaded.settings, Settings::of(preset));
        let said = loaded.notices.iter().map(ToString::to_string);
        said.collect::<Vec<_>>()
    };
    assert_eq!(
        notices(
            PresetName::Openclaw,
            r#"{"agents": {"default": {"compaction": {"mode": "x"}}}}"#
        ),
        ["`agents.default` is not read here: did you mean `defaults`?"]
    );
    assert_eq!(
        notices(
            PresetName::Spacebot,
            r#"{"defaults": {"max_turns": 10, "compactions": {}}}"#
        ),
        [
            "`defaults.compactions` is not read here: did you mean `compaction`?",
            "`defaults.max_turns` is not read here",
        ]
    );
    assert_eq!(
        notices(
            PresetName::Vibe,
            r#"{"maxHistoryShare": 0.4, "memoryFlush": {"enabled": 1}}"#
        ),
        [
            "`maxHistoryShare` is not read here: it belongs to the preset `openclaw`",
            "`memoryFlush` is not read here",
        ]
    );
}
