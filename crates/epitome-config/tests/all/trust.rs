//! Whose configuration is heard: a project sets sizes and presets until its user trusts it.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use epitome::settings::Value;
use epitome_config::{
    Files, Flag, Loaded, Origin, ProblemKind, Sources, Standing, Trusted, Watch, variables,
};

use crate::support::{Folder, named};

/// Folders of a user with a project in `project`.
struct Home(Folder);

impl Home {
    fn with_project(text: &str) -> Self {
        let folder = Folder::new();
        folder.write("project/epitome.toml", text);
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn sources_at(&self, folder: &str) -> Sources {
        Sources {
            files: Files::Searched {
                system: Some(self.path("system.toml")),
                user: Some(self.path("user.toml")),
                folder: Some(self.path(folder)),
                trusted: Some(self.path("trusted.jsonl")),
            },
            ..Sources::default()
        }
    }

    fn load(&self) -> Loaded {
        self.sources_at("project").load().unwrap()
    }

    fn trust(&self, file: &str) -> Vec<String> {
        let mut trusted = Trusted::read(&self.path("trusted.jsonl")).unwrap();
        let owned = trusted.add(&self.path(file)).unwrap();
        self.0.write("trusted.jsonl", &trusted.text());
        owned
    }
}

/// What was ignored, as it is written.
fn ignored(loaded: &Loaded) -> Vec<String> {
    let kinds = loaded.warnings.iter().map(|warning| &warning.kind);
    let lists = kinds.filter_map(|kind| match kind {
        ProblemKind::NotTrusted { ignored, .. } => Some(ignored.clone()),
        _ => None,
    });
    lists.flatten().collect()
}

fn standing(loaded: &Loaded) -> Option<Standing> {
    let kinds = loaded.warnings.iter().map(|warning| &warning.kind);
    let mut found = kinds.filter_map(|kind| match kind {
        ProblemKind::NotTrusted { standing, .. } => Some(*standing),
        _ => None,
    });
    found.next()
}

/// What only an owner may set: a file each, and what is said to be ignored.
const HOSTILE: &[(&str, &[&str])] = &[
    ("[summarizer]\nkind = \"openai-chat\"", &["summarizer.kind"]),
    ("[summarizer]\nurl = \"http://h\"", &["summarizer.url"]),
    ("[summariser]\nURL = \"http://h\"", &[]),
    ("[summariser]\nUrl = \"http://h\"", &["summariser.Url"]),
    ("[summarizer]\nmodel = \"m\"", &["summarizer.model"]),
    ("[summarizer]\nkey_env = \"K\"", &["summarizer.key_env"]),
    ("[summarizer]\nkeyEnv = \"K\"", &["summarizer.keyEnv"]),
    ("[Summarizer]\nKeyFile = \"k\"", &["Summarizer.KeyFile"]),
    ("[summarizer]\nkey_file = \"k\"", &["summarizer.key_file"]),
    ("[summarizer]\nform = \"aligned\"", &["summarizer.form"]),
    ("[summarizer]\nretries = 20", &["summarizer.retries"]),
    (
        "[summarizer.spend]\nhour_usd = 1000",
        &["summarizer.spend.hour_usd"],
    ),
    (
        "[summarizer.templates]\nseven_sections = \"t\"",
        &["summarizer.templates.seven_sections"],
    ),
    ("[memory]\nfolder = \"/\"", &["memory.folder"]),
    ("[memory]\nflush = true", &["memory.flush"]),
    ("[server]\nlisten = \"0.0.0.0:1\"", &["server.listen"]),
    (
        "[server]\nopenai_upstream = \"http://h\"",
        &["server.openai_upstream"],
    ),
    (
        "[server]\nanthropicUpstream = \"http://h\"",
        &["server.anthropicUpstream"],
    ),
    ("[server]\nstore = \"sqlite:x\"", &["server.store"]),
    ("[server]\nobserve = true", &["server.observe"]),
    ("[server]\nrepair = true", &["server.repair"]),
    (
        "[[hooks]]\non = \"after\"\ncommand = [\"x\"]",
        &["hooks[0].on", "hooks[0].command"],
    ),
    ("hooks = []", &["hooks"]),
    ("summary_model = \"m\"", &["summary_model"]),
    ("compactionModel = \"m\"", &["compactionModel"]),
    (
        "[agents.a]\nsummary_model = \"m\"",
        &["agents.a.summary_model"],
    ),
    (
        "[[agents]]\nid = \"a\"\nsummaryModel = \"m\"",
        &["agents[0].summaryModel"],
    ),
    (
        "[models.\"x*\"]\nsummary_model = \"m\"",
        &["models.\"x*\".summary_model"],
    ),
    (
        "[agents.a.models.x.compaction]\nsummary_model = \"m\"",
        &["agents.a.models.x.compaction.summary_model"],
    ),
    (
        "[agents.defaults]\nsummary_model = \"m\"",
        &["agents.defaults.summary_model"],
    ),
    (
        "[defaults.compaction]\nsummary_model = \"m\"",
        &["defaults.compaction.summary_model"],
    ),
    (
        "preset = \"openclaw\"\n[memory_flush]\nprompt = \"p\"\nsystemPrompt = \"s\"\nenabled = true",
        &[
            "memory_flush.prompt",
            "memory_flush.systemPrompt",
            "memory_flush.enabled",
        ],
    ),
];

/// All that a configuration says of what an owner sets.
fn owned(loaded: &Loaded) -> String {
    let model = loaded.for_agent(Some("a")).for_model("x").settings;
    let base = loaded.for_agent(None).for_any_model().settings;
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        loaded.summarizer,
        loaded.memory,
        loaded.hooks,
        loaded.server,
        model.common.summary_model,
        base.common.summary_model
    )
}

