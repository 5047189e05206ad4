use super::super::files::File;
use super::{NAMES, named_outside};

const LIST: &str = "
    /// A name.
    #[derive(Default)]
    pub enum PresetName {
        /// Ours.
        #[default]
        Default,
        Vibe,
    }
    impl PresetName { const ALL: [Self; 2] = [Self::Default, Self::Vibe]; }
";

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

fn check(path: &str, text: &str, expect: &[&str]) {
    let found = named_outside(&[file(NAMES, LIST), file(path, text)]);
    let expect: Vec<String> = expect
        .iter()
        .map(|named| {
            format!("{path}: {named}: make it a field of Design, in crates/epitome/src/design.rs")
        })
        .collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn a_design_is_not_named_outside_its_room() {
    let path = "crates/epitome-engine/src/ladder.rs";
    check(
        path,
        "if preset == PresetName::Vibe {}",
        &["PresetName::Vibe"],
    );
    check(
        path,
        "match x { epitome::PresetName::Default => 1, DesignSettings::Vibe(own) => 2 }",
        &["PresetName::Default", "DesignSettings::Vibe"],
    );
    check(
        path,
        "use epitome::PresetName::{self, Vibe};",
        &["PresetName::{"],
    );
    check(path, "use epitome::PresetName::*;", &["PresetName::*"]);
    check(
        path,
        "f(PresetName::Vibe);\nf(PresetName :: Vibe);",
        &["PresetName::Vibe"],
    );
    check(
        "crates/epitome/src/designs.rs",
        "PresetName::Vibe",
        &["PresetName::Vibe"],
    );
}

#[test]
fn what_asks_for_no_design_is_fine() {
    let path = "crates/epitome-engine/src/ladder.rs";
    let fine = "
        use epitome::{PresetName, settings::DesignSettings};
        /// `PresetName::Vibe` counts anew.
        fn f(preset: PresetName) -> &'static Design { preset.design() }
        fn g() -> PresetName { PresetName::default() }
        fn all() -> usize { PresetName::ALL.len() }
        fn told() -> &'static str { \"PresetName::Vibe\" }
        #[cfg(test)]
        fn tested() { f(PresetName::Vibe); }
    ";
    check(path, fine, &[]);
    check(path, "Other::Vibe", &[]);
}

#[test]
fn rooms_and_tests_may_name_them() {
    let text = "match name { PresetName::Vibe => DesignSettings::Vibe(own) }";
    for path in [
        "crates/epitome/src/design.rs",
        "crates/epitome/src/design/own.rs",
        "crates/epitome/src/reference/vibe.rs",
        "crates/epitome/tests/all/event.rs",
        "crates/epitome/src/course_tests.rs",
        "crates/epitome-testkit/src/server.rs",
        "README.md",
    ] {
        check(path, text, &[]);
    }
}

#[test]
fn without_the_list_nothing_passes() {
    let missing = [format!("{NAMES}: there is no `enum PresetName` in it")];
    assert_eq!(named_outside(&[]), missing);
    assert_eq!(
        named_outside(&[file(NAMES, "pub enum Names { Vibe }")]),
        missing
    );
}
