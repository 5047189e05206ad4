//! A changed file is noticed, a broken one is not taken over.

use epitome_config::{Files, Sources, Watch};

use crate::support::{Folder, named};

/// Asks until the change has settled, and says the window or the problem.
fn settled(watch: &mut Watch) -> Option<Result<String, String>> {
    assert!(
        watch.poll().is_none(),
        "a change counts when it was seen twice"
    );
    let outcome = watch.poll()?;
    assert!(watch.poll().is_none(), "and it is told once");
    Some(match outcome {
        Ok(loaded) => Ok(loaded.value("window").unwrap().toml()),
        Err(error) => Err(error.to_string()),
    })
}

#[test]
fn a_file_is_replaced_broken_and_mended() {
    let folder = Folder::new();
    let file = folder.write("epitome.toml", "window = 1");
    let mut watch = Watch::new(named(file.clone()));
    assert_eq!(settled(&mut watch), None);
    folder.write("epitome.toml", "window = 2");
    assert_eq!(settled(&mut watch), Some(Ok("2".to_owned())));
    let other = folder.write("next.toml", "window = 3");
    std::fs::rename(other, &file).unwrap();
    assert_eq!(settled(&mut watch), Some(Ok("3".to_owned())));
    folder.write("epitome.toml", "window = 3");
    assert_eq!(settled(&mut watch), None, "the same text is no change");
    folder.write("epitome.toml", "window = ");
    assert!(
        settled(&mut watch)
            .unwrap()
            .unwrap_err()
            .contains("not TOML")
    );
    assert_eq!(settled(&mut watch), None, "the error is told once");
    folder.write("epitome.toml", "window = 3");
    assert_eq!(settled(&mut watch), Some(Ok("3".to_owned())));
    std::fs::remove_file(&file).unwrap();
    assert!(
        settled(&mut watch)
            .unwrap()
            .unwrap_err()
            .contains("no such file")
    );
    folder.write("epitome.toml", "window = 4");
    assert_eq!(settled(&mut watch), Some(Ok("4".to_owned())));
}

#[test]
fn a_file_that_is_being_written_is_left_alone() {
    let folder = Folder::new();
    folder.write("epitome.toml", "window = 100\nwait = true");
    let mut watch = Watch::new(named(folder.path().join("epitome.toml")));
    // A part of a file may be a file too, with other values.
    for part in ["", "window = 1", "window = 12", "window = 128\nwa"] {
        folder.write("epitome.toml", part);
        assert!(watch.poll().is_none(), "{part}");
    }
    folder.write("epitome.toml", "window = 128\nwait = true");
    assert_eq!(settled(&mut watch), Some(Ok("128".to_owned())));
    // Away for a moment, back as it was.
    std::fs::remove_file(folder.path().join("epitome.toml")).unwrap();
    assert!(watch.poll().is_none());
    folder.write("epitome.toml", "window = 128\nwait = true");
    assert_eq!(settled(&mut watch), None);
}

#[test]
fn files_that_come_and_go_change_the_layers() {
    let folder = Folder::new();
    let user = folder.write("user.toml", "window = 1");
    let sources = Sources {
        files: Files::Searched {
            system: None,
            user: Some(user),
            folder: Some(folder.path().join("project/deep")),
            trusted: None,
        },
        ..Sources::default()
    };
    let mut watch = Watch::new(sources);
    let project = folder.write("project/epitome.toml", "window = 2");
    assert_eq!(settled(&mut watch), Some(Ok("2".to_owned())));
    let deep = folder.write("project/deep/epitome.toml", "window = 3");
    assert_eq!(settled(&mut watch), Some(Ok("3".to_owned())));
    std::fs::remove_file(deep).unwrap();
    assert_eq!(settled(&mut watch), Some(Ok("2".to_owned())));
    std::fs::remove_file(project).unwrap();
    assert_eq!(settled(&mut watch), Some(Ok("1".to_owned())));
}

#[test]
fn a_key_that_is_withdrawn_is_a_change() {
    let folder = Folder::new();
    let tenant = |keys: &str| format!("window = 1\n[tenants.a]\nkey_file = \"{keys}\"");
    let file = folder.write("epitome.toml", &tenant("one.keys"));
    folder.write("one.keys", "first\nsecond\n");
    folder.write("two.keys", "third\n");
    let mut watch = Watch::new(named(file));
    let same = || Some(Ok("1".to_owned()));
    assert_eq!(settled(&mut watch), None);
    folder.write("one.keys", "first\n");
    assert_eq!(settled(&mut watch), same());
    folder.write("two.keys", "fourth\n");
    assert_eq!(settled(&mut watch), None, "nobody's keys");
    folder.write("epitome.toml", &tenant("two.keys"));
    assert_eq!(settled(&mut watch), same());
    folder.write("two.keys", "fifth\n");
    assert_eq!(settled(&mut watch), same());
    folder.write("one.keys", "sixth\n");
    assert_eq!(settled(&mut watch), None);
}