#[test]
fn a_project_decides_nothing_that_its_user_did_not_trust() {
    let defaults = owned(&Home::with_project("").load());
    for (text, expected) in HOSTILE {
        let home = Home::with_project(text);
        let Ok(loaded) = home.sources_at("project").load() else {
            assert!(expected.is_empty(), "{text}: it is no setting at all");
            continue;
        };
        assert_eq!(ignored(&loaded), *expected, "{text}");
        assert_eq!(owned(&loaded), defaults, "{text}");
        assert_eq!(loaded.warnings.len(), 1, "a line for a file: {text}");
        let said = loaded.warnings[0].to_string();
        assert!(said.contains("project/epitome.toml"), "{said}");
        assert!(said.contains("epitome config trust"), "{said}");
        let shown = loaded.values().filter(|entry| entry.path != "preset");
        for entry in shown {
            assert!(entry.origin.is_default(), "{text}: {entry:?}");
        }
        // In a folder below it is the same.
        std::fs::create_dir_all(home.path("project/deep/er")).unwrap();
        let below = home.sources_at("project/deep/er").load().unwrap();
        assert_eq!(ignored(&below), *expected, "{text}");
        assert_eq!(owned(&below), defaults, "{text}");

        // Once it is trusted it is heard, until it changes.
        let told = home.trust("project/epitome.toml");
        assert_eq!(told.len(), expected.len(), "{told:?}");
        let loaded = home.load();
        assert_eq!(loaded.warnings, [], "{text}");
        let sets_something = loaded.values().any(|entry| !entry.origin.is_default());
        assert!(sets_something || *text == "hooks = []", "{text}");
        home.0
            .write("project/epitome.toml", &format!("{text}\n# changed\n"));
        let loaded = home.load();
        assert_eq!(ignored(&loaded), *expected, "{text}");
        assert_eq!(standing(&loaded), Some(Standing::Changed));
        assert_eq!(owned(&loaded), defaults, "{text}");
    }
}

