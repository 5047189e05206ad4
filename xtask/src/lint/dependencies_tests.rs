use super::super::metadata::Metadata;
use super::{across_borders, unexplained};

/// A workspace in lines of `member: name kind, name kind`; every name is also a package, in the graph as in the
/// manifests.
fn workspace(lines: &[&str]) -> Metadata {
    let mut packages = Vec::new();
    let mut nodes = Vec::new();
    let mut members = Vec::new();
    for line in lines {
        let (name, list) = line.split_once(':').expect("a colon after the name");
        let dependencies: Vec<(&str, Option<&str>)> = list
            .split(',')
            .filter_map(|item| {
                let mut words = item.split_whitespace();
                words.next().map(|name| (name, words.next()))
            })
            .collect();
        let manifest: Vec<_> = dependencies
            .iter()
            .map(|(name, kind)| serde_json::json!({"name": name, "kind": kind}))
            .collect();
        let edges: Vec<_> = dependencies
            .iter()
            .map(|(name, kind)| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]}))
            .collect();
        if name.starts_with("epitome") || name == "xtask" {
            members.push(name);
        }
        packages.push(serde_json::json!({"id": name, "name": name, "version": "1.0.0", "dependencies": manifest}));
        nodes.push(serde_json::json!({"id": name, "deps": edges}));
    }
    serde_json::from_value(
        serde_json::json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}}),
    )
    .expect("the shape of cargo metadata")
}

#[test]
fn the_arrows_of_the_design_are_allowed() {
    let metadata = workspace(&[
        "epitome: serde, epitome-testkit dev, tokio dev",
        "epitome-wire: epitome, epitome-testkit dev",
        "epitome-files: epitome, epitome-wire, epitome-testkit dev",
        "epitome-store: epitome, tokio",
        "epitome-engine: epitome, epitome-wire, epitome-store",
        "epitome-server: epitome, epitome-wire, epitome-store, epitome-engine",
        "epitome-cli: epitome, epitome-server",
        "epitome-testkit: epitome-wire, tokio",
        "xtask: anyhow",
        "serde:",
        "tokio:",
        "anyhow:",
    ]);
    assert_eq!(across_borders(&metadata), [""; 0]);
}

#[test]
fn other_arrows_are_named() {
    let check =
        |lines: &[&str], expect: &[&str]| assert_eq!(across_borders(&workspace(lines)), expect);
    check(
        &[
            "epitome: epitome-wire",
            "epitome-wire: epitome-store",
            "epitome-store:",
        ],
        &[
            "epitome may not depend on epitome-wire",
            "epitome-wire may not depend on epitome-store",
        ],
    );
    check(
        &["epitome-wire: epitome-files", "epitome-files: epitome-wire"],
        &["epitome-wire may not depend on epitome-files"],
    );
    check(
        &["epitome-store: epitome-wire build", "epitome-wire:"],
        &["epitome-store may not depend on epitome-wire"],
    );
    check(
        &["epitome-cli: epitome-testkit", "epitome-testkit:"],
        &["epitome-cli may have epitome-testkit for its tests only"],
    );
    check(
        &["epitome-new:"],
        &["epitome-new has no row in the table of crate borders"],
    );
}

#[test]
fn the_core_has_no_runtime_however_deep() {
    let metadata = workspace(&[
        "epitome: harmless",
        "harmless: deeper build, hyper dev",
        "deeper: tokio",
        "tokio:",
        "hyper:",
    ]);
    assert_eq!(
        across_borders(&metadata),
        ["epitome may not have tokio below it"]
    );
}

#[test]
fn dependencies_are_named_in_backticks() {
    let metadata = workspace(&[
        "epitome: serde, bytes",
        "epitome-wire: epitome, bytes, proptest dev",
        "serde:",
        "bytes:",
        "proptest:",
    ]);
    assert_eq!(
        unexplained(
            &metadata,
            "`serde` for derives; bytes and `proptest-derive` are mentioned"
        ),
        [
            "bytes (used by epitome, epitome-wire)",
            "proptest (used by epitome-wire)"
        ]
    );
    assert_eq!(
        unexplained(&metadata, "`serde`, `bytes`, `proptest`"),
        [""; 0]
    );
}
