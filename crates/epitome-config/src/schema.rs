//! The JSON Schema of the file, made of the same rows.

use epitome::PresetName;
use epitome::settings::{Bounds, Key, Kind, Settings, spellings};
use serde_json::{Map, Value as Json, json};

use crate::field::Section;
use crate::names::{keys, presets_with};
use crate::notation::json_of;
use crate::row::{Form, Row};
use crate::sections::{Hook, Memory, Server, Summarizer, Tenant, default_of};

/// A written threshold.
const THRESHOLD: &str = r"^\s*([Oo][Ff][Ff]|-?[0-9][0-9_]*|[0-9]+(\.[0-9]+)?\s*%)\s*$";

/// The JSON Schema (draft 2020-12) of `epitome.toml`, for editors.
///
/// ```
/// let schema = epitome_config::schema();
/// assert_eq!(schema["properties"]["summarizer"]["properties"]["retries"]["default"], 3);
/// ```
#[must_use]
pub fn schema() -> Json {
    let settings = || json!({"$ref": "#/$defs/settings"});
    let nested = json!({"$ref": "#/$defs/settings", "unevaluatedProperties": false});
    let model = object_of([("compaction", nested.clone())]);
    let models = json!({
        "type": "object",
        "description": "Settings of models, by name; `*` stands for any letters and the most specific name wins.",
        "additionalProperties": {"$ref": "#/$defs/model"},
    });
    let agent = object_of([("compaction", nested.clone()), ("models", models.clone())]);
    let listed = object_of([
        ("id", json!({"type": "string", "description": "The agent."})),
        ("compaction", nested.clone()),
        ("models", models.clone()),
    ]);
    let agents = json!({
        "description": "Settings of single agents: a table for each, or a list of tables with an `id`.",
        "anyOf": [
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/agent"}},
            {"type": "array", "items": with(listed, "required", json!(["id"]))},
        ],
    });
    let mut summarizer = section::<Summarizer>("summarizer", "Who writes summaries.");
    add(
        &mut summarizer,
        "spend",
        section::<Summarizer>("summarizer.spend", "What summaries may cost."),
    );
    add(
        &mut summarizer,
        "templates",
        json!({
            "type": "object",
            "description": "Files in place of built-in templates, by the name of the template.",
            "additionalProperties": {"type": "string"},
        }),
    );
    let hook = with(
        section::<Hook>("hooks", "A program."),
        "required",
        json!(["on", "command"]),
    );
    let hooks = json!({
        "type": "array",
        "description": "Programs that are told about compactions.",
        "items": hook,
    });
    let tenants = json!({
        "type": "object",
        "description": "Those whose requests the proxy takes, by name; without any everybody on this machine is `local`.",
        "propertyNames": {"pattern": "^[A-Za-z0-9._-]{1,64}$"},
        "additionalProperties": section::<Tenant>("tenants", "One tenant."),
    });
    let mut defaults = nested.clone();
    add(&mut defaults, "compaction", nested.clone());
    let root = json!({
        "$schema": {"type": "string"},
        "compaction": nested,
        "defaults": defaults,
        "agents": agents,
        "models": models,
        "summarizer": summarizer,
        "summariser": {"$ref": "#/properties/summarizer", "deprecated": true},
        "memory": section::<Memory>("memory", "Notes that outlive a conversation."),
        "server": section::<Server>("server", "The proxy."),
        "hooks": hooks,
        "tenants": tenants,
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "epitome.toml",
        "description": "How epitome compacts, who writes its summaries, and where its proxy listens.",
        "type": "object",
        "allOf": [settings()],
        "properties": root,
        "unevaluatedProperties": false,
        "$defs": {"settings": all_settings(), "model": model, "agent": agent},
    })
}

/// Settings with these tables beside them.
fn object_of<const N: usize>(inner: [(&str, Json); N]) -> Json {
    let mut object = json!({"$ref": "#/$defs/settings", "unevaluatedProperties": false});
    for (name, schema) in inner {
        add(&mut object, name, schema);
    }
    object
}

/// Every setting of every preset, under each name it may be written by.
fn all_settings() -> Json {
    let words = PresetName::ALL.map(PresetName::as_str);
    let mut top = Map::new();
    put(
        &mut top,
        "preset",
        &[],
        json!({"enum": words, "description": "Which design."}),
    );
    let mut groups: Vec<(&str, Map<String, Json>)> = Vec::new();
    for key in keys() {
        let schema = of_key(key);
        if key.group.is_empty() {
            put(&mut top, key.name, key.aliases, schema);
            continue;
        }
        if !groups.iter().any(|(name, _)| *name == key.group) {
            groups.push((key.group, Map::new()));
        }
        let group = groups.iter_mut().find(|(name, _)| *name == key.group);
        if let Some((_, properties)) = group {
            put(properties, key.name, key.aliases, schema);
        }
    }
    for (name, properties) in groups {
        put(&mut top, name, &[], closed(&properties));
    }
    json!({"type": "object", "properties": top})
}

