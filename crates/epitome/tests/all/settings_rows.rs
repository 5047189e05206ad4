//! The table of settings, row by row: default, bounds, names, kind.

use epitome::settings::{Bounds, DesignSettings, Key, Kind, Settings, SettingsError, Value};
use epitome::{Preset, PresetName};

use crate::settings::{load, problem};

/// A table with one setting, in the group it belongs to.
pub(crate) fn table(key: &Key, written: &str, value: Value) -> Value {
    let inner = Value::Table(vec![(written.to_owned(), value)]);
    match key.group {
        "" => inner,
        group => Value::Table(vec![(group.to_owned(), inner)]),
    }
}

pub(crate) fn keys() -> impl Iterator<Item = (PresetName, &'static Key)> {
    PresetName::ALL.into_iter().flat_map(|preset| {
        Settings::of(preset)
            .keys()
            .into_iter()
            .map(move |key| (preset, key))
    })
}

/// A value that fits and that no default is.
pub(crate) fn sample(key: &Key) -> Value {
    match (key.kind, key.bounds) {
        (Kind::Switch, _) => Value::Switch(true),
        (Kind::Whole, _) => Value::Whole(12_345),
        (Kind::Number, Bounds::Within(_, most)) => Value::Number(most),
        (Kind::Number, _) => Value::Number(0.85),
        (Kind::Text, _) => Value::Text("auto".to_owned()),
        (Kind::Choice(words), _) => Value::Text(words[1].to_owned()),
        (Kind::Threshold, _) => Value::Text("87.5%".to_owned()),
        (kind, _) => panic!("no sample of {kind:?}"),
    }
}

