//! What only Responses has: items, units of thinking, histories that the provider keeps.

use bytes::Bytes;
use epitome::{Block, Meter, Reason, Role, View, ViewItem};
use epitome_testkit::data::{data, files, stem};
use epitome_wire::{Body, BodyError, Wire, detect};
use serde_json::{Value, json};

use crate::cuts::check_cuts;
use crate::fixtures::{bytes, conversation, decoded};
use crate::traffic;

fn body(items: &Value) -> Body {
    let request = json!({"model": "gpt-5", "input": items, "store": false});
    Body::scan(bytes(&request), Wire::OpenAiResponses).unwrap()
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "grep", "arguments": "{\"a\":1}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "found"})
}

fn cuts(items: &Value) -> Vec<u32> {
    conversation(&body(items), Meter::Estimate)
        .log
        .cuts()
        .to_vec()
}

#[test]
fn an_answer_with_thinking_is_one_unit() {
    let note = json!({"role": "developer", "content": "n"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}});
    for (items, expected) in [
        // Thinking, a text and two calls, then what came of it.
        (
            json!([
                user("a"),
                thought(),
                said("b"),
                call("x"),
                call("y"),
                output("x"),
                output("y"),
                thought(),
                said("c"),
                user("d")
            ]),
            vec![0, 1, 7, 9],
        ),
        // Without thinking the text stands for itself; calls of one breath stay together.
        (
            json!([
                user("a"),
                said("b"),
                call("x"),
                call("y"),
                output("y"),
                output("x"),
                said("c")
            ]),
            vec![0, 1, 2, 6],
        ),
        // A server tool is done when its item is: every thought begins a unit.
        (
            json!([
                user("a"),
                thought(),
                search,
                thought(),
                search,
                thought(),
                said("b"),
                user("c")
            ]),
            vec![0, 1, 3, 5, 7],
        ),
        // Thinking twice, and a note of the client in between.
        (
            json!([
                user("a"),
                thought(),
                thought(),
                note,
                call("x"),
                output("x"),
                note,
                user("b")
            ]),
            vec![0, 1, 6, 7],
        ),
        // What is in flight, or not thought out, ends in no cut.
        (json!([user("a"), thought(), call("x")]), vec![0, 1]),
        // The output comes late: nothing between may part it from its call.
        (
            json!([
                user("a"),
                call("x"),
                user("b"),
                said("c"),
                output("x"),
                user("d")
            ]),
            vec![0, 1, 5],
        ),
        // An abandoned call does not close the rest.
        (
            json!([user("a"), call("x"), user("b"), said("c"), user("d")]),
            vec![0, 1, 2, 3, 4],
        ),
    ] {
        assert_eq!(cuts(&items), expected, "{items}");
    }
}

#[test]
fn items_say_what_the_core_needs() {
    let items = json!([
        {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "p", "output": [{"type": "input_text", "text": "ok"}, {"type": "input_image", "image_url": "data:,", "detail": "low"}]},
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "l", "status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "l", "output": "{}"},
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "s", "output": [{"stdout": "out", "stderr": "err", "outcome": {"type": "exit", "exit_code": 0}}]},
        {"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {"type": "wait"}, "pending_safety_checks": [], "status": "completed"},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "data:,"}},
        {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "ask", "arguments": "{}", "output": "answer", "error": null},
        {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "ask", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true},
        {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}], "status": "completed"},
        {"type": "tool_search_call", "call_id": null, "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "call_id": null, "execution": "server", "tools": []},
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
        {"type": "additional_tools", "role": "developer", "tools": []},
    ]);
    let body = body(&items);
    let shown: Vec<String> = decoded(&body)
        .iter()
        .map(|message| {
            let blocks: Vec<String> = message
                .blocks
                .iter()
                .map(|block| match block {
                    Block::Call(call) => format!("call {} {}", call.name, call.arguments),
                    Block::Result(result) => {
                        format!("result {}", result.texts().collect::<Vec<_>>().join("+"))
                    }
                    Block::Opaque { .. } => "opaque".to_owned(),
                    other => format!("{other:?}"),
                })
                .collect();
            format!("{} {}", message.role.as_str(), blocks.join(", "))
        })
        .collect();
    let expected = [
        "assistant call apply_patch *** Begin",
        "tool result ok",
        r#"assistant call local_shell {"type":"exec","command":["ls"],"env":{}}"#,
        "tool result {}",
        r#"assistant call shell {"commands":["ls"]}"#,
        "tool result out+err",
        r#"assistant call computer {"type":"wait"}"#,
        "tool result ",
        "assistant call ask {}, result answer",
        "assistant call ask {}",
        "tool result ",
        "assistant call code_interpreter 1+1, result 2",
        "assistant call tool_search {}, result ",
        "assistant opaque",
        "assistant opaque",
        "system opaque",
    ];
    // Members of the test's own objects are sorted by name.
    let expected = expected.map(|line| {
        line.replace(
            r#"{"type":"exec","command":["ls"],"env":{}}"#,
            r#"{"command":["ls"],"env":{},"type":"exec"}"#,
        )
    });
    assert_eq!(shown, expected);
    assert_eq!(
        epitome_wire::violations(Wire::OpenAiResponses, &decoded(&body)),
        []
    );
    let log = conversation(&body, Meter::Estimate).log;
    // What nobody knows stays with the answer it stands in.
    assert_eq!(log.cuts(), [0, 2, 4, 6, 8, 9, 11, 12]);
}

