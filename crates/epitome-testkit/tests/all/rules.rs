use epitome_testkit::{Kind, Rule, Wire, generate, signature, strict};
use serde_json::{Value, json};

fn rules(wire: Wire, messages: &Value) -> Vec<Rule> {
    let request = json!({wire.list_name(): messages});
    strict::check(wire, &request)
        .iter()
        .map(|violation| violation.rule)
        .collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their messages in place"
)]
fn anthropic(messages: Value) -> Vec<Rule> {
    rules(Wire::Anthropic, &messages)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their messages in place"
)]
fn openai(messages: Value) -> Vec<Rule> {
    rules(Wire::OpenaiChat, &messages)
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "grep", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn openai_call(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "grep", "arguments": "{}"}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn openai_result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

#[test]
fn anthropic_merges_neighbours_before_it_looks_at_pairs() {
    let messages = json!([
        user("go"),
        assistant([call("a")].to_vec()),
        assistant([call("b")].to_vec()),
        user([result("a")].to_vec()),
        user([result("b")].to_vec()),
        user("and now?"),
    ]);
    assert_eq!(anthropic(messages), []);
}

#[test]
fn anthropic_pairs() {
    let open = json!([user("go"), assistant([call("a")].to_vec())]);
    assert_eq!(anthropic(open), [Rule::UnansweredCall]);
    let late = json!([
        user("go"),
        assistant([call("a")].to_vec()),
        user("wait"),
        assistant("hm"),
        user([result("a")].to_vec()),
    ]);
    assert_eq!(
        anthropic(late),
        [Rule::UnansweredCall, Rule::UnexpectedResult]
    );
    let twice = json!([
        user("go"),
        assistant([call("a")].to_vec()),
        user([result("a"), result("a")].to_vec())
    ]);
    assert_eq!(anthropic(twice), [Rule::DuplicateResult]);
    let text = json!({"type": "text", "text": "first"});
    let behind = json!([
        user("go"),
        assistant([call("a")].to_vec()),
        user([text, result("a")].to_vec())
    ]);
    assert_eq!(anthropic(behind), [Rule::ResultAfterText]);
    let same_id = json!([
        user("go"),
        assistant([call("a")].to_vec()),
        user([result("a")].to_vec()),
        assistant([call("a")].to_vec()),
        user([result("a")].to_vec()),
    ]);
    assert_eq!(anthropic(same_id), [Rule::DuplicateCallId]);
}

#[test]
fn anthropic_content() {
    assert_eq!(anthropic(json!([])), [Rule::EmptyMessages]);
    assert_eq!(strict::anthropic(&json!({}))[0].rule, Rule::MissingMessages);
    assert_eq!(
        anthropic(json!([assistant("hi")])),
        [Rule::FirstMessageNotUser]
    );
    let note = json!({"role": "system", "content": "The working folder has changed."});
    assert_eq!(
        anthropic(json!([
            user("hi"),
            note,
            assistant("yes"),
            user("go"),
            note
        ])),
        []
    );
    assert_eq!(
        anthropic(json!([user("hi"), note, note, assistant("yes")])),
        []
    );
    assert_eq!(
        anthropic(json!([user("hi"), note, user("there")])),
        [Rule::MisplacedSystem]
    );
    assert_eq!(anthropic(json!([user("")])), [Rule::EmptyContent]);
    assert_eq!(anthropic(json!([user("hi"), assistant("")])), []);
    assert_eq!(
        anthropic(json!([user("hi"), assistant(""), user("there")])),
        [Rule::EmptyContent]
    );
    assert_eq!(
        anthropic(json!([user(
            [json!({"type": "text", "text": " "})].to_vec()
        )])),
        [Rule::EmptyText]
    );
    assert_eq!(
        anthropic(json!([user("hi"), {"role": "tool", "content": "x"}])),
        [Rule::UnknownRole]
    );
    assert_eq!(
        anthropic(
            json!([user("hi"), {"role": "system", "content": "note"}, assistant("x"), user("y")])
        ),
        []
    );
    assert_eq!(
        anthropic(json!([user([call("a")].to_vec())])),
        [Rule::MisplacedBlock]
    );
}

#[test]
fn anthropic_thinking() {
    let thinking = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    let text = json!({"type": "text", "text": "so"});
    let own = thinking("hm", &signature::sign("hm"));
    let check =
        |blocks: Vec<Value>| anthropic(json!([user("hi"), assistant(blocks), user("more")]));
    assert_eq!(check(vec![own.clone(), text.clone()]), []);
    assert_eq!(
        check(vec![thinking("hm!", &signature::sign("hm")), text.clone()]),
        [Rule::InvalidSignature]
    );
    assert_eq!(
        check(vec![
            json!({"type": "thinking", "thinking": "hm"}),
            text.clone()
        ]),
        [Rule::MissingSignature]
    );
    assert_eq!(
        check(vec![text.clone(), own.clone()]),
        [Rule::EndsInThinking]
    );
    let mut marked = own;
    marked["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(
        check(vec![marked, text.clone()]),
        [Rule::CacheMarkOnThinking]
    );
    let foreign = json!({"messages": [user("hi"), assistant(vec![thinking("hm", "Ep0C"), text]), user("more")]});
    assert!(strict::anthropic_foreign(&foreign).is_empty());
    assert_eq!(strict::anthropic(&foreign)[0].rule, Rule::InvalidSignature);
}

#[test]
fn anthropic_cache_marks_count_everywhere() {
    let mark = json!({"type": "ephemeral"});
    let block = json!({"type": "text", "text": "x", "cache_control": mark});
    let request = |in_messages: usize| {
        json!({
            "system": [block],
            "tools": [{"name": "grep", "input_schema": {"type": "object"}, "cache_control": mark}],
            "messages": [user(vec![block.clone(); in_messages])],
        })
    };
    assert!(strict::anthropic(&request(2)).is_empty());
    assert_eq!(
        strict::anthropic(&request(3))[0].rule,
        Rule::TooManyCacheMarks
    );
}

#[test]
fn anthropic_server_tools() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let check = |blocks: Vec<Value>, more: bool| {
        let mut messages = vec![user("hi"), assistant(blocks)];
        messages.extend(more.then(|| user("more")));
        anthropic(Value::Array(messages))
    };
    assert_eq!(check(vec![search.clone(), found.clone()], true), []);
    assert_eq!(check(vec![search.clone()], false), []);
    assert_eq!(check(vec![search], true), [Rule::UnpairedServerTool]);
    assert_eq!(check(vec![found], true), [Rule::UnexpectedResult]);
}

