//! The highest layer that sets a value wins, and is where it is said to come from.

use epitome::PresetName;
use epitome::settings::{Settings, Value};
use epitome_config::{Files, Flag, Origin, Sources, Trusted, variable_of};
use proptest::collection::btree_map;
use proptest::prelude::{Strategy, any};

use crate::support::{Folder, property};

/// A setting, and a value of it for each number.
type Sample = (&'static str, fn(u32) -> Value);

/// D2: the settings of the list that a project may not set until it is trusted.
const OWNED: [&str; 2] = ["summarizer.model", "server.inspection_limit_bytes"];

const PATHS: [Sample; 6] = [
    ("window", |number| Value::Whole(i64::from(number) + 1)),
    ("reserve_tokens", |number| Value::Whole(i64::from(number))),
    ("prepare_share", |number| {
        Value::Number(f64::from(number % 100 + 1) / 128.0)
    }),
    ("wait", |number| Value::Switch(number % 2 == 0)),
    ("summarizer.model", |number| {
        Value::Text(format!("model-{number}"))
    }),
    ("server.inspection_limit_bytes", |number| {
        Value::Whole(i64::from(number))
    }),
];

fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::Number(number) => format!("{number:?}"),
        other => other.to_string(),
    }
}

fn file(values: &[(usize, Value)]) -> String {
    let line = |(at, value): &(usize, Value)| format!("{} = {}\n", PATHS[*at].0, written(value));
    values.iter().map(line).collect()
}

#[test]
fn the_highest_layer_wins() {
    let layer = || {
        btree_map(0..PATHS.len(), any::<u16>(), 0..PATHS.len()).prop_map(|chosen| {
            let value = |(at, number): (usize, u16)| (at, PATHS[at].1(u32::from(number)));
            chosen
                .into_iter()
                .map(value)
                .collect::<Vec<(usize, Value)>>()
        })
    };
    let layers = (layer(), layer(), layer(), layer(), layer());
    property(
        20,
        &layers,
        |(system, user, project, environment, flags)| {
            let folder = Folder::new();
            let sources = Sources {
                files: Files::Searched {
                    system: Some(folder.write("system.toml", &file(&system))),
                    user: Some(folder.write("user.toml", &file(&user))),
                    folder: folder
                        .write("p/epitome.toml", &file(&project))
                        .parent()
                        .map(Into::into),
                    trusted: None,
                },
                variables: environment
                    .iter()
                    .map(|(at, value)| {
                        let text = written(value).replace('"', "");
                        (variable_of(PATHS[*at].0), text)
                    })
                    .collect(),
                flags: flags
                    .iter()
                    .map(|(at, value)| Flag::new("--flag", PATHS[*at].0, value.clone()))
                    .collect(),
            };
            let loaded = sources.load().unwrap();
            for (at, (path, _)) in PATHS.iter().enumerate() {
                let in_file = |name: &str, values: &[(usize, Value)]| {
                    let line = values.iter().position(|(other, _)| *other == at)? + 1;
                    let path = folder.path().join(name).into();
                    Some((values[line - 1].1.clone(), Origin::File { path, line }))
                };
                let other = |values: &[(usize, Value)], origin: Origin| {
                    let found = values.iter().find(|(other, _)| *other == at)?;
                    Some((found.1.clone(), origin))
                };
                let is_heard = !OWNED.contains(path);
                let of_project = || in_file("p/epitome.toml", &project).filter(|_| is_heard);
                let highest = other(&flags, Origin::Flag("--flag".to_owned()))
                    .or_else(|| other(&environment, Origin::Variable(variable_of(path))))
                    .or_else(of_project)
                    .or_else(|| in_file("user.toml", &user))
                    .or_else(|| in_file("system.toml", &system));
                let entry = loaded.value(path).unwrap();
                match highest {
                    Some(expected) => assert_eq!((entry.value, entry.origin), expected, "{path}"),
                    None => assert!(entry.origin.is_default(), "{path}"),
                }
            }
            let settings = loaded.for_agent(None).for_any_model().settings;
            let window = loaded.value("window").unwrap().value;
            let set = settings.common.window.map_or_else(
                || Value::Text("auto".to_owned()),
                |window| Value::Whole(i64::try_from(window).unwrap()),
            );
            assert_eq!(window, set, "what is shown is what is in force");
        },
    );
}

#[test]
fn what_a_process_says_holds_for_every_agent_and_model() {
    let folder = Folder::new();
    let file = folder.write(
        "epitome.toml",
        "preset = \"vibe\"\nauto_compact_threshold = 5\n[agents.a]\nwindow = 7\npreset = \"micro\"\n",
    );
    let mut sources = Sources {
        files: Files::Named(file),
        ..Sources::default()
    };
    let resolved = |sources: &Sources| {
        let loaded = sources.load().unwrap();
        let resolved = loaded.for_agent(Some("a")).for_any_model();
        (resolved.settings.preset().unwrap(), resolved.window.tokens)
    };
    assert_eq!(resolved(&sources), (PresetName::Micro, 7));
    sources.variables = vec![("EPITOME_WINDOW".to_owned(), "9".to_owned())];
    assert_eq!(resolved(&sources), (PresetName::Micro, 9));
    sources.flags = vec![Flag::new(
        "--preset",
        "preset",
        Value::Text("default".to_owned()),
    )];
    assert_eq!(resolved(&sources), (PresetName::Default, 9));
    // The file's own settings are those of its own preset, and no error under another one.
    let base = sources
        .load()
        .unwrap()
        .for_agent(None)
        .for_any_model()
        .settings;
    let mut expected = Settings::of(PresetName::Default);
    expected.common.window = Some(9);
    assert_eq!(base, expected);
}

#[test]
fn a_list_of_hooks_replaces_the_one_below() {
    let folder = Folder::new();
    let user = folder.write(
        "user.toml",
        "[[hooks]]\non = \"after\"\ncommand = [\"a\"]\n[[hooks]]\non = \"before\"\ncommand = [\"b\"]\n",
    );
    let hooks = |project: &str| {
        // D2: the hooks of a project are heard when it is trusted.
        let file = folder.write("p/epitome.toml", project);
        let mut trusted = Trusted::default();
        trusted.add(&file).unwrap();
        let sources = Sources {
            files: Files::Searched {
                system: None,
                user: Some(user.clone()),
                folder: file.parent().map(Into::into),
                trusted: Some(folder.write("trusted.jsonl", &trusted.text())),
            },
            ..Sources::default()
        };
        let hooks = sources.load().unwrap().hooks;
        hooks
            .into_iter()
            .flat_map(|hook| hook.command)
            .collect::<Vec<String>>()
    };
    assert_eq!(hooks(""), ["a", "b"]);
    assert_eq!(
        hooks("[[hooks]]\non = \"after\"\ncommand = [\"c\"]\n"),
        ["c"]
    );
    assert!(hooks("hooks = []").is_empty());
}