#[test]
fn a_history_that_the_provider_keeps_is_recognised() {
    let reference = Some(Reason::ServerSideHistory);
    let managed = Some(Reason::ProviderManaged);
    for (members, items, expected) in [
        ("", "", None),
        (
            r#""previous_response_id":null,"conversation":null,"#,
            "",
            None,
        ),
        (r#""previous_response_id":"resp_1","#, "", reference),
        (r#""conversation":{"id":"conv_1"},"#, "", reference),
        (r#""conversation":"conv_1","#, "", reference),
        ("", r#",{"type":"item_reference","id":"msg_1"}"#, None),
        ("", r#",{"id":"msg_1"}"#, None),
        (
            "",
            r#",{"type":"compaction","encrypted_content":"x"}"#,
            managed,
        ),
        ("", r#",{"type":"compaction_trigger"}"#, managed),
        (
            "",
            r#",{"type":"compaction","encrypted_content":"x"},{"id":"msg_1"}"#,
            managed,
        ),
        (
            "",
            r#",{"role":"user","content":"what is \"compaction\" or \"item_reference\"?"}"#,
            None,
        ),
    ] {
        let text = format!(r#"{{{members}"input":[{{"role":"user","content":"a"}}{items}]}}"#);
        let body = Body::scan(Bytes::from(text.clone()), Wire::OpenAiResponses).unwrap();
        assert_eq!(body.kept_by_provider(), expected, "{text}");
    }
    let chat = r#"{"previous_response_id":"x","messages":[{"role":"user","content":"a"}]}"#;
    let chat = Body::scan(Bytes::from_static(chat.as_bytes()), Wire::OpenAiChat).unwrap();
    assert_eq!(chat.kept_by_provider(), None);
}

#[test]
fn an_input_of_one_string_is_left_alone() {
    let text = Bytes::from_static(br#"{"model":"gpt-5","input":"Write a poem."}"#);
    let error = Body::scan(text.clone(), Wire::OpenAiResponses).unwrap_err();
    assert_eq!(error, BodyError::NoMessages("input"));
    assert_eq!(error.reason(), Reason::NoMessages);
    assert!(detect(&text, None).is_err());
}

#[test]
fn every_place_of_a_summary_is_spelled_as_items() {
    let items = json!([user("task"), said("b"), user("c"), said("d")]);
    let body = body(&items);
    let rendered = |items: Vec<ViewItem>, summary: &str| -> Vec<Value> {
        let out = body.render(&View { items }, summary).unwrap().into_bytes();
        let parsed: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (&parsed["model"], &parsed["store"]),
            (&json!("gpt-5"), &json!(false))
        );
        parsed["input"].as_array().unwrap().clone()
    };
    let entries = ViewItem::Entries;
    assert_eq!(
        rendered(
            vec![entries(0..1), ViewItem::Summary, entries(3..4)],
            "s\"\n"
        ),
        [user("task"), user("s\"\n"), said("d")]
    );
    assert_eq!(
        rendered(vec![ViewItem::AssistantSummary, entries(2..4)], "s"),
        [said("s"), user("c"), said("d")]
    );
    let merged = vec![
        ViewItem::Merged(0),
        ViewItem::Inserted(Role::Assistant, "ok"),
        entries(2..3),
    ];
    assert_eq!(
        rendered(merged, " and the summary"),
        [user("task and the summary"), said("ok"), user("c")]
    );
}

/// The items that Codex sent, as they stand in its session files: every legal cut, by both judges.
#[test]
fn every_cut_of_real_codex_items_is_valid() {
    let Some(folder) = data("every_cut_of_real_codex_items_is_valid", "native/codex") else {
        return;
    };
    let mut tried = 0;
    for path in files(&folder, "jsonl") {
        let traffic = traffic::codex_items(&path);
        for (number, run) in traffic.runs.iter().enumerate() {
            let body = traffic.body(&run.spelled);
            let problems = epitome_wire::violations(Wire::OpenAiResponses, &decoded(&body));
            assert_eq!(problems, [], "{}", path.display());
            let name = format!("{} run {number}", stem(&path));
            let cuts = check_cuts(&name, &body, 1);
            assert!(cuts * 8 > body.len(), "{name}: {cuts} of {}", body.len());
            tried += cuts;
        }
    }
    eprintln!("every_cut_of_real_codex_items_is_valid: {tried} cuts");
    assert!(tried > 400, "{tried}");
}
