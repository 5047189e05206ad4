//! Malformed histories that only Anthropic Messages can have.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the helpers take what `json!` makes, as one expression"
)]

use epitome_testkit::signature;
use epitome_wire::{Body, Wire, problems, repair};
use serde_json::{Value, json};

use crate::fixtures::bytes;
use crate::malformed::{Case, case, check, check_cases, tool_result, tool_use};

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": signature::sign("hm")})
}

fn with(mut value: Value, name: &str, member: Value) -> Value {
    value[name] = member;
    value
}

fn without(mut value: Value, name: &str) -> Value {
    value.as_object_mut().unwrap().remove(name);
    value
}

/// A question, an answer of these blocks, and another question.
fn answered(blocks: Value) -> Value {
    json!([user(json!("hi")), assistant(blocks), user(json!("go on"))])
}

/// A question, one call, and this message.
fn called(behind: Value) -> Value {
    json!([user(json!("hi")), assistant(json!([tool_use("x")])), behind])
}

fn server_call() -> Value {
    json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}})
}

fn server_result() -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})
}

#[test]
fn thinking_is_dropped_whole_where_it_cannot_stay() {
    let redacted = json!({"type": "redacted_thinking", "data": "secret"});
    let mark = json!({"type": "ephemeral"});
    check_cases(
        Wire::Anthropic,
        &[
            case(
                "thinking at the end",
                answered(json!([said("b"), thought()])),
                &["ends_in_thinking"],
            ),
            case(
                "two thoughts at the end",
                answered(json!([said("b"), redacted, thought()])),
                &["ends_in_thinking"],
            ),
            case(
                "nothing but thinking",
                answered(json!([thought()])),
                &["ends_in_thinking"],
            ),
            case(
                "thinking without signature",
                answered(json!([without(thought(), "signature"), said("b")])),
                &["missing_signature"],
            ),
            case(
                "thinking with an empty signature",
                answered(json!([with(thought(), "signature", json!("")), said("b")])),
                &["missing_signature"],
            ),
            case(
                "thinking without thinking",
                answered(json!([without(thought(), "thinking"), said("b")])),
                &["missing_thinking"],
            ),
            case(
                "redacted thinking without data",
                answered(json!([without(redacted, "data"), said("b")])),
                &["missing_thinking"],
            ),
            case(
                "thinking of the user",
                json!([user(json!([thought(), said("a")]))]),
                &["misplaced_block"],
            ),
            case(
                "a cache mark on thinking",
                answered(json!([with(thought(), "cache_control", mark), said("b")])),
                &["misplaced_cache_mark"],
            ),
            case(
                "thinking in front is fine",
                answered(json!([thought(), said("b")])),
                &[],
            ),
        ],
    );
}

#[test]
fn results_stand_first_and_together_in_the_users_message() {
    let two = json!([tool_use("x"), tool_use("y")]);
    check_cases(
        Wire::Anthropic,
        &[
            case(
                "a result behind text",
                called(user(json!([said("here"), tool_result("x")]))),
                &["result_behind_text"],
            ),
            case(
                "one of two results behind text",
                json!([
                    user(json!("hi")),
                    assistant(two.clone()),
                    user(json!([tool_result("y"), said("and"), tool_result("x")]))
                ]),
                &["result_behind_text"],
            ),
            case(
                "results split over two messages",
                json!([
                    user(json!("hi")),
                    assistant(two.clone()),
                    user(json!([tool_result("x")])),
                    user(json!([tool_result("y"), said("both")]))
                ]),
                &["split_results"],
            ),
            case(
                "a result in a message behind text",
                json!([
                    user(json!("hi")),
                    assistant(two),
                    user(json!([tool_result("x"), said("one")])),
                    user(json!([tool_result("y")]))
                ]),
                &["late_result"],
            ),
            case(
                "a result in the assistant's message",
                json!([
                    user(json!("hi")),
                    assistant(json!([tool_use("x"), tool_result("x")])),
                    user(json!("go"))
                ]),
                &["unanswered_call", "misplaced_result"],
            ),
            case(
                "a result as Chat writes it",
                called(json!({"role": "tool", "tool_call_id": "x", "content": "done"})),
                &["unanswered_call", "misplaced_result"],
            ),
            case(
                "a call in the user's message",
                json!([
                    user(json!([said("a"), tool_use("x")])),
                    assistant(json!("b"))
                ]),
                &["misplaced_block"],
            ),
            case(
                "an empty text in a result",
                called(user(json!([with(
                    tool_result("x"),
                    "content",
                    json!([said(""), said("z")])
                )]))),
                &["empty_text"],
            ),
            case(
                "text behind a result is fine",
                called(user(json!([tool_result("x"), said("b")]))),
                &[],
            ),
            case(
                "a result without content is fine",
                called(user(json!([without(tool_result("x"), "content")]))),
                &[],
            ),
        ],
    );
}

