//! What must not matter leaves the canonical digest as it is; everything else changes it.

use epitome::Digest;
use epitome_testkit::Kind;
use epitome_testkit::cases::property;
use epitome_wire::{Wire, canonical, json};
use serde_json::Value;

use crate::fixtures::generated;
use crate::mutation::mutated;
use crate::spelling::{affected, respelled};

fn digest(wire: Wire, text: &str) -> Option<Digest> {
    canonical(wire, &json::read(text.as_bytes()).unwrap())
}

#[test]
fn what_must_not_matter_does_not() {
    property(2, 12, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let request = generated(wire, kind, random.bits(), size);
            let messages = request[wire.list_name()].as_array().unwrap();
            let message = random.pick(messages);
            let before = digest(wire, &message.to_string());
            let other = affected(random, wire, message);
            let spelled = respelled(random, &other);
            assert_eq!(
                digest(wire, &spelled),
                before,
                "{wire}\n{message}\n{spelled}"
            );
        }
    });
}

#[test]
fn everything_else_matters() {
    property(1, 12, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let request = generated(wire, kind, random.bits(), size);
            let messages: Vec<&Value> = request[wire.list_name()]
                .as_array()
                .unwrap()
                .iter()
                .filter(|message| message["role"] != "system")
                .collect();
            // Not every message has everything to be changed; some change is always possible.
            let (message, other, what) = (0..100)
                .find_map(|_| {
                    let message = *random.pick(&messages);
                    let (other, what) = mutated(random, wire, message)?;
                    Some((message, other, what))
                })
                .unwrap();
            assert_ne!(
                digest(wire, &message.to_string()),
                digest(wire, &other.to_string()),
                "{wire}: {what}\n{message}\n{other}"
            );
        }
    });
}

#[test]
fn pairs_that_mean_the_same() {
    let pairs = [
        (
            Wire::Anthropic,
            r#"{"role":"user","content":"a/b\u00e9"}"#,
            r#"{"content":[{"text":"a\/b\u00E9","type":"text","cache_control":{"type":"ephemeral"}}],"role":"user"}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"role":"user","content":"x"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>a</system-reminder>"},{"type":"text","text":"x"}]}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":1,"b":1e3}}]}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":""},{"type":"tool_use","input":{"b":1000.0,"a":1.0},"name":"n","id":"t"}]}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":false,"content":[{"type":"text","text":"x"}],"cache_control":null}]}"#,
        ),
        (
            Wire::OpenAiChat,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\": 1.0}"}}]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}],"reasoning_content":"hm","refusal":null}"#,
        ),
        (
            Wire::OpenAiResponses,
            r#"{"role":"user","content":"x"}"#,
            r#"{"type":"message","role":"user","id":"msg_1","status":"completed","content":[{"type":"input_text","text":"x"}]}"#,
        ),
        (
            Wire::OpenAiResponses,
            r#"{"type":"function_call","id":"fc_1","status":"completed","call_id":"c","name":"n","arguments":"{\"a\": 1.0}"}"#,
            r#"{"arguments":"{\"a\":1}","call_id":"c","name":"n","type":"function_call","internal_chat_message_metadata_passthrough":{"turn_id":"t"}}"#,
        ),
        (
            Wire::OpenAiResponses,
            r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
            r#"{"type":"function_call_output","call_id":"c","id":"o","output":[{"type":"input_text","text":"x"}]}"#,
        ),
        (
            Wire::OpenAiChat,
            r#"{"role":"tool","tool_call_id":"c","content":"x"}"#,
            r#"{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"}]}"#,
        ),
    ];
    for (wire, one, other) in pairs {
        assert!(digest(wire, one).is_some());
        assert_eq!(digest(wire, one), digest(wire, other), "{one}\n{other}");
    }
}

/// Messages of which no two mean the same, in every format as far as all have them.
const DIFFERENT: &[&str] = &[
    r#"{"role":"user","content":"a"}"#,
    r#"{"role":"user","content":"a "}"#,
    r#"{"role":"user","content":"A"}"#,
    r#"{"role":"assistant","content":"a"}"#,
    r#"{"role":"user","content":"\ud800"}"#,
    r#"{"role":"user","content":"\ud801"}"#,
    r#"{"role":"user","content":"\ufffd"}"#,
    r#"{"role":"user","content":"e\u0301"}"#,
    r#"{"role":"user","content":"\u00e9"}"#,
    r#"{"role":"user","content":[{"type":"text","text":"ab"},{"type":"text","text":"c"}]}"#,
    r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"bc"}]}"#,
    r#"{"role":"user","content":[{"type":"text","text":"abc"}]}"#,
    r#"{"role":"user","content":"a","name":"x"}"#,
    r#"{"role":"assistant","content":"<system-reminder>a</system-reminder>"}"#,
    r#"{"role":"user","content":"<system-reminder>a</system-reminder> now do x <system-reminder>a</system-reminder>"}"#,
    r#"{"role":"user","content":"<system-reminder>a</system-reminder> now do y <system-reminder>a</system-reminder>"}"#,
    r#"{"role":"user","content":"<system-reminder>a</system-reminder> do z"}"#,
];

const DIFFERENT_ANTHROPIC: &[&str] = &[
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"n":12345678901234567890123}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"n":12345678901234567890124}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"n":"12345678901234567890123"}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n"}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":null}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":[]}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":""}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":false}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":0}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":1e-1}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":-1}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":[1,2]}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":[2,1]}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":[[1],2]}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":[[1,2]]}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"cache_control":1}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"cache_control":2}}]}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"tn","name":"","input":{}}]}"#,
    r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"t","name":"n","input":{}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x","is_error":true}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"x"}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":""}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]}"#,
    r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t"}]}"#,
    r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"QQ=="}}]}"#,
    r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"QQ="}}]}"#,
    r#"{"role":"user","content":[{"type":"document","source":{"type":"base64","data":"QQ=="}}]}"#,
];

