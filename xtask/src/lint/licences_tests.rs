use super::super::metadata::Metadata;
use super::refused;

const DENY: &str = "
[graph]
all-features = true

[licenses]
allow = [
    \"MIT\", # the usual one
    \"Unicode-3.0\",
]
";

fn check(license: Option<&str>, source: Option<&str>, expect: &[&str]) {
    let package = serde_json::json!(
        {"id": "a", "name": "a", "version": "1.0.0", "license": license, "source": source, "dependencies": []}
    );
    let metadata: Metadata = serde_json::from_value(
        serde_json::json!({"packages": [package], "workspace_members": ["b"], "resolve": {"nodes": []}}),
    )
    .expect("the shape of cargo metadata");
    assert_eq!(
        refused(&metadata, DENY).expect("a readable deny.toml"),
        expect
    );
}

#[test]
fn licences_are_checked_against_the_list() {
    let registry = Some(super::DEFAULT_REGISTRY);
    check(Some("MIT OR GPL-3.0-only"), registry, &[]);
    check(
        Some("GPL-3.0-only"),
        registry,
        &["a 1.0.0 is under GPL-3.0-only"],
    );
    check(None, registry, &["a 1.0.0 states no licence"]);
    check(
        Some("MIT OR"),
        registry,
        &["a 1.0.0: `MIT OR`: a licence is missing at the end"],
    );
}

#[test]
fn sources_are_the_default_registry_or_the_workspace() {
    check(
        Some("MIT"),
        None,
        &["a 1.0.0 lies in a folder outside the workspace"],
    );
    check(
        Some("MIT"),
        Some("git+https://x.org/a"),
        &["a 1.0.0 comes from git+https://x.org/a"],
    );
}

#[test]
fn the_list_must_be_there() {
    let nothing: Metadata = serde_json::from_value(
        serde_json::json!({"packages": [], "workspace_members": [], "resolve": {"nodes": []}}),
    )
    .expect("the shape of cargo metadata");
    assert!(refused(&nothing, "[licenses]\n").is_err());
    assert!(refused(&nothing, "").is_err());
}

#[test]
fn the_list_of_this_workspace_is_readable() {
    let deny: super::DenyFile =
        toml::from_str(include_str!("../../../deny.toml")).expect("a readable deny.toml");
    assert!(deny.licenses.allow.contains("MIT"));
}
