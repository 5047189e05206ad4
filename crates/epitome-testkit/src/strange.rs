//! Things that no format knows, put into a request, and what must not be torn apart when a part of it is removed.

use serde_json::{Value, json};

use crate::Wire;
use crate::random::Random;
use crate::wire::{array, block_type, blocks, messages, text};

const ROLES: [&str; 4] = ["wizard", "observation", "context", "ipython"];

/// A request with some things in it that its format does not know: roles, kinds of blocks and items, pairs of them that
/// share an id, calls without ids. What follows a call at once still does.
#[must_use]
pub fn strange(wire: Wire, request: &Value, seed: u64) -> Value {
    let mut random = Random::new(seed);
    let mut out = request.clone();
    let Some(list) = out.get_mut(wire.list_name()).and_then(Value::as_array_mut) else {
        return out;
    };
    for number in 0..random.between(1, 4) {
        let name = format!("{seed:x}_{number}");
        match random.below(5) {
            0 => add(list, wire, &mut random, |random| {
                stranger(wire, &name, random)
            }),
            1 => {
                let id = format!("quiz_{name}");
                let first = add(list, wire, &mut random, |_| asking(wire, &id));
                let rest = first + 1..=list.len();
                add_within(list, wire, rest, &mut random, |_| answering(wire, &id));
                continue;
            }
            2 => {
                strange_block(list, &name, &mut random);
                continue;
            }
            3 => {
                without_ids(list, wire, &mut random);
                continue;
            }
            _ => match wire {
                Wire::OpenaiResponses => add(
                    list,
                    wire,
                    &mut random,
                    |_| json!({"type": "gadget_state", "id": format!("gs_{name}"), "state": "on"}),
                ),
                _ => add(list, wire, &mut random, |random| {
                    stranger(wire, &name, random)
                }),
            },
        };
    }
    out
}

/// What was torn apart between a request and what was made of it: words for people, none where all is well.
///
/// A message in an unknown role stays behind what it stood behind, and before what it stood before unless that is an answer
/// of the model; what shares an id stays together; results stay with their calls where neither has an id.
#[must_use]
pub fn torn(wire: Wire, before: &Value, after: &Value) -> Vec<String> {
    let (old, new) = (messages(before), messages(after));
    let mut kept = vec![false; old.len()];
    // What is removed stood in front, and the same words may have been said twice: from the end on.
    let mut end = old.len();
    for message in new.iter().rev() {
        let found = (0..end).rev().find(|&at| {
            let own = old.get(at);
            own.is_some_and(|own| is_same(own, message))
        });
        if let Some(at) = found
            && let Some(flag) = kept.get_mut(at)
        {
            *flag = true;
            end = at;
        }
    }
    let is_kept = |at: usize| kept.get(at).copied().unwrap_or(false);
    let mut out = Vec::new();
    for (at, message) in old.iter().enumerate() {
        if is_stranger(wire, message) && is_kept(at) {
            let before = (0..at).rev().find(|&at| !is_note(old, at));
            if before.is_some_and(|before| !is_kept(before)) {
                let lost = before.and_then(|before| old.get(before));
                let lost = lost.map(|lost| lost.to_string().chars().take(300).collect::<String>());
                out.push(format!("{at} lost what it stood behind: {lost:?}"));
            }
        }
        if is_stranger(wire, message) {
            let next = (at + 1..old.len()).find(|&at| !is_note(old, at));
            let is_answer = |at: usize| old.get(at).is_some_and(|next| is_answer(wire, next));
            if next.is_some_and(|next| !is_answer(next) && is_kept(next) && !is_kept(at)) {
                out.push(format!("what follows {at} lost it"));
            }
        }
        let partner = text(message, "quiz_request_id");
        let asks = |own: &Value| !partner.is_empty() && text(own, "id") == partner;
        if let Some(first) = old.iter().position(asks)
            && is_kept(first) != is_kept(at)
        {
            out.push(format!("{first} and {at} are a pair"));
        }
        if is_nameless_result(wire, message)
            && let Some(before) = at.checked_sub(1)
            && is_kept(before) != is_kept(at)
        {
            out.push(format!("the result {at} lost its call"));
        }
    }
    out
}

/// Puts something where no call waits for its result and no reasoning for what it led to; says where.
fn add(
    list: &mut Vec<Value>,
    wire: Wire,
    random: &mut Random,
    make: impl FnOnce(&mut Random) -> Value,
) -> usize {
    let all = 1..=list.len();
    add_within(list, wire, all, random, make)
}

fn add_within(
    list: &mut Vec<Value>,
    wire: Wire,
    within: std::ops::RangeInclusive<usize>,
    random: &mut Random,
    make: impl FnOnce(&mut Random) -> Value,
) -> usize {
    let is_free = |at: &usize| {
        let next = list.get(*at);
        let before = at.checked_sub(1).and_then(|before| list.get(before));
        let waits = |message: &Value| {
            has_calls(wire, message) || block_type(message) == "reasoning" || is_note_of(message)
        };
        !next.is_some_and(|next| is_result(wire, next) || is_note_of(next))
            && !before.is_some_and(waits)
    };
    let places: Vec<usize> = within.filter(is_free).collect();
    let at = match places.is_empty() {
        true => list.len(),
        false => *random.pick(&places),
    };
    let made = make(random);
    list.insert(at, made);
    at
}

fn stranger(wire: Wire, name: &str, random: &mut Random) -> Value {
    let role = *random.pick(&ROLES);
    let words = format!("Strange words {name}. ").repeat(random.between(1, 40));
    match wire {
        Wire::OpenaiResponses => {
            json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]})
        }
        _ => json!({"role": role, "content": words}),
    }
}

