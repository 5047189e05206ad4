use std::fs;

use super::found;

#[test]
fn folders_that_are_there_are_found_and_may_have_been_moved() {
    let home = tempfile::tempdir().unwrap();
    let moved = tempfile::tempdir().unwrap();
    let claude = home.path().join(".claude/projects");
    fs::create_dir_all(&claude).unwrap();
    fs::create_dir_all(home.path().join(".codex/sessions")).unwrap();
    fs::create_dir_all(moved.path().join("sessions")).unwrap();
    let variable = |name: &str| (name == "CODEX_HOME").then(|| moved.path().to_owned());
    let folders = found(Some(home.path()), variable);
    assert_eq!(folders, [claude, moved.path().join("sessions")]);
    assert!(found(None, |_| None).is_empty());
}