#[test]
fn openai_pairs() {
    assert_eq!(
        openai(json!([
            user("go"),
            openai_call(&["a", "b"]),
            openai_result("b"),
            openai_result("a")
        ])),
        []
    );
    assert_eq!(
        openai(json!([user("go"), openai_call(&["a"])])),
        [Rule::UnansweredCall]
    );
    assert_eq!(
        openai(json!([
            user("go"),
            openai_call(&["a"]),
            user("wait"),
            openai_result("a")
        ])),
        [Rule::UnansweredCall, Rule::UnexpectedResult]
    );
    assert_eq!(
        openai(json!([
            user("go"),
            openai_call(&["a"]),
            openai_result("a"),
            openai_result("a")
        ])),
        [Rule::DuplicateResult]
    );
    assert_eq!(
        openai(json!([
            user("go"),
            openai_call(&["a"]),
            openai_result("a"),
            openai_call(&["a"]),
            openai_result("a"),
        ])),
        [Rule::DuplicateCallId]
    );
}

#[test]
fn openai_content() {
    assert_eq!(openai(json!([user("")])), [Rule::EmptyContent]);
    assert_eq!(
        openai(json!([user("hi"), assistant(Value::Null)])),
        [Rule::EmptyContent]
    );
    assert_eq!(
        openai(json!([user("hi"), {"role": "robot", "content": "x"}])),
        [Rule::UnknownRole]
    );
    let parsed = json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "grep", "arguments": {}}},
    ]});
    assert_eq!(
        openai(json!([user("hi"), parsed, openai_result("a")])),
        [Rule::MalformedArguments]
    );
    assert_eq!(
        strict::check_bytes(Wire::OpenaiChat, b"{")
            .unwrap_err()
            .rule,
        Rule::UnparsableBody
    );
}

