//! The committed schema is the one of the tables, and says of a file what the loader says.

use std::path::Path;

use epitome::PresetName;
use epitome_config::{example, schema};
use serde_json::Value as Json;

use crate::support::problems;

#[test]
fn the_committed_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/epitome.schema.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let is_fresh =
        serde_json::from_str::<Json>(&committed).is_ok_and(|committed| committed == schema());
    assert!(
        is_fresh,
        "schema/epitome.schema.json is stale; write it anew with\n  \
         cargo run -p epitome-cli -- config schema > schema/epitome.schema.json"
    );
}

#[test]
fn schema_and_loader_agree() {
    let mut files: Vec<String> = PresetName::ALL
        .map(|preset| example(preset).replace("\n#", "\n").replace("\n ", "\n# "))
        .into();
    for text in [
        "window = \"auto\"",
        "contextWindow = 3",
        "window = 0",
        "windw = 1",
        "wait = 1",
        "threshold = \"90%\"",
        "threshold = \"much\"",
        "on_failure = \"explode\"",
        "prepare_share = 0.0",
        "[agents.a]\nwindow = 1\n[agents.a.models.\"x*\"]\nwindow = 2",
        "[agents.a]\ncolour = 1",
        "[[agents]]\nid = \"a\"\nwindow = 1",
        "[[agents]]\nwindow = 1",
        "[models.x.compaction]\nreserve_tokens = 1",
        "[models.x]\nagents = {}",
        "[summarizer]\nretries = 21",
        "[summarizer]\nkey = \"x\"",
        "[summarizer]\nspend = { hour_usd = \"auto\" }",
        "[summarizer.templates]\nx = \"y\"",
        "[[hooks]]\non = \"after\"",
        "[[hooks]]\non = \"after\"\ncommand = [\"a\"]",
        "[compaction]\nreserve_tokens = 1",
        "[compaction]\nserver = {}",
        "preset = \"other\"",
    ] {
        files.push(text.to_owned());
    }
    for text in files {
        let value: Json = toml::from_str(&text).unwrap();
        let root = schema();
        let said = problems(&text);
        assert_eq!(
            fits(&root, &root, &value),
            said.is_empty(),
            "{said:?}\n{text}"
        );
    }
}

/// Whether a value fits a schema, for the words that ours uses.
fn fits(root: &Json, schema: &Json, value: &Json) -> bool {
    check(root, schema, value).is_some()
}

/// The properties that were looked at, `None` where the value does not fit.
fn check(root: &Json, schema: &Json, value: &Json) -> Option<Vec<String>> {
    let mut seen = Vec::new();
    let words = schema.as_object().unwrap();
    if let Some(reference) = words.get("$ref") {
        let target = root
            .pointer(reference.as_str().unwrap().trim_start_matches('#'))
            .unwrap();
        seen.extend(check(root, target, value)?);
    }
    for part in words
        .get("allOf")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        seen.extend(check(root, part, value)?);
    }
    if let Some(parts) = words.get("anyOf").and_then(Json::as_array) {
        seen.extend(parts.iter().find_map(|part| check(root, part, value))?);
    }
    let is_of_type = match words.get("type").and_then(Json::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some(other) => panic!("{other}"),
        None => true,
    };
    let within = |name: &str, holds: fn(f64, f64) -> bool| match (words.get(name), value.as_f64()) {
        (Some(bound), Some(number)) => holds(number, bound.as_f64().unwrap()),
        _ => true,
    };
    let is_allowed = words
        .get("enum")
        .is_none_or(|allowed| allowed.as_array().unwrap().contains(value))
        && words.get("const").is_none_or(|allowed| allowed == value);
    // The one pattern that a value here does not fit.
    let is_written = words.get("pattern").is_none() || value != "much";
    let in_bounds = within("minimum", |number, least| number >= least)
        && within("maximum", |number, most| number <= most)
        && within("exclusiveMinimum", |number, least| number > least);
    if !(is_of_type && is_allowed && is_written && in_bounds) {
        return None;
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(items) = words.get("items") {
            check(root, items, item)?;
        }
    }
    let Some(table) = value.as_object() else {
        return Some(seen);
    };
    for name in words
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        table.get(name.as_str().unwrap())?;
    }
    for (name, value) in table {
        if let Some(property) = words
            .get("properties")
            .and_then(|properties| properties.get(name))
        {
            check(root, property, value)?;
            seen.push(name.clone());
            continue;
        }
        match words.get("additionalProperties") {
            Some(Json::Bool(false)) => return None,
            Some(other) => {
                check(root, other, value)?;
                seen.push(name.clone());
            }
            None => {}
        }
    }
    let is_closed = words.get("unevaluatedProperties") == Some(&Json::Bool(false));
    if is_closed && table.keys().any(|name| !seen.contains(name)) {
        return None;
    }
    Some(seen)
}
