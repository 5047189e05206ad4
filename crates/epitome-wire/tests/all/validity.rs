//! Our own judge: silent about what is valid, and never silent about what is not.

use bytes::Bytes;
use epitome::{Meter, Reason};
use epitome_testkit::cases::property;
use epitome_testkit::{Damage, Kind, generate};
use epitome_wire::{Body, ChainKey, Conversation, Memo, ViolationKind, Wire, violations};
use serde_json::{Value, json};

use crate::fixtures::{bytes, decoded, generated, testkit};

fn kinds(wire: Wire, request: &Value) -> Vec<ViolationKind> {
    let body = Body::scan(bytes(request), wire).unwrap();
    let found = violations(wire, &decoded(&body));
    found.into_iter().map(|violation| violation.kind).collect()
}

#[test]
fn what_is_valid_is_left_alone_and_what_is_damaged_is_named() {
    property(5, 30, |random, size| {
        for &wire in Wire::ALL {
            let kind =
                *random.pick(&[Kind::ToolHeavy, Kind::Parallel, Kind::Thinking, Kind::Mixed]);
            let request = generated(wire, kind, random.bits(), size + 6);
            assert_eq!(kinds(wire, &request), [], "{wire} {kind:?}");
            for (way, expected) in [
                (Damage::DropResult, ViolationKind::UnansweredCall),
                (Damage::DropCall, ViolationKind::OrphanResult),
                (Damage::CutInPair, ViolationKind::OrphanResult),
                (Damage::EmptyContent, ViolationKind::EmptyMessage),
            ] {
                let Some(broken) = generate::damage_with(&request, way, random.bits()) else {
                    continue;
                };
                assert_eq!(epitome_testkit::Wire::of(&request), testkit(wire));
                let found = kinds(wire, &broken);
                assert!(
                    found.contains(&expected),
                    "{wire} {kind:?} {way:?}: {found:?}"
                );
            }
        }
    });
}

#[test]
fn each_problem_has_its_name() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let answer = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    let thinking = json!({"type": "thinking", "thinking": "t", "signature": "s"});
    for (messages, expected) in [
        (json!([]), vec![ViolationKind::NoMessages]),
        (
            json!([{"role": "system", "content": "a"}]),
            vec![ViolationKind::NoMessages],
        ),
        (
            json!([assistant(json!("a"))]),
            vec![ViolationKind::FirstNotUser],
        ),
        (
            json!([user(json!("a")), assistant(json!([call("x")]))]),
            vec![ViolationKind::UnansweredCall],
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([call("x")])),
                user(json!([answer("x")]))
            ]),
            vec![],
        ),
        (
            json!([user(json!("a")), assistant(json!([call("x")])), {"role": "system", "content": "n"}, user(json!([answer("x")]))]),
            vec![],
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([call("x")])),
                user(json!("b"))
            ]),
            vec![ViolationKind::UnansweredCall],
        ),
        (
            json!([user(json!([answer("x")]))]),
            vec![ViolationKind::OrphanResult],
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([call("x"), call("x")])),
                user(json!([answer("x"), answer("x")]))
            ]),
            vec![ViolationKind::RepeatedCallId],
        ),
        (
            json!([user(json!(" \n"))]),
            vec![ViolationKind::EmptyMessage],
        ),
        (
            json!([user(json!("a")), assistant(json!("")), user(json!("b"))]),
            vec![ViolationKind::EmptyMessage],
        ),
        (json!([user(json!("a")), assistant(json!(""))]), vec![]),
        (
            json!([
                user(json!("a")),
                assistant(json!([{"type": "text", "text": "b"}, thinking])),
                user(json!("c"))
            ]),
            vec![ViolationKind::EndsInThinking],
        ),
    ] {
        let request = json!({"messages": messages});
        assert_eq!(kinds(Wire::Anthropic, &request), expected, "{messages}");
    }
}

#[test]
fn each_problem_of_items_has_its_name_and_place() {
    let user = json!({"role": "user", "content": "a"});
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]});
    let note = json!({"role": "developer", "content": "n"});
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "n", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let search = json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}});
    for (items, expected) in [
        (json!([]), vec![(0, ViolationKind::NoMessages)]),
        (json!([note]), vec![(0, ViolationKind::NoMessages)]),
        (json!([said]), vec![]),
        (
            json!([user, call("x")]),
            vec![(1, ViolationKind::UnansweredCall)],
        ),
        (
            json!([user, call("x"), call("y"), output("y"), output("x")]),
            vec![],
        ),
        // Pairs are found by their ids alone.
        (json!([user, call("x"), user, output("x"), said]), vec![]),
        (
            json!([user, output("x"), call("x")]),
            vec![
                (1, ViolationKind::OrphanResult),
                (2, ViolationKind::UnansweredCall),
            ],
        ),
        (
            json!([user, call("x"), call("x"), output("x"), output("x")]),
            vec![(2, ViolationKind::RepeatedCallId)],
        ),
        (
            json!([user, call("x"), output("x"), call("x"), output("x")]),
            vec![],
        ),
        (json!([user, thought, said]), vec![]),
        (
            json!([user, thought, thought, call("x"), output("x")]),
            vec![],
        ),
        (json!([user, thought, search, thought, said]), vec![]),
        (
            json!([user, thought]),
            vec![(1, ViolationKind::LoneThinking)],
        ),
        (
            json!([user, thought, user]),
            vec![(1, ViolationKind::LoneThinking)],
        ),
        (
            json!([user, thought, note, said]),
            vec![(1, ViolationKind::LoneThinking)],
        ),
        (
            json!([{"role": "user", "content": []}]),
            vec![(0, ViolationKind::EmptyMessage)],
        ),
    ] {
        let body = Body::scan(bytes(&json!({"input": items})), Wire::OpenAiResponses).unwrap();
        let found: Vec<_> = violations(Wire::OpenAiResponses, &decoded(&body))
            .into_iter()
            .map(|violation| (violation.position, violation.kind))
            .collect();
        assert_eq!(found, expected, "{items}");
    }
}

#[test]
fn what_is_no_object_is_refused_with_a_reason() {
    for (wire, message) in [
        (Wire::OpenAiChat, r#""text""#),
        (Wire::OpenAiChat, r#"{"role":"user","content":"a" "b"}"#),
        (Wire::OpenAiResponses, r#""text""#),
        (Wire::Anthropic, "7"),
    ] {
        let name = wire.list_name();
        let text = format!(r#"{{"{name}":[{{"role":"user","content":"fine"}},{message}]}}"#);
        let body = Body::scan(Bytes::from(text), wire).unwrap();
        let memo = Memo::new(Meter::Estimate, 8);
        let found = Conversation::of(&body, &memo, &ChainKey::public());
        assert_eq!(
            found.err(),
            Some(Reason::UnreadableMessage),
            "{wire}: {message}"
        );
    }
}