const DIFFERENT_OPENAI: &[&str] = &[
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{\"n\":12345678901234567890123}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{\"n\":12345678901234567890124}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":""}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{ not json"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{  not json"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"\"\ud800\""}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"\"\ud801\""}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"m","arguments":"{}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"d","function":{"name":"n","arguments":"{}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}},{"id":"d","function":{"name":"n","arguments":"{}"}}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"d","function":{"name":"n","arguments":"{}"}},{"id":"c","function":{"name":"n","arguments":"{}"}}]}"#,
    r#"{"role":"assistant","content":"a","refusal":"b"}"#,
    r#"{"role":"assistant","content":[{"type":"refusal","refusal":"a"}]}"#,
    r#"{"role":"tool","tool_call_id":"c","content":"a"}"#,
    r#"{"role":"tool","tool_call_id":"d","content":"a"}"#,
    r#"{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"},{"type":"text","text":"a"}]}"#,
    r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"a"}}]}"#,
    r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","detail":"low"}}]}"#,
];

const DIFFERENT_RESPONSES: &[&str] = &[
    r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}"#,
    r#"{"type":"function_call","call_id":"c","name":"n","arguments":""}"#,
    r#"{"type":"function_call","call_id":"c","name":"n"}"#,
    r#"{"type":"function_call","call_id":"c","name":"m","arguments":"{}"}"#,
    r#"{"type":"function_call","call_id":"d","name":"n","arguments":"{}"}"#,
    r#"{"type":"function_call","call_id":"c","name":"n","namespace":"s","arguments":"{}"}"#,
    r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":12345678901234567890123}"}"#,
    r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":12345678901234567890124}"}"#,
    r#"{"type":"custom_tool_call","call_id":"c","name":"n","input":"{}"}"#,
    r#"{"type":"custom_tool_call","call_id":"c","name":"n","input":"{ }"}"#,
    r#"{"type":"function_call_output","call_id":"c","output":"a"}"#,
    r#"{"type":"function_call_output","call_id":"c","output":""}"#,
    r#"{"type":"function_call_output","call_id":"d","output":"a"}"#,
    r#"{"type":"custom_tool_call_output","call_id":"c","output":"a"}"#,
    r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"},{"type":"input_text","text":"a"}]}"#,
    r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"a"}]}"#,
    r#"{"type":"apply_patch_call_output","call_id":"c","status":"completed"}"#,
    r#"{"type":"apply_patch_call_output","call_id":"c","status":"failed"}"#,
    r#"{"type":"local_shell_call_output","id":"c","output":"a"}"#,
    r#"{"type":"local_shell_call_output","id":"d","output":"a"}"#,
    r#"{"type":"web_search_call","action":{"type":"search","query":"a"}}"#,
    r#"{"type":"web_search_call","action":{"type":"search","query":"b"}}"#,
    r#"{"type":"mcp_approval_request","id":"a","name":"n","arguments":"{}","server_label":"s"}"#,
    r#"{"type":"mcp_approval_request","id":"b","name":"n","arguments":"{}","server_label":"s"}"#,
    r#"{"type":"mcp_approval_response","approval_request_id":"a","approve":true}"#,
    r#"{"type":"mcp_approval_response","approval_request_id":"a","approve":false}"#,
    r#"{"type":"compaction","encrypted_content":"a"}"#,
    r#"{"type":"compaction","encrypted_content":"b"}"#,
    r#"{"type":"item_reference","id":"a"}"#,
    r#"{"type":"item_reference","id":"b"}"#,
    r#"{"role":"user","content":[{"type":"input_image","image_url":"a"}]}"#,
    r#"{"role":"user","content":[{"type":"input_image","image_url":"a","detail":"low"}]}"#,
];

#[test]
fn pairs_that_mean_something_else() {
    for (wire, own) in [
        (Wire::Anthropic, DIFFERENT_ANTHROPIC),
        (Wire::OpenAiChat, DIFFERENT_OPENAI),
        (Wire::OpenAiResponses, DIFFERENT_RESPONSES),
    ] {
        let texts: Vec<&str> = DIFFERENT.iter().chain(own).copied().collect();
        for (at, one) in texts.iter().enumerate() {
            assert!(digest(wire, one).is_some(), "{wire}: {one}");
            for other in &texts[..at] {
                assert_ne!(
                    digest(wire, one),
                    digest(wire, other),
                    "{wire}:\n{one}\n{other}"
                );
            }
        }
    }
}

#[test]
fn what_nobody_says_is_no_link() {
    let injected = r#"{"role":"user","content":"<system-reminder>a</system-reminder>\n"}"#;
    for &wire in Wire::ALL {
        for text in [
            r#"{"role":"system","content":"Today is Monday."}"#,
            injected,
            r#"{"role":"assistant","content":""}"#,
            r#"{"role":"user","content":[]}"#,
        ] {
            assert_eq!(digest(wire, text), None, "{wire}: {text}");
        }
    }
    let developer = r#"{"role":"developer","content":"a"}"#;
    assert_eq!(digest(Wire::OpenAiChat, developer), None);
    assert_eq!(digest(Wire::OpenAiResponses, developer), None);
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#;
    assert_eq!(digest(Wire::OpenAiResponses, reasoning), None);
}
