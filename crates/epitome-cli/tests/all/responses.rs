//! `epitome compact` on items of OpenAI Responses.

use epitome_testkit::generate::{self, Kind};
use epitome_testkit::strict;
use serde_json::{Value, json};

use crate::support::{json, run_with_input, stderr};

/// The same items as a request body, as an array, and one to a line.
fn forms(request: &Value) -> [String; 3] {
    let items = request["input"].as_array().unwrap();
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    [
        request.to_string(),
        request["input"].to_string(),
        lines.join("\n"),
    ]
}

#[test]
fn every_form_of_items_is_known_and_compacted() {
    for kind in [Kind::Thinking, Kind::Parallel, Kind::Mixed] {
        let request = generate::openai_responses(kind, 4, 90);
        for text in forms(&request) {
            for format in ["auto", "openai-responses"] {
                let arguments = ["compact", "-", "--json", "--format", format];
                let output = run_with_input(&arguments, text.as_bytes());
                assert!(output.status.success(), "{kind:?}: {}", stderr(&output));
                let result = json(&output);
                assert_eq!(result["format"], "openai-responses", "{kind:?}");
                assert_eq!(result["compacted"], true, "{kind:?}");
                let body = json!({"input": result["messages"]});
                assert_eq!(strict::openai_responses(&body), [], "{kind:?}");
            }
        }
    }
}

#[test]
fn the_result_of_bare_items_is_written_as_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let request = generate::openai_responses(Kind::ToolHeavy, 4, 60);
    let text = request["input"].to_string();
    let arguments = ["compact", "-", "--quiet", "--out", out.to_str().unwrap()];
    let output = run_with_input(&arguments, text.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let written: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(strict::openai_responses(&written), []);
    assert!(written["input"].as_array().unwrap().len() < 60);
}

#[test]
fn what_the_provider_keeps_is_left_alone() {
    let mut request = generate::openai_responses(Kind::ToolHeavy, 4, 60);
    request["previous_response_id"] = json!("resp_1");
    let output = run_with_input(&["compact", "-", "--json"], request.to_string().as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let result = json(&output);
    assert_eq!(result["compacted"], false);
    assert_eq!(result["reason"], "server_side_history");
}
