//! Malformed histories that only one of the OpenAI formats can have.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the helpers take what `json!` makes, as one expression"
)]

use bytes::Bytes;
use epitome_wire::{Body, Wire, problems, repair};
use serde_json::{Value, json};

use crate::malformed::{Case, case, chat_call, check_cases, codes, item_call, item_output};

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn result(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

fn without(mut value: Value, name: &str) -> Value {
    value.as_object_mut().unwrap().remove(name);
    value
}

/// A question, this message of the assistant, and the result of `x`.
fn chat_step(message: Value) -> Value {
    json!([user(json!("hi")), message, result("x", json!("done"))])
}

/// A message of the assistant with this call.
fn calling(call: Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [call]})
}

#[test]
fn chat_messages_have_their_form() {
    let call =
        |function: Value| calling(json!({"id": "x", "type": "function", "function": function}));
    let between = |message: Value| json!([user(json!("hi")), message, user(json!("go"))]);
    let said = |text: &str| json!({"type": "text", "text": text});
    check_cases(
        Wire::OpenAiChat,
        &[
            case(
                "null without calls",
                between(json!({"role": "assistant", "content": null})),
                &["empty_message"],
            ),
            case(
                "neither content nor calls",
                between(json!({"role": "assistant"})),
                &["empty_message"],
            ),
            case(
                "nothing but reasoning",
                between(json!({"role": "assistant", "content": null, "reasoning_content": "hm"})),
                &["empty_message"],
            ),
            case(
                "blank content next to calls",
                chat_step(
                    json!({"role": "assistant", "content": " \n", "tool_calls": [chat_call("x")]}),
                ),
                &["empty_message"],
            ),
            case(
                "no parts next to calls",
                chat_step(
                    json!({"role": "assistant", "content": [], "tool_calls": [chat_call("x")]}),
                ),
                &["empty_message"],
            ),
            case(
                "an empty list of calls",
                between(json!({"role": "assistant", "content": "a", "tool_calls": []})),
                &["malformed_content"],
            ),
            case(
                "a call that is not in a list",
                chat_step(
                    json!({"role": "assistant", "content": "a", "tool_calls": chat_call("x")}),
                ),
                &["malformed_content", "orphan_result"],
            ),
            case(
                "a text as list of calls",
                between(json!({"role": "assistant", "content": "a", "tool_calls": "read"})),
                &["malformed_content"],
            ),
            case(
                "a call that is a text",
                chat_step(
                    json!({"role": "assistant", "content": null, "tool_calls": [chat_call("x"), "read"]}),
                ),
                &["malformed_block", "missing_id", "call_in_flight"],
            ),
            case(
                "a call of nothing",
                chat_step(calling(json!({"id": "x", "type": "function"}))),
                &["missing_name"],
            ),
            case(
                "a call without name",
                chat_step(call(json!({"arguments": "{}"}))),
                &["missing_name"],
            ),
            case(
                "a call without arguments",
                chat_step(call(json!({"name": "n"}))),
                &["malformed_arguments"],
            ),
            case(
                "arguments as an object",
                chat_step(call(json!({"name": "n", "arguments": {"a": "b\"c"}}))),
                &["malformed_arguments"],
            ),
            case(
                "neither name nor arguments",
                chat_step(call(json!({}))),
                &["missing_name", "malformed_arguments"],
            ),
            case(
                "a result of null",
                json!([
                    user(json!("hi")),
                    calling(chat_call("x")),
                    result("x", Value::Null)
                ]),
                &["missing_output"],
            ),
            case(
                "a result without parts",
                json!([
                    user(json!("hi")),
                    calling(chat_call("x")),
                    result("x", json!([]))
                ]),
                &["missing_output"],
            ),
            case(
                "a result that is an object",
                json!([
                    user(json!("hi")),
                    calling(chat_call("x")),
                    result("x", json!({"ok": true}))
                ]),
                &["missing_output"],
            ),
            case(
                "an empty part",
                json!([user(json!([said(""), said("a")]))]),
                &["empty_text"],
            ),
            case(
                "nothing but an empty part",
                between(user(json!([said("")]))),
                &["empty_text"],
            ),
            case(
                "a part without type",
                json!([user(json!([{"text": "a"}]))]),
                &["malformed_block"],
            ),
            case(
                "a part that is a text",
                json!([user(json!(["a"]))]),
                &["malformed_block"],
            ),
            case(
                "a number as content",
                json!([user(json!(1.50))]),
                &["malformed_content"],
            ),
            case(
                "a call as Anthropic writes it",
                between(
                    json!({"role": "assistant", "content": [said("a"), {"type": "tool_use", "id": "x"}]}),
                ),
                &["misplaced_block"],
            ),
            case(
                "a result as Anthropic writes it",
                json!([
                    user(json!("hi")),
                    calling(chat_call("x")),
                    user(
                        json!([{"type": "tool_result", "tool_use_id": "x", "content": "done"}, said("a")])
                    ),
                ]),
                &["unanswered_call", "misplaced_result"],
            ),
            case(
                "a message of a model",
                json!([user(json!("a")), {"role": "model", "content": "b"}]),
                &["unknown_role"],
            ),
            case(
                "an empty text next to calls is fine",
                chat_step(
                    json!({"role": "assistant", "content": "", "tool_calls": [chat_call("x")]}),
                ),
                &[],
            ),
            case(
                "an empty result is fine",
                json!([
                    user(json!("hi")),
                    calling(chat_call("x")),
                    result("x", json!(""))
                ]),
                &[],
            ),
        ],
    );
}

