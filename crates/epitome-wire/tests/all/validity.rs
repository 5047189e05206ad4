//! Our own judge: silent about what is valid, and never silent about what is not.

use bytes::Bytes;
use epitome::{Meter, Reason};
use epitome_testkit::{Damage, Kind, generate};
use epitome_wire::{Body, ChainKey, Conversation, Memo, ViolationKind, Wire, violations};
use serde_json::{Value, json};

use crate::fixtures::{bytes, decoded, generated, testkit};
use crate::support::property;

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
fn a_message_without_its_form_is_refused_with_a_reason() {
    for (wire, message) in [
        (Wire::OpenAiChat, r#""text""#),
        (Wire::OpenAiChat, r#"{"content":"a"}"#),
        (Wire::OpenAiChat, r#"{"role":"robot","content":"a"}"#),
        (Wire::OpenAiChat, r#"{"role":"user","content":5}"#),
        (Wire::OpenAiChat, r#"{"role":"assistant","tool_calls":{}}"#),
        (Wire::OpenAiChat, r#"{"role":"user","content":"a" "b"}"#),
        (Wire::Anthropic, r#"{"role":"tool","content":"a"}"#),
        (Wire::Anthropic, r#"{"role":"user"}"#),
        (
            Wire::Anthropic,
            r#"{"role":"user","content":[{"type":"text"}]}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"role":"assistant","content":[{"type":"tool_use"}]}"#,
        ),
    ] {
        let text = format!(r#"{{"messages":[{{"role":"user","content":"fine"}},{message}]}}"#);
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