#[test]
fn a_violation_says_where_it_is() {
    let request = json!({"messages": [user("go"), assistant([call("a")].to_vec())]});
    let violation = &strict::anthropic(&request)[0];
    assert_eq!((violation.message, violation.block), (Some(1), Some(0)));
    assert!(
        violation
            .to_string()
            .starts_with("messages.1.content.0: `tool_use` ids were found")
    );
}

fn item(kind: &str, call_id: &str) -> Value {
    match kind {
        "function_call" => {
            json!({"type": kind, "call_id": call_id, "name": "grep", "arguments": "{}"})
        }
        "custom_tool_call" => {
            json!({"type": kind, "call_id": call_id, "name": "patch", "input": "x"})
        }
        "reasoning" => json!({"type": kind, "id": call_id, "summary": []}),
        _ => json!({"type": kind, "call_id": call_id, "output": "x"}),
    }
}

#[test]
fn responses_rules_have_names() {
    let call = |id| item("function_call", id);
    let output = |id| item("function_call_output", id);
    let thought = || item("reasoning", "rs_1");
    let said = || json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]});
    for (items, expected) in [
        (json!("one string"), vec![]),
        (json!(""), vec![Rule::EmptyMessages]),
        (json!([]), vec![Rule::EmptyMessages]),
        (json!(7), vec![Rule::MissingMessages]),
        (json!([user("a")]), vec![]),
        (json!([user("a"), assistant("b"), user("c")]), vec![]),
        (
            json!([{"role": "tool", "content": "a"}]),
            vec![Rule::UnknownRole],
        ),
        (json!([{"type": "robot"}]), vec![Rule::MalformedContent]),
        (json!([user("")]), vec![Rule::EmptyContent]),
        (
            json!([user(json!([{"type": "input_text", "text": ""}]))]),
            vec![Rule::EmptyText],
        ),
        (
            json!([assistant(json!([{"type": "input_text", "text": "a"}]))]),
            vec![Rule::MisplacedBlock],
        ),
        (
            json!([call("x"), call("y"), output("y"), output("x")]),
            vec![],
        ),
        (json!([call("x"), user("b"), output("x")]), vec![]),
        (json!([call("x")]), vec![Rule::UnansweredCall]),
        (
            json!([output("x"), call("x")]),
            vec![Rule::UnexpectedResult, Rule::UnansweredCall],
        ),
        (
            json!([call("x"), output("x"), output("x")]),
            vec![Rule::UnexpectedResult],
        ),
        (
            json!([call("x"), output("x"), call("x"), output("x")]),
            vec![Rule::DuplicateCallId],
        ),
        (
            json!([
                item("custom_tool_call", "x"),
                item("custom_tool_call_output", "x")
            ]),
            vec![],
        ),
        (
            json!([{"type": "function_call", "call_id": "x", "name": "n", "arguments": {}}, output("x")]),
            vec![Rule::MalformedArguments],
        ),
        (
            json!([call("x"), {"type": "function_call_output", "call_id": "x"}]),
            vec![Rule::EmptyContent],
        ),
        (json!([thought(), said()]), vec![]),
        (
            json!([thought(), thought(), call("x"), output("x")]),
            vec![],
        ),
        (json!([thought()]), vec![Rule::LoneReasoning]),
        (json!([thought(), user("a")]), vec![Rule::LoneReasoning]),
        (
            json!([{"type": "reasoning", "id": "msg_1", "summary": []}, said()]),
            vec![Rule::MalformedId],
        ),
        (
            json!([{"type": "compaction_trigger"}, user("a")]),
            vec![Rule::MisplacedTrigger],
        ),
        (json!([user("a"), {"type": "compaction_trigger"}]), vec![]),
    ] {
        assert_eq!(rules(Wire::OpenaiResponses, &items), expected, "{items}");
    }
}

#[test]
fn what_reasoning_led_to_needs_it() {
    let request = generate::openai_responses(Kind::Thinking, 3, 40);
    let items = request["input"].as_array().unwrap();
    let thoughts: Vec<usize> = (0..items.len())
        .filter(|&at| items[at]["type"] == "reasoning" && items[at + 1]["type"] != "reasoning")
        .collect();
    assert!(thoughts.len() > 4);
    for at in thoughts {
        // Everything up to it is gone, but not what follows.
        let found = rules(Wire::OpenaiResponses, &json!(items[at + 1..]));
        assert!(found.contains(&Rule::MissingReasoning), "{at}: {found:?}");
    }
}
