//! Roles, blocks and items that no format knows, and calls without ids: they stay in place, count, and hold together what may
//! belong together.

use bytes::Bytes;
use epitome::{Meter, Plan, Reason, View};
use epitome_testkit::Kind;
use epitome_testkit::cases::property;
use epitome_testkit::strange::{strange, torn};
use epitome_wire::{Body, ChainKey, Conversation, Items, Memo, Wire, problems, searchable_entry};
use serde_json::{Value, json};

use crate::cuts::{kept, rescan};
use crate::fixtures::{
    Judge, assert_kept, assert_no_new_problems, bytes, conversation, generated, testkit,
};

const SUMMARY: &str = "Earlier work.";

/// Messages in forms that their formats do not know, one of them each.
const STRANGE: &[(Wire, &str)] = &[
    (Wire::OpenAiChat, r#"{"content":"a"}"#),
    (Wire::OpenAiChat, r#"{"role":"robot","content":"a"}"#),
    (Wire::OpenAiChat, r#"{"role":"user","content":5}"#),
    (Wire::OpenAiChat, r#"{"role":"assistant","tool_calls":{}}"#),
    (
        Wire::OpenAiChat,
        r#"{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
    ),
    (
        Wire::OpenAiChat,
        r#"{"role":"tool","tool_call_id":"c","content":7}"#,
    ),
    (Wire::OpenAiResponses, r#"{"role":"tool","content":"a"}"#),
    (Wire::OpenAiResponses, r#"{"type":"message","role":"user"}"#),
    (
        Wire::OpenAiResponses,
        r#"{"type":"message","role":"user","content":7}"#,
    ),
    (
        Wire::OpenAiResponses,
        r#"{"type":"function_call","name":"n","arguments":"{}"}"#,
    ),
    (
        Wire::OpenAiResponses,
        r#"{"type":"function_call_output","output":"x"}"#,
    ),
    (
        Wire::OpenAiResponses,
        r#"{"type":"function_call_output","call_id":"c","output":7}"#,
    ),
    (Wire::OpenAiResponses, r#"{"type":"dream","of":"sheep"}"#),
    (
        Wire::OpenAiResponses,
        r#"{"type":"item_reference","id":"msg_1"}"#,
    ),
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
    (
        Wire::Anthropic,
        r#"{"role":"assistant","content":[{"type":"hologram","id":"h"}]}"#,
    ),
];

fn scan(wire: Wire, list: &str) -> Body {
    let text = format!(r#"{{"{}":[{list}]}}"#, wire.list_name());
    Body::scan(Bytes::from(text), wire).unwrap()
}

#[test]
fn what_no_format_knows_is_counted_and_recognised() {
    for (wire, message) in STRANGE {
        let talk = |message: &str| {
            let around = r#"{"role":"user","content":"fine"}"#;
            conversation(
                &scan(*wire, &format!("{around},{message}")),
                Meter::Estimate,
            )
        };
        let found = talk(message);
        assert_eq!(found.messages.len(), 2, "{wire}: {message}");
        assert!(found.messages[1].facts.tokens > 0, "{wire}: {message}");
        // Something else said in the same way is something else.
        let changes = [
            (r#""a""#, r#""b""#),
            ("5}", "6}"),
            ("7}", "8}"),
            (r#""x""#, r#""y""#),
            ("msg_1", "msg_2"),
            ("sheep", "goats"),
        ];
        let changed = changes
            .iter()
            .fold((*message).to_owned(), |text, (from, to)| {
                text.replace(from, to)
            });
        let other = talk(&changed);
        assert_eq!(
            found.chain.get(1) == other.chain.get(1),
            changed == *message,
            "{wire}: {message}"
        );
        assert_eq!(found.chain[0], other.chain[0]);
    }
}

#[test]
fn what_is_said_in_an_unknown_role_is_found() {
    for wire in Wire::ALL {
        let raw = br#"{"role":"wizard","content":"abracadabra"}"#;
        let text = searchable_entry(wire.as_str(), raw).unwrap();
        assert!(text.contains("abracadabra"), "{wire}");
    }
}

/// Every legal cut, by both judges and by a third that knows what was put in.
fn check(name: &str, wire: Wire, request: &Value) -> usize {
    let body = Body::scan(bytes(request), wire).unwrap();
    let mut judge = Judge::of(&body);
    let before = judge.problems(&body);
    let log = conversation(&body, Meter::Estimate).log;
    let mut tried = 0;
    for &cut in log.cuts() {
        let cut = cut as usize;
        let Ok(plan) = Plan::at(&log, cut, 200, Reason::Manual) else {
            continue;
        };
        tried += 1;
        let what = format!("{name} at {cut} of {}", body.len());
        let view = View::of(&plan, body.len(), &[]);
        let out = body.render(&view, SUMMARY).unwrap().into_bytes();
        let after = rescan(&body, &out);
        assert_no_new_problems(&what, &before, &judge.problems(&after));
        assert_kept(&what, &body, &after, &kept(&view));
        let sent: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            torn(testkit(wire), request, &sent),
            [""; 0],
            "{what}\n{request:#}"
        );
    }
    tried
}

#[test]
fn every_cut_around_strangers_is_valid() {
    let tried = std::sync::atomic::AtomicUsize::new(0);
    property(40, 60, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let (seed, strange_seed) = (random.bits(), random.bits());
            let plain = generated(wire, kind, seed, size + 8);
            let request = strange(testkit(wire), &plain, strange_seed);
            let cuts = check(
                &format!("{wire} {kind:?} {seed} {strange_seed}"),
                wire,
                &request,
            );
            tried.fetch_add(cuts, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let tried = tried.into_inner();
    assert!(tried > 100, "{tried}");
}

/// An agent whose every step holds something unknown can still be cut.
#[test]
fn strangers_in_every_step_leave_cuts() {
    let steps = |step: fn(usize) -> Vec<Value>| {
        let first = vec![json!({"role": "user", "content": "Mend it."})];
        let list: Vec<Value> = first.into_iter().chain((0..20).flat_map(step)).collect();
        json!({"model": "m", "messages": list, "input": list})
    };
    let chat = steps(|step| {
        vec![
            json!({"role": "assistant", "content": format!("Step {step}.")}),
            json!({"role": "observation", "content": format!("Seen {step}.")}),
        ]
    });
    let responses = steps(|step| {
        let id = format!("call_{step}");
        vec![
            json!({"type": "gadget_state", "id": format!("gs_{step}")}),
            json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": "x"}),
        ]
    });
    for (wire, request) in [
        (Wire::OpenAiChat, &chat),
        (Wire::Anthropic, &chat),
        (Wire::OpenAiResponses, &responses),
    ] {
        let cuts = check("steps", wire, request);
        assert!(cuts >= 18, "{wire}: {cuts}");
    }
}

fn named(id: &str) -> Value {
    json!({"type": "item_reference", "id": id})
}

/// An answer that called a tool, as the provider put it out.
fn output(step: usize) -> [Value; 3] {
    [
        json!({"type": "reasoning", "id": format!("rs_{step}"), "summary": []}),
        json!({"type": "message", "id": format!("msg_{step}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": format!("I look at part {step}. ").repeat(20), "annotations": []}]}),
        json!({"type": "function_call", "id": format!("fc_{step}"), "call_id": format!("call_{step}"), "name": "read",
            "arguments": json!({"text": "the handler checks the session. ".repeat(step * 6)}).to_string()}),
    ]
}

fn by_names(steps: usize) -> Value {
    let mut list = vec![json!({"role": "user", "content": "Mend it."})];
    for step in 0..steps {
        list.extend(
            output(step)
                .iter()
                .map(|item| named(item["id"].as_str().unwrap())),
        );
        list.push(json!({"type": "function_call_output", "call_id": format!("call_{step}"), "output": "fine"}));
    }
    json!({"model": "m", "input": list})
}

/// Items that are only named count as what they name, and are cut where they would be.
#[test]
fn named_items_are_measured_and_cut_as_what_they_name() {
    let items = Items::new(1 << 20);
    let mut spelled = vec![json!({"role": "user", "content": "Mend it."})];
    for step in 0..12 {
        for item in output(step) {
            items.keep(bytes(&item));
            spelled.push(item);
        }
        spelled.push(json!({"type": "function_call_output", "call_id": format!("call_{step}"), "output": "fine"}));
    }
    let wire = Wire::OpenAiResponses;
    let request = by_names(12);
    let body = Body::scan(bytes(&request), wire).unwrap();
    let resolved = body.clone().resolved(|id| items.find(id));
    let spelled = Body::scan(bytes(&json!({"input": spelled})), wire).unwrap();
    let log = |body: &Body| conversation(body, Meter::Estimate).log;
    assert_eq!(log(&resolved).cuts(), log(&spelled).cuts());
    let (real, named) = (log(&spelled).total_tokens(), log(&resolved).total_tokens());
    assert!(real.abs_diff(named) * 8 <= real, "{named} for {real}");
    assert!(log(&body).total_tokens() * 2 < real);
    // Nothing of a name can be shortened.
    let all = 0..resolved.len();
    assert_eq!(
        log(&resolved).wordy_tokens(all.clone()),
        log(&body).wordy_tokens(all)
    );
    // Where nobody saw the items, whatever may belong together stays together.
    for &cut in log(&body).cuts() {
        assert!(log(&resolved).is_cut(cut as usize), "{cut}");
    }
    assert!(log(&body).cuts().len() > 10);
}

/// An output whose call is only named answers it: there is nothing wrong, and nothing to repair.
#[test]
fn an_output_of_a_named_call_is_no_orphan() {
    let request = by_names(3);
    let body = Body::scan(bytes(&request), Wire::OpenAiResponses).unwrap();
    assert_eq!(problems(&body), []);
    assert!(body.names_items());
}

/// What was not seen when a request came may be seen before the next one.
#[test]
fn an_item_that_is_seen_later_counts_then() {
    let items = Items::new(1 << 20);
    let memo = Memo::new(Meter::Estimate, 1 << 10);
    let wire = Wire::OpenAiResponses;
    let request = by_names(20);
    let tokens = |items: &Items| {
        let body = Body::scan(bytes(&request), wire).unwrap();
        let body = body.resolved(|id| items.find(id));
        let talk = Conversation::of(&body, &memo, &ChainKey::public()).unwrap();
        (talk.log.total_tokens(), talk.chain)
    };
    let (unseen, chain) = tokens(&items);
    for step in 0..20 {
        output(step).iter().for_each(|item| items.keep(bytes(item)));
    }
    let (seen, same) = tokens(&items);
    assert!(seen > unseen * 2, "{seen} {unseen}");
    assert_eq!(chain, same, "it is the same conversation");
}

#[test]
fn the_newest_items_are_kept() {
    let items = Items::new(64 << 10);
    for step in 0..1_000 {
        output(step % 7)
            .iter()
            .for_each(|item| items.keep(bytes(item)));
        let filler =
            json!({"type": "message", "id": format!("filler_{step}"), "content": "x".repeat(500)});
        items.keep(bytes(&filler));
    }
    assert!(items.find("filler_999").is_some());
    assert!(items.find("filler_0").is_none());
    items.keep(Bytes::from_static(b"no item"));
    items.keep(Bytes::from_static(br#"{"type":"message"}"#));
}
