//! Values as they are written down.

use epitome::settings::Value;
use serde_json::{Value as Json, json};

/// A value as JSON has it.
pub(crate) fn json_of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Switch(switch) => json!(switch),
        Value::Whole(number) => json!(number),
        Value::Number(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::List(list) => list.iter().map(json_of).collect(),
        Value::Table(table) => {
            let entry = |(key, value): &(String, Value)| (key.clone(), json_of(value));
            Json::Object(table.iter().map(entry).collect())
        }
    }
}

/// A value as TOML writes it.
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Switch(switch) => switch.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => format!("{number:?}"),
        // Every escape of JSON is one of TOML.
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::List(list) => {
            let list: Vec<String> = list.iter().map(toml).collect();
            format!("[{}]", list.join(", "))
        }
        Value::Table(table) => {
            let entry = |(key, value): &(String, Value)| {
                format!(
                    "{} = {}",
                    serde_json::Value::from(key.as_str()),
                    toml(value)
                )
            };
            let entries: Vec<String> = table.iter().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
