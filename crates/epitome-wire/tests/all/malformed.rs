//! Malformed histories by name: what each provider would say about them, and that repair makes them pass.

use std::collections::HashSet;

use bytes::Bytes;
use epitome_testkit::strict;
use epitome_wire::{Body, Problem, Wire, problems, repair};
use serde_json::{Value, json};

use crate::fixtures::{bytes, testkit};

/// Problems that the testkit's judge does not know, because some providers bear with them.
const BORNE: &[&str] = &["split_results", "cut_answer"];

/// A malformed history: its name, its messages, what is wrong with it, and what repair has to leave.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) messages: Value,
    pub(crate) wrong: &'static [&'static str],
    pub(crate) left: &'static [&'static str],
}

/// A case that repair can put right as a whole.
pub(crate) const fn case(
    name: &'static str,
    messages: Value,
    wrong: &'static [&'static str],
) -> Case {
    Case {
        name,
        messages,
        wrong,
        left: &[],
    }
}

pub(crate) fn codes(found: &[Problem]) -> Vec<&'static str> {
    found.iter().map(|problem| problem.code.as_str()).collect()
}

/// What the testkit's judge says; a body that cannot be parsed counts as refused.
fn strict(wire: Wire, body: &[u8]) -> Vec<String> {
    match strict::check_bytes(testkit(wire), body) {
        Ok((_, found)) => found.iter().map(ToString::to_string).collect(),
        Err(refusal) => vec![refusal.to_string()],
    }
}

/// The verdict before, and everything that has to hold after repair.
pub(crate) fn check(what: &str, body: &Body, wrong: &[&str], left: &[&str]) -> Bytes {
    let wire = body.wire();
    let found = problems(body);
    assert_eq!(codes(&found), wrong, "{what}: {found:#?}");
    let repaired = repair(body);
    assert_eq!(codes(&repaired.left), left, "{what}: {:#?}", repaired.left);
    assert_eq!(
        repaired.splice.is_unchanged(),
        repaired.done.is_empty(),
        "{what}"
    );
    if wrong.is_empty() {
        assert!(repaired.done.is_empty(), "{what}: {:?}", repaired.done);
    }
    let after = repaired.splice.into_bytes();
    let again = Body::scan(after.clone(), wire).unwrap();
    assert_eq!(problems(&again), repaired.left, "{what}");
    if left.is_empty() {
        assert_eq!(strict(wire, &after), [""; 0], "{what}: {after:?}");
    }
    assert!(repair(&again).done.is_empty(), "{what}: repaired twice");
    let before: HashSet<&[u8]> = (0..body.len()).map(|index| body.message(index)).collect();
    let changed = (0..again.len()).filter(|index| !before.contains(again.message(*index)));
    let changed = changed.count();
    // What moves changes two messages.
    assert!(
        changed <= 2 * repaired.done.len(),
        "{what}: {changed} messages changed, {:?}",
        repaired.done
    );
    after
}

fn request(wire: Wire, messages: &Value) -> Body {
    Body::scan(
        bytes(&json!({"model": "m", (wire.list_name()): messages})),
        wire,
    )
    .unwrap()
}

/// Checks cases of one provider; both judges agree on which of them are wrong.
pub(crate) fn check_cases(wire: Wire, cases: &[Case]) {
    for case in cases {
        let what = format!("{wire}, {}", case.name);
        let body = request(wire, &case.messages);
        check(&what, &body, case.wrong, case.left);
        if !case.wrong.iter().any(|code| BORNE.contains(code)) {
            let found = strict(wire, body.bytes());
            assert_eq!(found.is_empty(), case.wrong.is_empty(), "{what}: {found:?}");
        }
    }
}

