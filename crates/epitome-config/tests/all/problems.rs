//! What is said about a wrong file: all of it, with the line, and what to do.

use epitome_config::{Sources, variables};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::support::{Folder, named, problems, property};

#[test]
fn every_problem_of_a_file_is_reported_with_its_line() {
    let said = problems(
        r#"preset = "openclaw"
reserve_tokns = 1
max_history_share = 1.5
keep_recent_tokens = "many"
reserveTokens = 1
ReserveTokens = 2
auto_compact_threshold = 3
memory_flsh.enabled = true

[summarizer]
kind = "openai"
operation_timeout_seconds = 900
retires = 1

[sever]
listen = "here"

[agents.a]
preset = "vibes"

[[hooks]]
on = "never"
"#,
    );
    assert_eq!(
        said,
        [
            "epitome.toml:2: `reserve_tokns` is not a setting: did you mean `reserve_tokens`?",
            "epitome.toml:3: `max_history_share` is 1.5: it has to be from 0.1 to 0.9",
            "epitome.toml:4: `keep_recent_tokens` wants a whole number, not the text \"many\"",
            "epitome.toml:6: `reserveTokens` and `ReserveTokens` are the same setting: keep one of them",
            "epitome.toml:7: `auto_compact_threshold` is not a setting: it belongs to the preset `vibe`",
            "epitome.toml:8: `memory_flsh` is not a setting: did you mean `memory_flush`?",
            "epitome.toml:11: `summarizer.kind` wants `extractive` or `none` or `openai-chat` or `openai-responses` \
             or `anthropic` or `borrow`, not the text \"openai\"",
            "epitome.toml:12: `summarizer.operation_timeout_seconds` is 900: it has to be from 1 to 720",
            "epitome.toml:13: `summarizer.retires` is not a setting: did you mean `retries`?",
            "epitome.toml:15: `sever` is not a setting: did you mean `server`?",
            "epitome.toml:19: `agents.a.preset` wants `default`, `vibe`, `openclaw`, `micro`, `spacebot`, `layer`, \
             not the text \"vibes\"",
            "epitome.toml:22: `hooks[0].command` wants a list of texts: a program and its arguments, not nothing",
            "epitome.toml:22: `hooks[0].on` wants `before_compact` or `before` or `after`, not the text \"never\"",
        ]
    );
}

#[test]
fn tiers_are_checked_for_every_agent_and_model() {
    let tiers = "tiers go up from background over aggressive to emergency";
    let check = |text: &str, expected: &[&str]| {
        let said = problems(&format!("preset = \"spacebot\"\n{text}"));
        let expected: Vec<String> = expected
            .iter()
            .map(|line| format!("{line}: {tiers}"))
            .collect();
        assert_eq!(said, expected, "{text}");
    };
    check(
        "background_threshold = 0.9",
        &["epitome.toml:2: `background_threshold` is 0.9, above `aggressive_threshold` at 0.85"],
    );
    check(
        "background_threshold = 0.9\naggressive_threshold = 0.92",
        &[],
    );
    check(
        "[models.tiny]\naggressive_threshold = 0.7\n[agents.a]\nbackgroundThreshold = 0.6\n[agents.b]\nwait = true",
        &[
            "epitome.toml:3: `background_threshold` is 0.8, above `models.tiny.aggressive_threshold` at 0.7",
        ],
    );
}

#[test]
fn what_is_not_toml_is_said_without_showing_it() {
    let said =
        problems("preset = \"vibe\"\n[summarizer]\nkey_env = \"sk-very-secret\nurl = 3\n= 4\n");
    assert!(said.len() >= 2, "{said:?}");
    assert!(
        said[0].starts_with("epitome.toml:3: not TOML: "),
        "{said:?}"
    );
    assert!(said.iter().all(|line| !line.contains("secret")), "{said:?}");
    let twice = problems("window = 1\nwindow = 2\n");
    assert_eq!(
        twice,
        ["epitome.toml:2: not TOML: duplicate key (column 1)"]
    );
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let folder = Folder::new();
    let said = |sources: Sources| folder.strip(&sources.load().unwrap_err().to_string());
    let missing = named(folder.path().join("none.toml"));
    assert_eq!(
        said(missing),
        "none.toml: cannot read it: there is no such file"
    );
    std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let is_folder = named(folder.path().join("folder.toml"));
    assert_eq!(
        said(is_folder),
        "folder.toml: cannot read it: it is a folder"
    );
    std::fs::write(folder.path().join("latin.toml"), b"window = 1\n# caf\xe9\n").unwrap();
    let latin = named(folder.path().join("latin.toml"));
    assert_eq!(
        said(latin),
        "latin.toml: cannot read it: it is not UTF-8 text (line 2)"
    );
    let long = "#".repeat((1 << 20) + 1);
    let long = named(folder.write("long.toml", &long));
    assert_eq!(
        said(long),
        "long.toml: cannot read it: it is longer than 1048576 bytes"
    );
}

#[test]
fn tables_of_the_wrong_kind_are_problems_and_not_panics() {
    for text in [
        "agents = 3",
        "agents = [3]",
        "[[agents]]\nwindow = 1",
        "[[agents]]\nid = 4",
        "[[agents]]\nid = \"a\"\n[[agents]]\nid = \"a\"",
        "models = []",
        "models.x = 1",
        "summarizer = \"extractive\"",
        "hooks = 1",
        "hooks = [1]",
        "compaction = 1",
        "memory_flush = 1\npreset = \"openclaw\"",
        "[summarizer.templates]\na = 1",
        "window = 99999999999999999999",
        "window = nan",
        "window = 1979-05-27",
        "[server]\nlisten = \"localhost\"",
        "[server]\nopenai_upstream = \"localhost:80\"",
        "[summarizer]\nurl = \"ftp://x\"",
        "[summarizer]\nkey_env = \"A\"\nkey_file = \"b\"",
        "[[hooks]]\non = \"after\"\ncommand = []",
    ] {
        let said = problems(text);
        assert_eq!(said.len(), 1, "{text}: {said:?}");
        assert!(said[0].starts_with("epitome.toml:"), "{said:?}");
    }
}

#[test]
fn any_text_loads_or_is_refused() {
    let mut words: Vec<String> = variables().map(|(_, path)| path).collect();
    let tables = "agents agents.a agents.defaults models models.x hooks summarizer server memory compaction defaults";
    let values =
        "true 1 -1 0.5 \"auto\" \"\" [] {} [{}] nan \"x\" 1979-05-27 'é' agents.a.models.y";
    words.extend(
        tables
            .split(' ')
            .chain(values.split(' '))
            .map(str::to_owned),
    );
    let word = prop_oneof![20 => select(words), 1 => any::<String>()];
    let line = (word.clone(), word, 0..8).prop_map(|(name, value, form)| match form {
        0 => format!("[{name}]"),
        1 => format!("[[{name}]]"),
        2 => value,
        _ => format!("{name} = {value}"),
    });
    let texts = vec(line, 0..8).prop_map(|lines| lines.join("\n"));
    property(4, &texts, |text| {
        let said = problems(&text);
        assert!(said.iter().all(|line| !line.is_empty()), "{text}");
    });
}
