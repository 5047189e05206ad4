//! A key is in no file, no message and no debug output.

use epitome_config::{KeySource, Sources};

use crate::support::{Folder, named, problems};

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    for name in ["key", "api_key", "apiKey", "token", "password"] {
        let said = problems(&format!("[summarizer]\n{name} = \"sk-123\"\n"));
        let expected = format!(
            "epitome.toml:2: `summarizer.{name}` would put a key into a file: name an environment variable with \
             `key_env` or a file with `key_file` instead"
        );
        assert_eq!(said, [expected]);
    }
    assert_eq!(
        problems("[summarizer]\nkey_env = \"sk-123\"\n"),
        [
            "epitome.toml:2: `summarizer.key_env` wants the name of an environment variable (letters, digits and \
             `_`), not another text"
        ]
    );
}

#[test]
fn passwords_in_addresses_are_never_shown() {
    let folder = Folder::new();
    let file = folder.write(
        "epitome.toml",
        "[server]\nstore = \"postgres://me:hunter2@db/x\"\n[summarizer]\nurl = \"https://u:hunter2@host/v1?key=hunter2\"\n",
    );
    let mut sources = named(file);
    sources.variables = vec![(
        "EPITOME_OPENAI_UPSTREAM".to_owned(),
        "http://a:hunter2@b".to_owned(),
    )];
    let loaded = sources.load().unwrap();
    assert!(
        loaded
            .server
            .store
            .as_ref()
            .unwrap()
            .expose()
            .contains("hunter2")
    );
    let mut shown = format!(
        "{loaded:?} {sources:?} {:?}",
        loaded.for_agent(None).for_model("x")
    );
    for entry in loaded.values() {
        shown.push_str(&format!("{entry:?} {} {}", entry.toml(), entry.json()));
    }
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(
        loaded.value("server.store").unwrap().toml(),
        "\"postgres://…@db/x\""
    );
}

#[test]
fn of_two_ways_to_the_key_the_higher_layer_is_right() {
    let folder = Folder::new();
    let file = folder.write("epitome.toml", "[summarizer]\nkey_file = \"secret\"\n");
    let mut sources = named(file);
    let key = |sources: &Sources| sources.load().unwrap().summarizer.key();
    assert_eq!(
        key(&sources),
        Some(KeySource::File(folder.path().join("secret")))
    );
    sources.variables = vec![("EPITOME_SUMMARIZER_KEY_ENV".to_owned(), "K".to_owned())];
    assert_eq!(key(&sources), Some(KeySource::Variable("K".to_owned())));
}