/// A history in a short notation, in the three formats: `u:` the user says, `a:text+x,y` the assistant says a text and
/// makes calls, `r:x` a result, `s:` the system says. `_` is a space and `?` an id that is missing.
fn history(wire: Wire, notation: &str) -> Value {
    let mut out: Vec<Value> = Vec::new();
    let mut was_result = false;
    for word in notation.split_whitespace() {
        let (kind, rest) = word.split_once(':').unwrap();
        let (text, calls) = rest.split_once('+').unwrap_or((rest, ""));
        let text = text.replace('_', " ");
        let ids = calls.split(',').filter(|id| !id.is_empty());
        let ids: Vec<String> = ids.map(|id| id.replace('?', "")).collect();
        match (kind, wire) {
            ("u", _) => out.push(json!({"role": "user", "content": text})),
            ("s", _) => out.push(json!({"role": "system", "content": text})),
            ("a", Wire::OpenAiChat) if ids.is_empty() => {
                out.push(json!({"role": "assistant", "content": text}));
            }
            ("a", Wire::OpenAiChat) => {
                let calls = ids.iter().map(|id| chat_call(id)).collect::<Vec<_>>();
                out.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
            }
            ("a", Wire::OpenAiResponses) => {
                if ids.is_empty() {
                    out.push(json!({"role": "assistant", "content": text}));
                }
                out.extend(ids.iter().map(|id| item_call(id)));
            }
            ("a", Wire::Anthropic) if ids.is_empty() => {
                out.push(json!({"role": "assistant", "content": text}));
            }
            ("a", Wire::Anthropic) => {
                let blocks = ids.iter().map(|id| tool_use(id)).collect::<Vec<_>>();
                out.push(json!({"role": "assistant", "content": blocks}));
            }
            ("r", _) => {
                let id = text.replace('?', "");
                match wire {
                    Wire::OpenAiChat => {
                        out.push(json!({"role": "tool", "tool_call_id": id, "content": "done"}));
                    }
                    Wire::OpenAiResponses => out.push(item_output(&id)),
                    Wire::Anthropic if was_result => {
                        let last = out.last_mut().unwrap();
                        last["content"]
                            .as_array_mut()
                            .unwrap()
                            .push(tool_result(&id));
                    }
                    Wire::Anthropic => {
                        out.push(json!({"role": "user", "content": [tool_result(&id)]}));
                    }
                }
            }
            _ => panic!("{word} is no word of the notation"),
        }
        was_result = kind == "r";
    }
    Value::Array(out)
}

pub(crate) fn chat_call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

pub(crate) fn item_call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

pub(crate) fn item_output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "done"})
}

pub(crate) fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

pub(crate) fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