fn asking(wire: Wire, id: &str) -> Value {
    match wire {
        Wire::OpenaiResponses => json!({"type": "quiz_request", "id": id, "question": "why?"}),
        _ => json!({"role": "quizmaster", "id": id, "content": "why?"}),
    }
}

fn answering(wire: Wire, id: &str) -> Value {
    match wire {
        Wire::OpenaiResponses => {
            json!({"type": "quiz_response", "quiz_request_id": id, "answer": "because"})
        }
        _ => json!({"role": "candidate", "quiz_request_id": id, "content": "because"}),
    }
}

/// A block of an unknown kind in a message that has blocks.
fn strange_block(list: &mut [Value], name: &str, random: &mut Random) {
    let has_text = |message: &Value| {
        let mut parts = array(message, "content").iter();
        parts.any(|part| block_type(part).ends_with("text"))
    };
    let places: Vec<usize> = (0..list.len())
        .filter(|at| list.get(*at).is_some_and(has_text))
        .collect();
    if places.is_empty() {
        return;
    }
    let at = *random.pick(&places);
    let content = list
        .get_mut(at)
        .and_then(|message| message.get_mut("content"));
    if let Some(Value::Array(parts)) = content {
        parts.insert(
            0,
            json!({"type": "hologram", "id": format!("holo_{name}"), "data": "?"}),
        );
    }
}

/// One step whose calls and results have no ids.
fn without_ids(list: &mut [Value], wire: Wire, random: &mut Random) {
    let callers: Vec<usize> = (0..list.len())
        .filter(|at| {
            list.get(*at)
                .is_some_and(|message| has_calls(wire, message))
        })
        .collect();
    if callers.is_empty() {
        return;
    }
    let at = *random.pick(&callers);
    let is_alone = |at: usize| {
        let next = list.get(at + 1);
        let is_pair = wire != Wire::OpenaiResponses
            || next.is_some_and(|next| {
                text(next, "call_id") == list.get(at).map_or("", |call| text(call, "call_id"))
            });
        is_pair && next.is_some_and(|next| is_result(wire, next))
    };
    if !is_alone(at) {
        return;
    }
    let mut steps = list.iter_mut().skip(at);
    if let Some(call) = steps.next() {
        strip(call, &["call_id"]);
        for list in ["tool_calls", "content"] {
            let calls = call.get_mut(list).and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten() {
                if call.get("function").is_some() || block_type(call).ends_with("tool_use") {
                    strip(call, &["id"]);
                }
            }
        }
    }
    for result in steps.take_while(|message| is_result(wire, message)) {
        strip(result, &["tool_call_id", "call_id"]);
        let parts = result.get_mut("content").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            strip(part, &["tool_use_id"]);
        }
        if wire == Wire::OpenaiResponses {
            break;
        }
    }
}

fn strip(value: &mut Value, names: &[&str]) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// Whether a message is another one as it was sent, or with something left out in it.
fn is_same(own: &Value, sent: &Value) -> bool {
    if own == sent {
        return true;
    }
    // Where a part is left out, every word that stays is one of the original.
    let (own, sent) = (own.to_string(), sent.to_string());
    let is_shortened = sent.contains(" left out");
    let mut words = sent.split_whitespace();
    let is_known = |word: &str| {
        let marks = ["[…", "…]", "characters", "left", "out", "lines", "image"];
        own.contains(word)
            || word.parse::<u64>().is_ok()
            || marks.iter().any(|mark| word.contains(mark))
    };
    is_shortened && words.all(is_known)
}

fn is_note(list: &[Value], at: usize) -> bool {
    list.get(at).is_some_and(is_note_of)
}

fn is_note_of(message: &Value) -> bool {
    matches!(text(message, "role"), "system" | "developer")
}

fn is_stranger(wire: Wire, message: &Value) -> bool {
    let role = text(message, "role");
    let is_message = wire != Wire::OpenaiResponses || matches!(block_type(message), "message" | "");
    let known = [
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
    ];
    is_message && !role.is_empty() && !known.contains(&role)
}

fn is_answer(wire: Wire, message: &Value) -> bool {
    let is_item = wire == Wire::OpenaiResponses && !matches!(block_type(message), "message" | "");
    text(message, "role") == "assistant" || (is_item && !is_result(wire, message))
}

fn is_result(wire: Wire, message: &Value) -> bool {
    match wire {
        Wire::OpenaiChat => text(message, "role") == "tool",
        Wire::OpenaiResponses => block_type(message).ends_with("_output"),
        Wire::Anthropic => blocks(message)
            .iter()
            .any(|block| block_type(block) == "tool_result"),
    }
}

fn is_nameless_result(wire: Wire, message: &Value) -> bool {
    is_result(wire, message)
        && match wire {
            Wire::OpenaiChat => message.get("tool_call_id").is_none(),
            Wire::OpenaiResponses => message.get("call_id").is_none(),
            Wire::Anthropic => blocks(message).iter().any(|block| {
                block_type(block) == "tool_result" && block.get("tool_use_id").is_none()
            }),
        }
}

fn has_calls(wire: Wire, message: &Value) -> bool {
    match wire {
        Wire::OpenaiChat => !array(message, "tool_calls").is_empty(),
        Wire::OpenaiResponses => block_type(message).ends_with("_call"),
        Wire::Anthropic => blocks(message)
            .iter()
            .any(|block| block_type(block).ends_with("tool_use")),
    }
}
