//! What a configuration may say, what comes of it, and what is said about a wrong one.

use epitome::reference::vibe::BeforeTurn;
use epitome::settings::{Configuration, DesignSettings, Hint, Key, Settings, SettingsError, Value};
use epitome::{Preset, PresetName, Reason, Threshold, Trigger, WarningCycle, Window};
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::settings_examples::json;
use crate::settings_rows::{keys, sample, table};
use crate::support::property;

pub(crate) fn load(text: &str) -> Result<Configuration, SettingsError> {
    Configuration::load(&json(text))
}

/// The lines of a window in which nothing was counted yet and nothing is uncertain.
fn lines(window: Window) -> Option<epitome::Lines> {
    let belief = epitome::Belief::default();
    let margins = epitome::Margins::default();
    let gauge = belief.gauge(window, margins, None, epitome::OutputCounting::Apart);
    gauge.lines(0)
}

pub(crate) fn problem(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_told_the_nearest() {
    let check = |text: &str, said: &str| assert_eq!(problem(text), said);
    check(
        r#"{"preset": "vibe", "auto_compact_treshold": 1}"#,
        "`auto_compact_treshold` is not a setting: did you mean `auto_compact_threshold`?",
    );
    check(
        r#"{"preset": "openclaw", "memoryFlush": {"sofThresholdTokens": 1}}"#,
        "`memoryFlush.sofThresholdTokens` is not a setting: did you mean `softThresholdTokens`?",
    );
    check(
        r#"{"preset": "openclaw", "memory_flsh": {}}"#,
        "`memory_flsh` is not a setting: did you mean `memory_flush`?",
    );
    check(
        r#"{"preset": "micro", "agents": [{"id": "a", "thresholdPercent": 0.5}]}"#,
        "`agents[0].thresholdPercent` is not a setting: it belongs to the preset `layer`",
    );
    check(r#"{"colour": "red"}"#, "`colour` is not a setting");
    let long = format!(r#"{{"{}": 1}}"#, "wait".repeat(100_000));
    let error = load(&long).unwrap_err();
    assert!(matches!(
        error,
        SettingsError::UnknownKey {
            hint: Hint::Nothing,
            ..
        }
    ));
}

#[test]
fn numbers_may_be_written_as_their_format_does() {
    let window = |text: &str| load(text).unwrap().settings.common.window;
    assert_eq!(window(r#"{"window": 2e5}"#), Some(200_000));
    assert_eq!(window(r#"{"window": "auto"}"#), None);
    assert_eq!(window(r#"{"window": null}"#), None);
    for (preset, key) in keys() {
        let text = match sample(key) {
            Value::Text(text) => text,
            value => value.to_string(),
        };
        assert_eq!(key.value_of(&text), sample(key), "{preset} {}", key.path());
    }
}

#[test]
fn tiers_out_of_order_are_named() {
    let check = |text: &str, said: &str| {
        let error = problem(&format!(r#"{{"preset": "spacebot", {text}}}"#));
        assert_eq!(
            error,
            format!("{said}: tiers go up from background over aggressive to emergency")
        );
    };
    check(
        r#""backgroundThreshold": 0.9"#,
        "`backgroundThreshold` is 0.9, above `aggressive_threshold` at 0.85",
    );
    check(
        r#""aggressive_threshold": 0.9, "emergency_threshold": 0.89"#,
        "`aggressive_threshold` is 0.9, above `emergency_threshold` at 0.89",
    );
    check(
        r#""agents": [{"id": "a", "emergency_threshold": 0.8}]"#,
        "`aggressive_threshold` is 0.85, above `agents[0].emergency_threshold` at 0.8",
    );
    let equal =
        r#"{"preset": "spacebot", "background_threshold": 0.85, "aggressive_threshold": 0.85}"#;
    assert!(load(equal).is_ok());
}

#[test]
fn an_agent_overlays_only_what_it_names() {
    let loaded = load(
        r#"{"preset": "openclaw", "reserveTokensFloor": 30000, "keepRecentTokens": 9000, "agents": [
            {"id": "small", "window": 32000, "memory_flush": {"enabled": false}},
            {"id": "back", "keepRecentTokens": 20000}
        ]}"#,
    )
    .unwrap();
    let own = |id: &str| match &loaded.for_agent(id).design {
        DesignSettings::Openclaw(own) => own.clone(),
        _ => panic!("another preset"),
    };
    assert_eq!(own("small").reserve_tokens_floor, 30_000);
    assert_eq!(own("small").keep_recent_tokens, 9_000);
    assert!(!own("small").memory_flush.enabled && own("back").memory_flush.enabled);
    // What is a default elsewhere is a choice here.
    assert_eq!(own("back").keep_recent_tokens, 20_000);
    assert_eq!(
        loaded.for_agent("small").window(),
        Some(Window::configured(32_000))
    );
    assert_eq!(loaded.for_agent("nobody"), &loaded.settings);
}

#[test]
fn a_configured_threshold_of_zero_or_less_switches_off() {
    let is_due = |text: &str| {
        let settings = load(text).unwrap().settings;
        let window = Window::assumed();
        Preset::from(&settings).is_due(u64::MAX, window, lines(window))
    };
    for number in [i64::MIN, -1, 0] {
        for text in [
            format!(r#"{{"preset": "vibe", "auto_compact_threshold": {number}}}"#),
            format!(r#"{{"preset": "micro", "compaction_threshold_tokens": {number}}}"#),
            format!(r#"{{"threshold": {number}}}"#),
        ] {
            assert!(is_due(&text).is_err(), "{text}");
            assert!(
                is_due(&text.replace(&number.to_string(), "1")).is_ok(),
                "{text}"
            );
        }
        let warned = json(&format!(
            r#"{{"autoCompactThreshold": {number}, "contextWarnings": true}}"#
        ));
        let mut settings = Settings::of(PresetName::Vibe);
        settings.apply(&warned).unwrap();
        let DesignSettings::Vibe(own) = settings.design else {
            panic!("another preset");
        };
        let threshold = Threshold::from_number(own.auto_compact_threshold);
        let mut cycle = WarningCycle::new(threshold, 200_000, own.warnings());
        assert_eq!(cycle.before_turn(u64::MAX), BeforeTurn::Continue);
    }
    assert!(is_due(r#"{"preset": "micro", "compactionEnabled": false}"#).is_err());
}

#[test]
fn contradictory_settings_load_and_are_a_no_op_with_a_reason() {
    for text in [
        r#"{"preset": "openclaw", "window": 16000}"#,
        r#"{"preset": "openclaw", "reserve_tokens": 9000000000000000000}"#,
        r#"{"preset": "layer", "window": 8192}"#,
        r#"{"preset": "layer", "system_reserve": 9223372036854775807, "output_reserve": 9223372036854775807}"#,
        r#"{"threshold": "-300000"}"#,
    ] {
        let settings = load(text).unwrap().settings;
        let preset = Preset::from(&settings);
        let window = settings.window().unwrap_or_else(|| preset.assumed_window());
        let due = preset.is_due(1_000_000, window, lines(window));
        assert_eq!(due, Err(Reason::WindowBelowReserves), "{text}");
    }
}

#[test]
fn our_own_threshold_has_all_forms() {
    let fires = |threshold: &str, tokens: u64| {
        let settings = load(&format!(r#"{{"threshold": {threshold}}}"#))
            .unwrap()
            .settings;
        let preset = Preset::from(&settings);
        let window = Window::configured(200_000);
        preset.is_due(tokens, window, lines(window)).is_ok()
    };
    for (threshold, line) in [
        (r#""75%""#, 150_000),
        ("150000", 150_000),
        (r#""-50000""#, 150_001),
    ] {
        assert!(
            fires(threshold, line) && !fires(threshold, line - 1),
            "{threshold}"
        );
    }
    assert_eq!(
        Preset::from(&load(r#"{"threshold": "auto"}"#).unwrap().settings).trigger,
        Trigger::HardLine
    );
}

/// Trees of any shape that often use names and values that mean something.
fn trees() -> BoxedStrategy<Value> {
    let mut names: Vec<String> = keys().flat_map(|(_, key)| key.spellings()).collect();
    let tables = "preset agents id defaults compaction memoryFlush memory_flush Defaults";
    names.extend(tables.split(' ').map(str::to_owned));
    let words = "auto off 90% -20000 safeguard reference vibe openclaw micro spacebot layer";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Switch),
        any::<i64>().prop_map(Value::Whole),
        (0_i64..200_000).prop_map(Value::Whole),
        any::<f64>().prop_map(Value::Number),
        (0.0..1.0).prop_map(Value::Number),
        select(words.split(' ').collect::<Vec<_>>()).prop_map(|word| Value::Text(word.to_owned())),
        any::<String>().prop_map(Value::Text),
    ];
    let name = prop_oneof![12 => select(names), 1 => any::<String>()];
    let tree = leaf.prop_recursive(4, 40, 6, move |inner| {
        let entries = vec((name.clone(), inner.clone()), 0..6);
        prop_oneof![3 => entries.prop_map(Value::Table), 1 => vec(inner, 0..4).prop_map(Value::List)]
    });
    tree.boxed()
}

#[test]
fn any_tree_loads_or_is_refused() {
    property(1, &(trees(), any::<u64>()), |(tree, tokens)| {
        let own = Configuration::load(&tree);
        let foreign = PresetName::ALL.map(|preset| Configuration::load_reference(preset, &tree));
        for outcome in foreign.into_iter().chain([own]) {
            let Ok(mut loaded) =
                outcome.inspect_err(|error| assert!(!error.to_string().is_empty()))
            else {
                continue;
            };
            let window = loaded.settings.window().unwrap_or(Window::assumed());
            let _ = Preset::from(&loaded.settings).is_due(tokens, window, lines(window));
            loaded.notices.clear();
            assert_eq!(Configuration::load(&loaded.to_value()), Ok(loaded));
        }
    });
}

#[test]
fn what_is_written_out_loads_as_the_same() {
    let (presets, all): (Vec<PresetName>, usize) = (PresetName::ALL.into(), 64);
    let strategy = (
        select(presets),
        vec((0..all, any::<bool>()), 0..12),
        any::<String>(),
    );
    property(1, &strategy, |(preset, chosen, id)| {
        let mut entries = vec![("preset".to_owned(), Value::Text(preset.to_string()))];
        let keys: Vec<&Key> = Settings::of(preset).keys();
        let mut agent = vec![("id".to_owned(), Value::Text(id.clone()))];
        for (at, is_agents) in chosen {
            let key = keys[at % keys.len()];
            let place = if is_agents { &mut agent } else { &mut entries };
            let name = if key.group.is_empty() {
                key.name
            } else {
                key.group
            };
            if !place.iter().any(|(other, _)| other == name) {
                let Value::Table(entry) = table(key, key.name, sample(key)) else {
                    panic!("not a table");
                };
                place.extend(entry);
            }
        }
        entries.push(("agents".to_owned(), Value::List(vec![Value::Table(agent)])));
        let loaded = Configuration::load(&Value::Table(entries)).unwrap();
        assert_eq!(Configuration::load(&loaded.to_value()), Ok(loaded.clone()));
        assert_eq!(loaded.agents().next().unwrap().0, id);
    });
}
