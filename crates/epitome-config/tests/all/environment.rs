//! Every setting has a variable.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use epitome_config::{Files, Origin, Sources, may_be_secret, variables};

use crate::support::Folder;

fn with(variables: &[(&str, &str)]) -> Sources {
    let own = |text: &str| text.to_owned();
    Sources {
        variables: variables
            .iter()
            .map(|(name, value)| (own(name), own(value)))
            .collect(),
        ..Sources::default()
    }
}

#[test]
fn every_setting_goes_there_and_back() {
    let names: BTreeSet<String> = variables().map(|(name, _)| name).collect();
    assert_eq!(
        names.len(),
        variables().count(),
        "no two settings share a variable"
    );
    for (name, path) in variables() {
        // A text that no kind but a text takes shows which setting was meant.
        let is_text = with(&[(&name, "?")]).load();
        match is_text {
            Err(error) => assert!(error.to_string().contains(&format!("`{name}`")), "{error}"),
            Ok(loaded) => {
                let meant = loaded.value(&path).unwrap();
                assert_eq!(meant.origin, Origin::Variable(name.clone()), "{path}");
            }
        }
    }
}

#[test]
fn variables_are_read_as_people_write_them() {
    let loaded = with(&[
        ("EPITOME_PRESET", "openclaw"),
        ("EPITOME_WINDOW", "200_000"),
        ("EPITOME_MEMORY_FLUSH_ENABLED", "off"),
        ("EPITOME_MEMORY_FLUSH", "yes"),
        ("EPITOME_SERVER_OBSERVE", "1"),
        ("EPITOME_SUMMARIZER", "none"),
        ("EPITOME_SUMMARIZER_SPEND_HOUR_USD", "0.5"),
        ("EPITOME_SUMMARIZER_TEMPLATES_SEVEN_SECTIONS", "seven.md"),
        ("EPITOME_RESERVE_TOKENS", ""),
        ("EPITOME_THRESHOLD", "90%"),
    ])
    .load()
    .unwrap();
    assert_eq!(loaded.value("window").unwrap().toml(), "200000");
    assert_eq!(
        loaded.value("memory_flush.enabled").unwrap().toml(),
        "false"
    );
    assert_eq!(loaded.memory.flush, Some(true));
    assert!(loaded.server.observe);
    assert_eq!(loaded.summarizer.kind.as_str(), "none");
    assert_eq!(loaded.summarizer.spend.hour_usd, Some(0.5));
    let template = loaded.summarizer.templates.get("seven_sections");
    assert_eq!(template, Some(&PathBuf::from("seven.md")));
    assert!(loaded.value("reserve_tokens").unwrap().origin.is_default());
}

#[test]
fn unknown_variables_are_warned_of() {
    let loaded = with(&[
        ("EPITOME_WINDWO", "1"),
        ("EPITOME_COLOUR", "red"),
        ("EPITOME_SEED", "7"),
        ("EPITOME_CASES", "7"),
        ("EPITOME_VECTORS", "x"),
        ("EPITOME_DATA", "x"),
        ("EPITOME_TEST_POSTGRES", "x"),
        ("HOME", "x"),
    ])
    .load()
    .unwrap();
    let said: Vec<String> = loaded
        .warnings
        .iter()
        .map(|warning| warning.kind.to_string())
        .collect();
    assert_eq!(
        said,
        [
            "EPITOME_WINDWO sets nothing: did you mean EPITOME_WINDOW?",
            "EPITOME_COLOUR sets nothing",
        ]
    );
    let twice = with(&[
        ("EPITOME_LISTEN", "127.0.0.1:1"),
        ("EPITOME_SERVER_LISTEN", "127.0.0.1:2"),
    ]);
    assert_eq!(
        twice.load().unwrap_err().to_string(),
        "EPITOME_SERVER_LISTEN: `EPITOME_LISTEN` and `EPITOME_SERVER_LISTEN` are the same setting: keep one of them"
    );
}

#[test]
fn a_list_has_commas_between_its_texts() {
    for (text, means) in [
        ("10.0.0.7", &["10.0.0.7"][..]),
        (
            " 10.0.0.0/8, 192.168.1.4 ,",
            &["10.0.0.0/8", "192.168.1.4"][..],
        ),
    ] {
        for name in ["EPITOME_TRUSTED_PEERS", "EPITOME_SERVER_TRUSTED_PEERS"] {
            let loaded = with(&[(name, text)]).load().unwrap();
            assert_eq!(loaded.server.trusted_peers.as_slice(), means, "{name}");
        }
    }
}

#[test]
fn what_may_be_secret_is_known_by_its_name() {
    for name in [
        "EPITOME_STORE_KEY",
        "EPITOME_TOKEN",
        "EPITOME_STORE",
        "EPITOME_SERVER_STORE",
        "EPITOME_OPENAI_UPSTREAM",
        "EPITOME_KEY_OF_ALPHA",
    ] {
        assert!(may_be_secret(name), "{name}");
    }
    for name in ["EPITOME_LISTEN", "EPITOME_CONFIG", "OPENAI_API_KEY", "HOME"] {
        assert!(!may_be_secret(name), "{name}");
    }
}

#[test]
fn files_are_looked_for_in_the_usual_places() {
    let variables = |pairs: &[(&str, &Path)]| -> Vec<(OsString, OsString)> {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    };
    let folder = Folder::new();
    let user = folder.write("config/epitome/epitome.toml", "window = 1\nwait = true");
    let home = folder.write("home/.config/epitome/epitome.toml", "window = 2");
    let project = folder.write("project/epitome.toml", "window = 3");
    let deep = folder.path().join("project/a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let (config, home_folder) = (folder.path().join("config"), folder.path().join("home"));
    let both = variables(&[("XDG_CONFIG_HOME", &config), ("HOME", &home_folder)]);
    let sources = Sources::of_process(None, both.clone(), Some(deep.clone()));
    assert_eq!(sources.paths(), [user, project.clone()]);
    let loaded = sources.load().unwrap();
    assert_eq!(loaded.value("window").unwrap().toml(), "3");
    assert_eq!(loaded.value("wait").unwrap().toml(), "true");
    let at_home = variables(&[("HOME", &home_folder)]);
    let sources = Sources::of_process(None, at_home, None);
    assert_eq!(sources.paths(), [home]);
    let mut named = both;
    named.push(("EPITOME_CONFIG".into(), project.clone().into()));
    let sources = Sources::of_process(None, named.clone(), Some(deep.clone()));
    assert_eq!(sources.files, Files::Named(project));
    let flag = Some(PathBuf::from("x.toml"));
    let sources = Sources::of_process(flag, named, Some(deep));
    assert_eq!(sources.paths(), [PathBuf::from("x.toml")]);
}