/// A name, a history, and the verdicts of Chat, Responses and Anthropic.
type Row<'a> = (&'a str, &'a str, [&'a [&'a str]; 3]);

#[rustfmt::skip]
const HISTORIES: &[Row<'static>] = &[
    ("a system prompt alone", "s:brief", [&[], &[], &["first_not_user"]]),
    ("the assistant begins", "a:hello u:hi", [&[], &[], &["first_not_user"]]),
    // Before a message of the user a note is refused (B1).
    ("a note of the system begins", "s:brief u:hi a:hello", [&[], &[], &["first_not_user", "misplaced_note"]]),
    ("a note before the user's words", "u:hi a:hello s:note u:go", [&[], &[], &["misplaced_note"]]),
    ("a note before an answer", "u:hi s:note a:hello u:go s:note", [&[], &[], &[]]),
    ("a result without any call", "u:hi r:x", [&["orphan_result"]; 3]),
    ("nothing but results", "r:x r:y", [&["orphan_result", "orphan_result"]; 3]),
    ("a result in front of its call", "u:hi r:x a:+x", [&["orphan_result", "call_in_flight"]; 3]),
    ("a history that begins inside a step", "r:x a:done u:more", [&["orphan_result"]; 3]),
    ("an orphan between good steps", "u:hi a:+x r:x a:ok r:y u:go", [&["orphan_result"]; 3]),
    ("a call that nobody answered", "u:hi a:+x u:go", [&["unanswered_call"]; 3]),
    ("two calls in flight", "u:hi a:+x,y", [&["call_in_flight", "call_in_flight"]; 3]),
    ("one of two calls in flight", "u:hi a:+x,y r:x", [&["call_in_flight"]; 3]),
    ("one of two calls unanswered", "u:hi a:+x,y r:x a:done u:ok", [&["unanswered_call"]; 3]),
    ("an unanswered step before a good one", "u:hi a:+x u:go a:+y r:y", [&["unanswered_call"]; 3]),
    ("a result given twice", "u:hi a:+x r:x r:x", [&["repeated_result"]; 3]),
    ("a result given again later", "u:hi a:+x r:x a:ok u:go a:+y r:y r:x", [&["repeated_result"]; 3]),
    ("a result behind the next question", "u:hi a:+x u:go r:x", [&["late_result"], &[], &["late_result"]]),
    ("a result behind the next answer", "u:hi a:+x a:wait r:x", [&["late_result"], &[], &[]]),
    ("two results a turn late", "u:hi a:+x,y u:go a:ok r:x r:y",
        [&["late_result", "late_result"], &[], &["late_result", "late_result"]]),
    ("one of two results late", "u:hi a:+x,y r:x u:go r:y", [&["late_result"], &[], &["late_result"]]),
    ("a note between call and result", "u:hi a:+x s:note r:x", [&["late_result"], &[], &["misplaced_note", "late_result"]]),
    ("two calls with one id", "u:hi a:+x,x r:x r:x", [&["repeated_call_id"]; 3]),
    ("three calls with one id", "u:hi a:+x,x,x r:x r:x r:x", [&["repeated_call_id", "repeated_call_id"]; 3]),
    ("two calls with one id and one result", "u:hi a:+x,x r:x u:go",
        [&["repeated_call_id", "unanswered_call"]; 3]),
    ("an id used again in the next step", "u:hi a:+x r:x a:+x r:x", [&["reused_call_id"]; 3]),
    ("an id used again and unanswered", "u:hi a:+x r:x a:+x u:go", [&["reused_call_id", "unanswered_call"]; 3]),
    ("a call and a result without ids", "u:hi a:+? r:?", [&["missing_id", "missing_id"]; 3]),
    ("one of two pairs without ids", "u:hi a:+x,? r:? r:x", [&["missing_id", "missing_id"]; 3]),
    ("a result without id and without call", "u:hi r:? u:go", [&["missing_id"]; 3]),
    ("a call without id in flight", "u:hi a:+?", [&["missing_id", "call_in_flight"]; 3]),
    ("an empty question", "u: a:hello u:hi", [&["empty_message"]; 3]),
    ("a blank question", "u:hi a:hello u:_", [&["empty_message"]; 3]),
    ("an empty answer in the middle", "u:hi a: u:go", [&["empty_message"]; 3]),
    ("an empty answer at the end", "u:hi a:", [&["empty_message"], &["empty_message"], &[]]),
    ("nothing but empty messages", "u: a: u:", [&["empty_message", "empty_message", "empty_message"]; 3]),
    ("an empty message between call and result", "u:hi a:+x u: r:x",
        [&["empty_message", "late_result"], &["empty_message"], &["empty_message", "late_result"]]),
    ("a result of another call", "u:hi a:+x r:y u:go", [&["unanswered_call", "orphan_result"]; 3]),
    ("results of two steps swapped", "u:hi a:+x r:y a:+y r:x", [
        &["orphan_result", "call_in_flight", "late_result"],
        &["orphan_result", "call_in_flight"],
        &["orphan_result", "call_in_flight", "late_result"],
    ]),
    ("parallel results in another order are fine", "u:hi a:+x,y r:y r:x", [&[]; 3]),
    ("two questions in a row are fine", "u:hi u:still_there? a:yes", [&[]; 3]),
    ("a history that ends in results is fine", "u:hi a:+x r:x", [&[]; 3]),
];

#[test]
fn each_malformed_history_has_a_verdict_per_provider_and_is_put_right() {
    let wires = [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic];
    for (name, notation, verdicts) in HISTORIES {
        for (wire, &wrong) in wires.into_iter().zip(verdicts) {
            let messages = history(wire, notation);
            check_cases(wire, &[case(name, messages, wrong)]);
        }
    }
}

#[test]
fn nothing_stays_nothing() {
    for &wire in Wire::ALL {
        let messages = json!([]);
        let case = Case {
            name: "nothing",
            messages,
            wrong: &["no_messages"],
            left: &["no_messages"],
        };
        check_cases(wire, &[case]);
    }
}

#[test]
fn what_cannot_be_read_is_named_and_left() {
    let fine = r#"{"role":"user","content":"a"}"#;
    for &wire in Wire::ALL {
        for (message, code) in [
            (r#""text""#, "not_an_object"),
            ("null", "not_an_object"),
            ("[1]", "not_an_object"),
            (r#"{"role":"user","content":"\x"}"#, "unreadable_message"),
            (r#"{"role":"user","content":"\u12"}"#, "unreadable_message"),
            (
                "{\"role\":\"user\",\"content\":\"a\u{1}b\"}",
                "unreadable_message",
            ),
            (r#"{"role":"user","content":01}"#, "unreadable_message"),
            (r#"{"role":"robot","content":"a"}"#, "unknown_role"),
            (r#"{"content":"a"}"#, "unknown_role"),
        ] {
            let name = wire.list_name();
            let text = format!(r#"{{"{name}":[{fine},{message}]}}"#);
            let body = Body::scan(Bytes::from(text.clone()), wire).unwrap();
            let after = check(&format!("{wire} {message}"), &body, &[code], &[code]);
            assert_eq!(after, text);
            assert_eq!(problems(&body)[0].message, Some(1));
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_replaced_and_nothing_else() {
    for &wire in Wire::ALL {
        let name = wire.list_name();
        let text = |half: &str| {
            format!(
                r#"{{ "{name}" : [ {{"role":"user", "content":"cut \\ud83d {half} \ud83d\ude00 \u00e9"}} ] }}"#
            )
        };
        for half in [r"\ud83d", r"\ude00", r"\uD83D"] {
            let body = Body::scan(Bytes::from(text(half)), wire).unwrap();
            let after = check("half a pair", &body, &["lone_surrogate"], &[]);
            assert_eq!(after, text(r"\ufffd"));
        }
    }
}