/// A setting that nobody thought about here is its owner's.
#[test]
fn every_setting_that_a_project_may_set_is_a_size_a_switch_or_a_choice() {
    let mut heard = Vec::new();
    for (_, path) in variables() {
        let home = Home::with_project("");
        let (table, name) = path.rsplit_once('.').unwrap_or(("", &path));
        let table = match table {
            "" => String::new(),
            table => format!("[{table}]\n"),
        };
        // Each preset has settings of its own.
        for preset in epitome::PresetName::ALL {
            for value in [
                "1",
                "true",
                "0.5",
                "\"x\"",
                "\"default\"",
                "\"ladder\"",
                "[\"x\"]",
            ] {
                let preset = format!("preset = \"{preset}\"\n");
                let preset = if path == "preset" { "" } else { &preset };
                home.0.write(
                    "project/epitome.toml",
                    &format!("{preset}{table}{name} = {value}\n"),
                );
                let Ok(loaded) = home.sources_at("project").load() else {
                    continue;
                };
                if ignored(&loaded).is_empty() && path != "preset" {
                    let entry = loaded.value(&path).unwrap();
                    assert!(matches!(entry.origin, Origin::File { .. }), "{path}");
                    let is_free_text = matches!(&entry.value, Value::Text(text) if text == "x");
                    assert!(!is_free_text, "{path} takes any text");
                    heard.push(path.clone());
                }
            }
        }
    }
    heard.dedup();
    assert!(
        heard.contains(&"window".to_owned()) && heard.len() > 20,
        "{heard:?}"
    );
    let of_sections = heard.iter().filter(|path| {
        let section = path.split('.').next().unwrap();
        ["summarizer", "server", "memory", "hooks"].contains(&section)
    });
    let of_sections: Vec<&String> = of_sections.collect();
    assert_eq!(
        of_sections,
        ["summarizer.window", "summarizer.max_output_tokens"]
    );
}

#[test]
fn the_user_decides_in_every_other_way() {
    let text = "[summarizer]\nurl = \"http://mine\"\n[server]\nlisten = \"127.0.0.1:9\"\n";
    let home = Home::with_project("window = 9\n[summarizer]\nurl = \"http://theirs\"\n");
    let url = |loaded: &Loaded| loaded.summarizer.url.as_ref().map(ToString::to_string);
    for name in ["system.toml", "user.toml"] {
        let file = home.0.write(name, text);
        let loaded = home.load();
        assert_eq!(url(&loaded).as_deref(), Some("http://mine"), "{name}");
        assert_eq!(loaded.server.listen.port(), 9);
        let entry = loaded.value("summarizer.url").unwrap();
        assert!(entry.origin.to_string().ends_with(&format!("{name}:2")));
        // Sizes of the project are heard beside it.
        assert_eq!(loaded.value("window").unwrap().toml(), "9");
        std::fs::remove_file(file).unwrap();
    }
    let named = named(home.path("project/epitome.toml")).load().unwrap();
    assert_eq!(url(&named).as_deref(), Some("http://theirs"));
    assert_eq!(named.warnings, []);
    let mut sources = home.sources_at("project");
    let variable = "EPITOME_SUMMARIZER_URL".to_owned();
    sources.variables = vec![(variable, "http://variable".to_owned())];
    assert_eq!(
        url(&sources.load().unwrap()).as_deref(),
        Some("http://variable")
    );
    let flag = Value::Text("http://flag".to_owned());
    sources.flags = vec![Flag::new("--summarizer", "summarizer.url", flag)];
    assert_eq!(
        url(&sources.load().unwrap()).as_deref(),
        Some("http://flag")
    );
}

#[test]
fn the_users_own_file_is_the_users_wherever_it_is_found() {
    let home = Home::with_project("");
    let own = home.0.write(
        "config/epitome.toml",
        "[server]\nlisten = \"127.0.0.1:9\"\n",
    );
    let mut sources = home.sources_at("config");
    if let Files::Searched { user, .. } = &mut sources.files {
        *user = Some(own.clone());
    }
    let is_heard = |sources: &Sources| {
        let loaded = sources.load().unwrap();
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.files.len(), 1, "it is read once");
        assert_eq!(loaded.server.listen.port(), 9);
    };
    is_heard(&sources);
    // By another name of its folder, and by a link to it.
    symlink(home.path("config"), home.path("other")).unwrap();
    symlink(&own, home.path("project/link")).unwrap();
    std::fs::rename(home.path("project/link"), home.path("project/epitome.toml")).unwrap();
    for folder in ["other", "project"] {
        let place = home.path(folder);
        if let Files::Searched { folder, .. } = &mut sources.files {
            *folder = Some(place);
        }
        is_heard(&sources);
    }
}