#[test]
fn blocks_have_their_form() {
    let call = |call: Value| {
        json!([
            user(json!("hi")),
            assistant(json!([call])),
            user(json!([tool_result("x")]))
        ])
    };
    check_cases(
        Wire::Anthropic,
        &[
            case(
                "an empty text block",
                answered(json!([said(" "), said("b")])),
                &["empty_text"],
            ),
            case(
                "nothing but an empty text block",
                answered(json!([said("")])),
                &["empty_text"],
            ),
            case(
                "an empty text block at the end",
                json!([user(json!("a")), assistant(json!([said("")]))]),
                &["empty_text"],
            ),
            case(
                "a cache mark on an empty text",
                answered(json!([said("b"), marked("")])),
                &["empty_text", "misplaced_cache_mark"],
            ),
            case("no blocks", answered(json!([])), &["empty_message"]),
            case("no content", answered(Value::Null), &["empty_message"]),
            case(
                "a number as content",
                json!([user(json!(5))]),
                &["malformed_content"],
            ),
            case(
                "one block as content",
                json!([user(said("a"))]),
                &["malformed_content"],
            ),
            case(
                "an object as content",
                json!([user(json!({"a": 1}))]),
                &["malformed_content"],
            ),
            case(
                "a bare text as block",
                json!([
                    user(json!([marked("a")])),
                    assistant(json!([{"text": "b"}]))
                ]),
                &["malformed_block"],
            ),
            case(
                "an object without type",
                json!([user(json!([said("a"), {"b": 1}]))]),
                &["malformed_block"],
            ),
            case(
                "a call without name",
                call(without(tool_use("x"), "name")),
                &["missing_name"],
            ),
            case(
                "a call without input",
                call(without(tool_use("x"), "input")),
                &["malformed_arguments"],
            ),
            case(
                "a call whose input is JSON in a text",
                call(with(tool_use("x"), "input", json!("{\"path\": \"a\"}"))),
                &["malformed_arguments"],
            ),
            case(
                "a call whose input is a list",
                call(with(tool_use("x"), "input", json!([1]))),
                &["malformed_arguments"],
            ),
            case(
                "a message of a human",
                json!([{"role": "human", "content": "a"}]),
                &["unknown_role"],
            ),
            case(
                "a developer's message",
                json!([user(json!("a")), {"role": "developer", "content": "b"}]),
                &["unknown_role"],
            ),
            Case {
                left: &["unknown_role"],
                ..case(
                    "a robot's message",
                    json!([user(json!("a")), {"role": "robot", "content": "b"}]),
                    &["unknown_role"],
                )
            },
        ],
    );
}

#[test]
fn server_tools_are_answered_in_place() {
    check_cases(
        Wire::Anthropic,
        &[
            case(
                "a search without result",
                answered(json!([server_call(), said("b")])),
                &["unpaired_server_tool"],
            ),
            case(
                "a result without search",
                answered(json!([server_result(), said("b")])),
                &["unpaired_server_tool"],
            ),
            case(
                "two searches with one id",
                answered(json!([
                    server_call(),
                    server_result(),
                    server_call(),
                    server_result(),
                    said("b")
                ])),
                &["unpaired_server_tool", "unpaired_server_tool"],
            ),
            case(
                "a search with its result is fine",
                answered(json!([server_call(), server_result(), said("b")])),
                &[],
            ),
            case(
                "a paused turn is fine",
                json!([
                    user(json!("a")),
                    assistant(json!([said("b"), server_call()]))
                ]),
                &[],
            ),
        ],
    );
}

#[test]
fn the_oldest_of_too_many_cache_marks_go() {
    let question = |name: &str| user(json!([marked(name)]));
    let messages = json!([
        question("a"),
        assistant(json!([said("b")])),
        question("c"),
        assistant(json!([marked("d")])),
        question("e"),
    ]);
    let request = json!({"system": [marked("s")], "messages": messages});
    let body = Body::scan(bytes(&request), Wire::Anthropic).unwrap();
    let after = check("five marks", &body, &["too_many_cache_marks"], &[]);
    let after: Value = serde_json::from_slice(&after).unwrap();
    assert_eq!(after["messages"][0], user(json!([said("a")])));
    assert_eq!(after["messages"][2], question("c"));
    let tools: Vec<Value> = (0..5)
        .map(|_| with(json!({"name": "t"}), "cache_control", json!({})))
        .collect();
    let request = json!({"tools": tools, "messages": [user(json!("a"))]});
    let body = Body::scan(bytes(&request), Wire::Anthropic).unwrap();
    let code = ["too_many_cache_marks"];
    check("marks that are not in messages", &body, &code, &code);
}

#[test]
fn a_problem_says_where_it_is_and_a_fix_what_was_done() {
    let messages = json!([
        user(json!("hi")),
        assistant(json!([said("b"), tool_use("x"), tool_use("y")])),
        user(json!([tool_result("x"), tool_result("z")])),
        assistant(json!("c")),
    ]);
    let body = Body::scan(bytes(&json!({"messages": messages})), Wire::Anthropic).unwrap();
    let texts: Vec<String> = problems(&body).iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "unanswered_call: message 2, block 3: the call \"y\" has no result right behind it",
            "orphan_result: message 3, block 2: no call before has the id \"z\" of the result",
        ]
    );
    let repaired = repair(&body);
    let texts: Vec<String> = repaired.done.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "orphan_result: message 3: no call has the id \"z\" of the result; it is dropped",
            "unanswered_call: message 2: the call \"y\" has no result; one that says so is put in",
        ]
    );
    let after: Value = serde_json::from_slice(&repaired.splice.into_bytes()).unwrap();
    let results = after["messages"][2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["tool_use_id"], "y");
    assert_eq!(results[1]["is_error"], true);
}