#[test]
fn items_of_responses_have_their_form() {
    let with = |name: &str, member: Value| {
        let mut call = item_call("x");
        call[name] = member;
        call
    };
    let step = |call: Value| json!([user(json!("hi")), call, item_output("x")]);
    let mut no_output = item_output("x");
    no_output["output"] = Value::Null;
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let custom = json!({"type": "custom_tool_call", "call_id": "x", "name": "edit", "input": "a"});
    let computer =
        json!({"type": "computer_call", "call_id": "x", "action": {"type": "screenshot"}});
    let shell = json!({"type": "shell_call", "call_id": "x", "action": {"commands": ["ls"]}});
    let patch = json!({"type": "apply_patch_call", "call_id": "x", "operation": {"type": "delete_file", "path": "a"}});
    let go = user(json!("go"));
    check_cases(
        Wire::OpenAiResponses,
        &[
            case(
                "a wrong id",
                step(with("id", json!("call_1"))),
                &["malformed_id"],
            ),
            case(
                "a call without name",
                step(without(item_call("x"), "name")),
                &["missing_name"],
            ),
            case(
                "arguments as an object",
                step(with("arguments", json!({"a": 1}))),
                &["malformed_arguments"],
            ),
            case(
                "a call without arguments",
                step(without(item_call("x"), "arguments")),
                &["malformed_arguments"],
            ),
            case(
                "a result of null",
                json!([user(json!("hi")), item_call("x"), no_output]),
                &["missing_output"],
            ),
            case(
                "a free call without input",
                step(without(custom.clone(), "input")),
                &["malformed_arguments"],
            ),
            case(
                "a free call unanswered",
                json!([user(json!("hi")), custom, go]),
                &["unanswered_call"],
            ),
            case(
                "a shell call unanswered",
                json!([user(json!("hi")), shell, go]),
                &["unanswered_call"],
            ),
            case(
                "a patch unanswered",
                json!([user(json!("hi")), patch, go]),
                &["unanswered_call"],
            ),
            case(
                "a computer's call unanswered",
                json!([user(json!("hi")), computer, go]),
                &["unanswered_call"],
            ),
            case(
                "a result as Chat writes it",
                json!([
                    user(json!("hi")),
                    item_call("x"),
                    result("x", json!("done"))
                ]),
                &["unanswered_call", "misplaced_result"],
            ),
            case(
                "text of the wrong side",
                json!([said("user", "output_text", "a")]),
                &["misplaced_block"],
            ),
            case(
                "text as Chat writes it",
                json!([user(json!("a")), said("assistant", "text", "b")]),
                &["misplaced_block"],
            ),
            case(
                "a picture of the assistant",
                json!([user(json!("a")), said("assistant", "input_image", "")]),
                &["misplaced_block"],
            ),
            case(
                "an empty part",
                json!([user(json!("a")), said("assistant", "output_text", "")]),
                &["empty_text"],
            ),
            case(
                "a message without content",
                json!([user(json!("a")), {"type": "message", "role": "user"}]),
                &["empty_message"],
            ),
            case(
                "a message without parts",
                json!([user(json!("a")), user(json!([]))]),
                &["empty_message"],
            ),
            case(
                "a number as content",
                json!([user(json!(7))]),
                &["malformed_content"],
            ),
            Case {
                left: &["unknown_role"],
                ..case(
                    "a message of a tool",
                    json!([user(json!("a")), {"role": "tool", "content": "b"}]),
                    &["unknown_role"],
                )
            },
        ],
    );
}

#[test]
fn reasoning_stands_in_front_of_what_it_led_to() {
    let hi = user(json!("hi"));
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let note = json!({"role": "developer", "content": "n"});
    let said = json!({"type": "message", "role": "assistant", "content": "b"});
    let trigger = json!({"type": "compaction_trigger"});
    let mut named = item_call("y");
    named["id"] = json!("fc_1");
    check_cases(
        Wire::OpenAiResponses,
        &[
            case(
                "reasoning at the end",
                json!([hi, thought]),
                &["lone_reasoning"],
            ),
            case(
                "two reasonings at the end",
                json!([hi, thought, thought]),
                &["lone_reasoning"],
            ),
            case(
                "reasoning in front of a question",
                json!([hi, thought, hi]),
                &["lone_reasoning"],
            ),
            case(
                "reasoning in front of a note",
                json!([hi, thought, note, said]),
                &["lone_reasoning"],
            ),
            case(
                "reasoning whose call is gone",
                json!([hi, thought, item_output("x"), said]),
                &["lone_reasoning", "orphan_result"],
            ),
            case(
                "reasoning without summaries",
                json!([hi, without(thought.clone(), "summary"), said]),
                &["malformed_reasoning"],
            ),
            case(
                "a wish that is not last",
                json!([hi, trigger, said]),
                &["misplaced_trigger"],
            ),
            case(
                "an answer without its beginning",
                json!([named, item_output("x"), item_output("y"), hi]),
                &["cut_answer", "orphan_result"],
            ),
            case(
                "reasoning and its call are fine",
                json!([hi, thought, item_call("x"), item_output("x"), said]),
                &[],
            ),
            case("a wish at the end is fine", json!([hi, trigger]), &[]),
        ],
    );
}

#[test]
fn what_the_provider_keeps_may_hold_the_call() {
    let request = r#"{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"x","output":"a"},{"role":"user","content":""}]}"#;
    let body = Body::scan(Bytes::from(request), Wire::OpenAiResponses).unwrap();
    assert_eq!(codes(&problems(&body)), ["empty_message"]);
    let after = repair(&body).splice.into_bytes();
    assert!(
        std::str::from_utf8(&after)
            .unwrap()
            .contains("\"call_id\":\"x\"")
    );
}
