use serde_json::{Value, json};

use crate::Wire;
use crate::random::Random;
use crate::wire::{array, block_type, blocks, messages, text};

/// A way to break a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Damage {
    /// A result is gone.
    DropResult,
    /// A call is gone and its result stays.
    DropCall,
    /// Two calls have one identifier.
    DuplicateId,
    /// A user message has no content.
    EmptyContent,
    /// The history starts in the middle of a step: with results whose calls are gone.
    CutInPair,
}

impl Damage {
    /// All ways, for loops in tests.
    pub const ALL: [Self; 5] = [
        Self::DropResult,
        Self::DropCall,
        Self::DuplicateId,
        Self::EmptyContent,
        Self::CutInPair,
    ];
}

/// Breaks one structural thing of a valid request, chosen by the seed among those the request has.
///
/// # Panics
///
/// When the request has no message that could be broken.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "a request without user message is a mistake in the test"
)]
pub fn damage(request: &Value, seed: u64) -> (Value, Damage) {
    let first = Random::new(seed).below(Damage::ALL.len());
    Damage::ALL
        .iter()
        .cycle()
        .skip(first)
        .take(Damage::ALL.len())
        .find_map(|way| damage_with(request, *way, seed).map(|broken| (broken, *way)))
        .expect("a request with at least one user message")
}

/// Breaks a request in the given way, or says that there is nothing to break that way.
#[must_use]
pub fn damage_with(request: &Value, way: Damage, seed: u64) -> Option<Value> {
    let wire = Wire::of(request);
    // The seed chooses the way too, so the place needs other bits.
    let mut random = Random::new(!seed);
    let mut broken = request.clone();
    let list = broken.get_mut(wire.list_name())?.as_array_mut()?;
    match way {
        Damage::DropResult => drop_one(wire, request, list, Side::Results, &mut random)?,
        Damage::DropCall => drop_one(wire, request, list, Side::Calls, &mut random)?,
        Damage::DuplicateId => duplicate_id(wire, request, list, &mut random)?,
        Damage::EmptyContent => {
            let users = positions(request, |message| {
                text(message, "role") == "user" && !has_result(wire, message)
            });
            let index = choose(&users, &mut random)?;
            *list.get_mut(index)?.get_mut("content")? = json!("");
        }
        Damage::CutInPair => {
            let callers = positions(request, |message| !call_ids(wire, message).is_empty());
            let index = choose(&callers, &mut random)?;
            let head = usize::from(text(list.first()?, "role") == "system");
            list.drain(head..=index);
        }
    }
    Some(broken)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Calls,
    Results,
}

fn drop_one(
    wire: Wire,
    request: &Value,
    list: &mut Vec<Value>,
    side: Side,
    random: &mut Random,
) -> Option<()> {
    let candidates = positions(request, |message| match side {
        Side::Calls => !call_ids(wire, message).is_empty(),
        Side::Results => has_result(wire, message),
    });
    let index = choose(&candidates, random)?;
    if wire == Wire::OpenaiResponses || (wire == Wire::OpenaiChat && side == Side::Results) {
        list.remove(index);
        return Some(());
    }
    let (key, kind) = match (wire, side) {
        (Wire::OpenaiChat | Wire::OpenaiResponses, _) => ("tool_calls", "function"),
        (Wire::Anthropic, Side::Calls) => ("content", "tool_use"),
        (Wire::Anthropic, Side::Results) => ("content", "tool_result"),
    };
    let message = list.get_mut(index)?;
    let items = message.get_mut(key)?.as_array_mut()?;
    let places: Vec<usize> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| block_type(item) == kind)
        .map(|(place, _)| place)
        .collect();
    items.remove(choose(&places, random)?);
    let is_empty = items.is_empty();
    if is_empty && wire == Wire::OpenaiChat {
        message.as_object_mut()?.remove(key);
    } else if is_empty {
        // Without its only block a message would be empty as well; gone as a whole it breaks just one thing.
        list.remove(index);
    }
    Some(())
}

/// Gives a later call, and its result, the identifier of the first one.
fn duplicate_id(
    wire: Wire,
    request: &Value,
    list: &mut [Value],
    random: &mut Random,
) -> Option<()> {
    let ids: Vec<String> = messages(request)
        .iter()
        .flat_map(|message| call_ids(wire, message))
        .map(str::to_owned)
        .collect();
    let (first, others) = ids.split_first()?;
    if others.is_empty() {
        return None;
    }
    let replaced = random.pick(others);
    list.iter_mut()
        .for_each(|message| rename(message, replaced, first));
    Some(())
}

/// Replaces an identifier wherever it stands.
fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                let is_identifier = matches!(
                    key.as_str(),
                    "id" | "tool_use_id" | "tool_call_id" | "call_id"
                );
                if is_identifier && field.as_str() == Some(from) {
                    *field = json!(to);
                } else {
                    rename(field, from, to);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        _ => {}
    }
}

fn positions(request: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
    messages(request)
        .iter()
        .enumerate()
        .filter(|(_, message)| wanted(message))
        .map(|(index, _)| index)
        .collect()
}

fn choose(positions: &[usize], random: &mut Random) -> Option<usize> {
    if positions.is_empty() {
        return None;
    }
    Some(*random.pick(positions))
}

fn call_ids(wire: Wire, message: &Value) -> Vec<&str> {
    match wire {
        Wire::OpenaiChat => array(message, "tool_calls")
            .iter()
            .map(|call| text(call, "id"))
            .collect(),
        Wire::OpenaiResponses => [message]
            .into_iter()
            .filter(|item| block_type(item).ends_with("_call"))
            .map(|item| text(item, "call_id"))
            .collect(),
        Wire::Anthropic => blocks(message)
            .iter()
            .filter(|block| block_type(block) == "tool_use")
            .map(|block| text(block, "id"))
            .collect(),
    }
}

fn has_result(wire: Wire, message: &Value) -> bool {
    match wire {
        Wire::OpenaiChat => text(message, "role") == "tool",
        Wire::OpenaiResponses => block_type(message).ends_with("_output"),
        Wire::Anthropic => blocks(message)
            .iter()
            .any(|block| block_type(block) == "tool_result"),
    }
}
