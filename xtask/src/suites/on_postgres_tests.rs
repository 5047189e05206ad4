use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{PARTS, Part};

const PART: Part = Part {
    suite: "some tests/all",
    modules: &["kill::", "rounds::"],
    soak_only: &["sdk::"],
};

fn all() -> Vec<String> {
    let all = ["kill::one", "kills::two", "rounds::one", "sdk::one"];
    all.map(ToOwned::to_owned).into()
}

#[test]
fn a_part_is_what_its_modules_have() {
    assert_eq!(
        PART.names(&all(), None).unwrap(),
        ["kill::one", "rounds::one"]
    );
    assert_eq!(PART.names(&all(), Some("ound")).unwrap(), ["rounds::one"]);
    assert_eq!(PART.said(), "kill, rounds; under soak also sdk");
}

#[test]
fn a_module_that_is_gone_is_said() {
    let without: Vec<String> = all().into_iter().skip(1).collect();
    let error = PART.names(&without, None).unwrap_err();
    assert!(error.to_string().contains("kill::*"), "{error}");
}

/// The modules of an integration suite that keep a store where the run wants it.
fn keeping_stores(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            if text.contains("stores::") || text.contains("Folder::new()") {
                let inside = path.strip_prefix(folder).unwrap();
                let top = inside.components().next().unwrap().as_os_str();
                found.insert(top.to_string_lossy().trim_end_matches(".rs").to_owned());
            }
        }
    }
    found.remove("support");
    found
}

#[test]
fn no_module_that_keeps_stores_is_forgotten() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for part in PARTS {
        let Some(package) = part.suite.strip_suffix(" tests/all") else {
            continue;
        };
        let named = part.modules.iter().chain(part.soak_only);
        let named = named.map(|module| module.trim_start_matches("all::").trim_end_matches("::"));
        let named: BTreeSet<String> = named.map(ToOwned::to_owned).collect();
        let found = keeping_stores(&crates.join(package).join("tests/all"));
        assert!(
            found.is_subset(&named),
            "{package}: {found:?} is not in {named:?}"
        );
    }
}