/// Puts a schema under a name; its other spellings are understood but not what one should write.
fn put(properties: &mut Map<String, Json>, name: &str, aliases: &[&str], schema: Json) {
    let mut other = with(schema.clone(), "deprecated", json!(true));
    if let Some(other) = other.as_object_mut() {
        other.remove("description");
        other.remove("default");
    }
    for spelling in std::iter::once(&name)
        .chain(aliases)
        .flat_map(|name| spellings(name))
    {
        properties.insert(spelling, other.clone());
    }
    properties.insert(name.to_owned(), schema);
}

fn closed(properties: &Map<String, Json>) -> Json {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// The rows of a section.
fn section<S: Section>(name: &str, doc: &str) -> Json {
    let mut properties = Map::new();
    for row in S::rows().into_iter().filter(|row| row.section == name) {
        put(&mut properties, row.name, &[], of_row(row));
    }
    with(closed(&properties), "description", json!(doc))
}

fn of_key(key: &Key) -> Json {
    let presets = presets_with(key);
    let default = |preset: &PresetName| {
        let settings = Settings::of(*preset);
        let found = settings.entries().find(|(other, _)| *other == key);
        found.map(|(_, value)| json_of(&value))
    };
    let defaults: Vec<Option<Json>> = presets.iter().map(default).collect();
    let mut doc = one_line(key.doc());
    if presets.len() < PresetName::ALL.len() {
        let names: Vec<&str> = presets.iter().map(|preset| preset.as_str()).collect();
        doc.push_str(&format!(" Only in `{}`.", names.join("`, `")));
    }
    let mut schema = with(of_kind(key.kind, key.bounds), "description", json!(doc));
    if key.is_optional && key.kind != Kind::Text {
        schema = or_auto(schema);
    }
    match defaults.as_slice() {
        // TOML has no null.
        [Some(first), rest @ ..]
            if !first.is_null() && rest.iter().all(|other| other.as_ref() == Some(first)) =>
        {
            with(schema, "default", first.clone())
        }
        _ => schema,
    }
}

fn of_row(row: &Row) -> Json {
    let schema = match row.form {
        Form::Plain(kind) => of_kind(kind, row.bounds),
        Form::Variable => json!({"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]{0,63})?$"}),
        Form::Command => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        Form::Texts => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
        Form::Digests => {
            json!({"type": "array", "items": {"type": "string", "pattern": "^epitome:[0-9A-Fa-f]{64}$"}})
        }
        Form::Address | Form::Path | Form::Socket => json!({"type": "string"}),
    };
    let mut schema = with(schema, "description", json!(one_line(row.doc())));
    let is_auto = matches!(
        row.form,
        Form::Plain(Kind::Switch | Kind::Whole | Kind::Number)
    );
    if row.is_optional && is_auto {
        schema = or_auto(schema);
    }
    match default_of(row).map(|value| json_of(&value)) {
        Some(default) if row.section != "hooks" || default.is_number() || default.is_boolean() => {
            with(schema, "default", default)
        }
        _ => schema,
    }
}

fn of_kind(kind: Kind, bounds: Bounds) -> Json {
    let schema = match kind {
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Whole => json!({"type": "integer"}),
        Kind::Number => json!({"type": "number"}),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Threshold => {
            json!({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": THRESHOLD}]})
        }
        _ => json!({"type": "string"}),
    };
    match (kind, bounds) {
        (Kind::Whole | Kind::Number, Bounds::AtLeast(least)) => {
            with(schema, "minimum", json!(least))
        }
        (Kind::Whole | Kind::Number, Bounds::Within(least, most)) => with(
            with(schema, "minimum", json!(least)),
            "maximum",
            json!(most),
        ),
        (Kind::Whole | Kind::Number, Bounds::Share) => with(
            with(schema, "exclusiveMinimum", json!(0)),
            "maximum",
            json!(1),
        ),
        _ => schema,
    }
}

/// The schema, or the word for "left open".
fn or_auto(mut schema: Json) -> Json {
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    json!({"anyOf": [schema, {"const": "auto"}], "description": description})
}

fn with(mut schema: Json, name: &str, value: Json) -> Json {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(name.to_owned(), value);
    }
    schema
}

/// Adds a property to the schema of a table.
fn add(schema: &mut Json, name: &str, property: Json) {
    if let Some(schema) = schema.as_object_mut() {
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert(name.to_owned(), property);
        }
    }
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