#[test]
fn trust_is_for_a_place_and_a_text() {
    let text = "[summarizer]\nkey_file = \"key\"\n";
    let home = Home::with_project(text);
    home.trust("project/epitome.toml");
    let key = home.load().summarizer.key_file;
    assert_eq!(key, Some(home.path("project/key")));
    // A copy elsewhere, or a link to what is trusted, would read another file.
    home.0.write("copy/epitome.toml", text);
    std::fs::create_dir(home.path("link")).unwrap();
    symlink(
        home.path("project/epitome.toml"),
        home.path("link/epitome.toml"),
    )
    .unwrap();
    for folder in ["copy", "link"] {
        let loaded = home.sources_at(folder).load().unwrap();
        assert_eq!(ignored(&loaded), ["summarizer.key_file"], "{folder}");
        assert_eq!(standing(&loaded), Some(Standing::Unknown));
        assert_eq!(loaded.summarizer.key_file, None);
    }
    // Another way to the same folder is the same folder.
    symlink(home.path("project"), home.path("again")).unwrap();
    let loaded = home.sources_at("again").load().unwrap();
    assert_eq!(loaded.warnings, []);
    // A link that was trusted leads elsewhere now.
    home.trust("link/epitome.toml");
    assert_eq!(home.sources_at("link").load().unwrap().warnings, []);
    home.0
        .write("evil.toml", "[summarizer]\nkey_file = \"other\"\n");
    std::fs::remove_file(home.path("link/epitome.toml")).unwrap();
    symlink(home.path("evil.toml"), home.path("link/epitome.toml")).unwrap();
    let loaded = home.sources_at("link").load().unwrap();
    assert_eq!(standing(&loaded), Some(Standing::Changed));
}

#[test]
fn the_list_is_kept_and_a_broken_one_trusts_nothing() {
    let home = Home::with_project("hooks = []\n");
    let list = home.path("trusted.jsonl");
    assert_eq!(Trusted::read(&list).unwrap(), Trusted::default());
    home.trust("project/epitome.toml");
    home.trust("project/epitome.toml");
    let mut trusted = Trusted::read(&list).unwrap();
    let files: Vec<&Path> = trusted.files().collect();
    let file = home.path("project").canonicalize().unwrap();
    assert_eq!(files, [file.join("epitome.toml")], "once");
    assert!(trusted.remove(&home.path("project/epitome.toml")));
    assert!(!trusted.remove(&home.path("project/epitome.toml")));
    assert_eq!(trusted.text(), "");

    let text = std::fs::read_to_string(&list).unwrap();
    home.0.write("trusted.jsonl", &format!("{text}nonsense\n"));
    let loaded = home.load();
    let codes: Vec<&str> = loaded
        .warnings
        .iter()
        .map(|warning| warning.kind.code())
        .collect();
    assert_eq!(codes, ["unreadable", "not_trusted"]);
    assert!(loaded.warnings[0].to_string().contains("trusted.jsonl: "));
}

#[test]
fn a_watch_notices_trust() {
    let home = Home::with_project("[server]\nlisten = \"127.0.0.1:9\"\n");
    let mut watch = Watch::new(home.sources_at("project"));
    home.trust("project/epitome.toml");
    assert!(watch.poll().is_none());
    let loaded = watch.poll().unwrap().unwrap();
    assert_eq!(loaded.server.listen.port(), 9);
}

/// What others put there does not keep a command waiting.
#[test]
fn a_pipe_is_no_configuration() {
    let home = Home::with_project("");
    let file = home.path("project/epitome.toml");
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let error = home.sources_at("project").load().unwrap_err();
    assert!(error.to_string().contains("no ordinary file"), "{error}");
}