/// A row of the table: `name = default, bounds (aliases)`.
fn row((key, value): (&Key, Value)) -> String {
    let bounds = match key.bounds {
        Bounds::Any => String::new(),
        bounds => format!(", {bounds}"),
    };
    let aliases = match key.aliases {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    let value = match value {
        Value::Text(text) => text,
        value => value.to_string(),
    };
    format!("{} = {value}{bounds}{aliases}", key.path())
}

#[test]
fn every_default_bound_and_alias() {
    let check = |preset: PresetName, common: [&str; 3], own: &[&str]| {
        let [attempts, tokens, temperature] = common;
        let attempts = format!("overflow_attempts = {attempts}, at least 0");
        let tokens = format!("summary_tokens = {tokens}, at least 1");
        let temperature = format!("summary_temperature = {temperature}, from 0 to 2");
        // PRESETS 10: four of the references wait for their model.
        let waits = !matches!(preset, PresetName::Default | PresetName::Spacebot);
        let wait = format!("wait = {waits}");
        let mut expect = vec![
            "window = auto, from 1 to 1000000000000 (context_window, model_context_limit)",
            "on_failure = ladder",
            &attempts,
            &wait,
            &tokens,
            &temperature,
            "summary_model = null (compaction_model)",
        ];
        expect.extend(own);
        let rows: Vec<String> = Settings::of(preset).entries().map(row).collect();
        assert_eq!(rows, expect, "{preset}");
    };
    check(
        PresetName::Default,
        ["3", "auto", "auto"],
        &[
            "threshold = auto",
            "reserve_tokens = 20000, at least 0",
            "prepare_share = 0.85, above 0 and at most 1",
        ],
    );
    check(
        PresetName::Vibe,
        ["3", "8000", "auto"],
        &[
            "auto_compact_threshold = 200000",
            "context_warnings = false",
        ],
    );
    check(
        PresetName::Openclaw,
        ["1", "auto", "auto"],
        &[
            "mode = default",
            "reserve_tokens = 16384, at least 0",
            "reserve_tokens_floor = 20000, at least 0",
            "keep_recent_tokens = 20000, at least 1",
            "max_history_share = 0.5, from 0.1 to 0.9",
            "memory_flush.enabled = true",
            "memory_flush.soft_threshold_tokens = 4000, at least 0",
            "memory_flush.prompt = null",
            "memory_flush.system_prompt = null",
        ],
    );
    check(
        PresetName::Micro,
        ["3", "4096", "0"],
        &[
            "compaction_threshold_tokens = 80000",
            "protected_tail_messages = 6, at least 1",
            "compaction_enabled = true",
            "max_conversation_messages = 50, at least 2",
            "max_tool_result_chars = 40000, at least 1",
            "summary_input_chars = 100000, at least 1",
        ],
    );
    check(
        PresetName::Spacebot,
        ["3", "2000", "auto"],
        &[
            "background_threshold = 0.8, above 0 and at most 1",
            "aggressive_threshold = 0.85, above 0 and at most 1",
            "emergency_threshold = 0.95, above 0 and at most 1",
        ],
    );
    check(
        PresetName::Layer,
        ["3", "1000", "0.3"],
        &[
            "system_reserve = 2000, at least 0",
            "output_reserve = 4000, at least 0",
            "safety_buffer = 5000, at least 0",
            "threshold_percent = 0.8, above 0 and at most 1",
            "recent_messages_to_keep = 10, at least 1",
        ],
    );
}

#[test]
fn the_defaults_make_the_named_presets() {
    for name in PresetName::ALL {
        assert_eq!(Preset::from(&Settings::of(name)), Preset::named(name));
    }
    assert_eq!(
        load("{}").unwrap().settings,
        Settings::of(PresetName::Default)
    );
}

#[test]
fn every_key_says_what_it_is() {
    for (preset, key) in keys() {
        let doc = key.doc();
        assert!(
            doc.ends_with('.') && doc.len() > 10,
            "{preset} {}: {doc}",
            key.path()
        );
    }
}

#[test]
fn every_bound_on_both_sides() {
    for (preset, key) in keys() {
        let step = if key.kind == Kind::Whole { 1.0 } else { 0.001 };
        let (inside, outside) = match key.bounds {
            Bounds::Any => continue,
            Bounds::AtLeast(least) => {
                let least = least as f64;
                (vec![least, least + step, 9e15], vec![least - step, -9e15])
            }
            Bounds::Within(least, most) => (
                vec![least, most],
                vec![least - step, most + step, -9e15, 9e15],
            ),
            Bounds::Share => (vec![step, 1.0], vec![0.0, -step, 1.0 + step, f64::NAN]),
            bounds => panic!("{bounds:?} has no case"),
        };
        let apply = |number: f64| {
            let mut settings = Settings::of(preset);
            if let DesignSettings::Spacebot(own) = &mut settings.design {
                // Tiers have an order too: here the others make room.
                let is_first = key.name == "background_threshold";
                own.background_threshold = step;
                own.aggressive_threshold = if is_first { 1.0 } else { step };
                own.emergency_threshold = 1.0;
            }
            settings.apply(&table(key, key.name, Value::Number(number)))
        };
        for number in inside {
            assert!(apply(number).is_ok(), "{preset} {} = {number}", key.path());
        }
        for number in outside {
            let error = apply(number).unwrap_err();
            assert!(
                matches!(&error, SettingsError::OutOfBounds { path, bounds, .. }
                    if *path == key.path() && *bounds == key.bounds),
                "{error}"
            );
            let said = error.to_string();
            assert!(said.contains(&key.bounds.to_string()), "{said}");
        }
    }
    assert_eq!(
        problem(r#"{"preset": "openclaw", "maxHistoryShare": 0.95}"#),
        "`maxHistoryShare` is 0.95: it has to be from 0.1 to 0.9"
    );
}

#[test]
fn every_name_in_three_spellings_and_each_only_once() {
    for (preset, key) in keys() {
        let mut settings = Settings::of(preset);
        let spellings: Vec<String> = key.spellings().collect();
        assert_eq!(spellings.len(), 3 * (1 + key.aliases.len()));
        for written in &spellings {
            let given = settings.apply(&table(key, written, sample(key))).unwrap();
            assert_eq!(given, [key], "{written}");
            let now = settings.entries().find(|(other, _)| *other == key).unwrap();
            assert_eq!(now.1, sample(key), "{written}");
        }
        for second in &spellings[1..] {
            let both = [&spellings[0], second].map(|written| (written.clone(), sample(key)));
            let both = match key.group {
                "" => Value::Table(both.into()),
                group => Value::Table(vec![(group.to_owned(), Value::Table(both.into()))]),
            };
            let error = settings.apply(&both).unwrap_err();
            let SettingsError::GivenTwice {
                first,
                second: again,
            } = error
            else {
                panic!("{error}");
            };
            assert!(first.ends_with(&spellings[0]) && again.ends_with(second));
        }
    }
    let openclaw = |text: &str| problem(&format!(r#"{{"preset": "openclaw", {text}}}"#));
    assert_eq!(
        openclaw(r#""memoryFlush": {"enabled": true}, "memory_flush": {"prompt": "p"}"#),
        "`memoryFlush` and `memory_flush` are the same setting: keep one of them"
    );
    assert!(load(r#"{"preset": "vibe", "Preset": "micro"}"#).is_err());
}

#[test]
fn a_wrong_kind_is_told_what_is_wanted() {
    for (preset, key) in keys() {
        for wrong in [
            Value::List(vec![]),
            Value::Table(vec![]),
            Value::Text("…".to_owned()),
        ] {
            let is_text = matches!(wrong, Value::Text(_));
            if is_text && key.kind == Kind::Text {
                continue;
            }
            let mut settings = Settings::of(preset);
            let error = settings
                .apply(&table(key, key.name, wrong.clone()))
                .unwrap_err();
            let expect = SettingsError::WrongType {
                path: key.path(),
                expected: key.expected(),
                found: wrong.to_string(),
            };
            assert_eq!(error, expect);
            assert_eq!(settings, Settings::of(preset));
        }
    }
    let check = |text: &str, said: &str| assert_eq!(problem(text), said);
    check(
        r#"{"preset": "openclaw", "mode": "safe"}"#,
        "`mode` wants `default` or `safeguard`, not the text \"safe\"",
    );
    check(
        r#"{"window": "large"}"#,
        "`window` wants a whole number or `auto`, not the text \"large\"",
    );
    check(
        r#"{"window": 0.5}"#,
        "`window` wants a whole number or `auto`, not 0.5",
    );
    check(
        r#"{"wait": null}"#,
        "`wait` wants `true` or `false`, not null",
    );
    check(
        r#"{"agents": {}}"#,
        "`agents` wants a list of agents, not a table",
    );
    check(
        r#"{"agents": [{"wait": true}]}"#,
        "`agents[0].id` wants a text that names the agent, not null",
    );
    check(r#"{"agents": [7]}"#, "`agents[0]` wants a table, not 7");
    check("[]", "`.` wants a table, not a list");
    check(
        r#"{"preset": "vibes"}"#,
        "`preset` wants `default`, `vibe`, `openclaw`, `micro`, `spacebot`, `layer`, not the text \"vibes\"",
    );
    check(
        r#"{"agents": [{"id": "a"}, {"id": "a"}]}"#,
        "two agents are called `a`: put the settings of an agent in one place",
    );
}
