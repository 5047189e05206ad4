//! Bodies under test, and what both judges say about them.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use bytes::Bytes;
use epitome::{Message, Meter};
use epitome_testkit::{generate, strict};
use epitome_wire::{Body, ChainKey, Conversation, Memo, Wire, decode, json, violations};
use serde_json::Value;

/// The testkit's name of a format.
pub(crate) const fn testkit(wire: Wire) -> epitome_testkit::Wire {
    match wire {
        Wire::OpenAiChat => epitome_testkit::Wire::OpenaiChat,
        Wire::OpenAiResponses => epitome_testkit::Wire::OpenaiResponses,
        Wire::Anthropic => epitome_testkit::Wire::Anthropic,
    }
}

/// A generated request.
pub(crate) fn generated(
    wire: Wire,
    kind: epitome_testkit::Kind,
    seed: u64,
    messages: usize,
) -> Value {
    generate::request(testkit(wire), kind, seed, messages)
}

/// The bytes of a JSON document.
pub(crate) fn bytes(value: &Value) -> Bytes {
    Bytes::from(serde_json::to_vec(value).unwrap())
}

/// What is known of a body, with nothing remembered from before.
pub(crate) fn conversation(body: &Body, meter: Meter) -> Conversation {
    let memo = Memo::new(meter, 1 << 16);
    Conversation::of(body, &memo, &ChainKey::public()).unwrap()
}

/// The messages of a body, decoded.
pub(crate) fn decoded(body: &Body) -> Vec<Message> {
    (0..body.len())
        .map(|index| {
            decode(body.wire(), &body.read(index).unwrap())
                .unwrap()
                .message
        })
        .collect()
}

/// How often each problem occurs, by our own judge and by the testkit's.
pub(crate) type Problems = BTreeMap<String, usize>;

type Parsed = Rc<(Message, Value)>;

/// Judges many bodies that share most of their messages, reading each different message once.
#[derive(Default)]
pub(crate) struct Judge {
    known: HashMap<Vec<u8>, Parsed>,
    envelope: Value,
}

impl Judge {
    /// A judge for bodies with these top-level members, whatever their messages.
    pub(crate) fn of(body: &Body) -> Self {
        Self {
            known: HashMap::new(),
            envelope: serde_json::from_slice(body.bytes())
                .ok()
                .filter(Value::is_object)
                .unwrap_or_else(|| serde_json::json!({})),
        }
    }

    fn parsed(&mut self, wire: Wire, bytes: &[u8]) -> Parsed {
        if let Some(known) = self.known.get(bytes) {
            return Rc::clone(known);
        }
        let value = json::read(bytes).unwrap();
        let message = decode(wire, &value).unwrap().message;
        let parsed = Rc::new((message, serde_json::from_slice(bytes).unwrap()));
        self.known.insert(bytes.to_vec(), Rc::clone(&parsed));
        parsed
    }

    pub(crate) fn problems(&mut self, body: &Body) -> Problems {
        let parsed: Vec<Parsed> = (0..body.len())
            .map(|index| self.parsed(body.wire(), body.message(index)))
            .collect();
        let messages: Vec<Message> = parsed.iter().map(|parsed| parsed.0.clone()).collect();
        self.envelope[body.wire().list_name()] =
            parsed.iter().map(|parsed| parsed.1.clone()).collect();
        let own = violations(body.wire(), &messages)
            .into_iter()
            .map(|violation| format!("own {}", violation.kind.as_str()));
        let strict = strict::check(testkit(body.wire()), &self.envelope)
            .into_iter()
            .map(|violation| format!("strict {:?}", violation.rule));
        let mut problems = Problems::new();
        for problem in own.chain(strict) {
            *problems.entry(problem).or_default() += 1;
        }
        problems
    }
}

/// Fails if `after` has a problem that `before` does not have as often.
pub(crate) fn assert_no_new_problems(what: &str, before: &Problems, after: &Problems) {
    for (problem, count) in after {
        let known = before.get(problem).copied().unwrap_or(0);
        assert!(
            *count <= known,
            "{what}: {count} × {problem}, {known} before"
        );
    }
}

/// Fails unless the messages `kept` of `before` stand in `after`, in order, byte for byte.
pub(crate) fn assert_kept(what: &str, before: &Body, after: &Body, kept: &[Option<usize>]) {
    assert_eq!(after.len(), kept.len(), "{what}");
    for (index, position) in kept.iter().enumerate() {
        if let Some(position) = position {
            assert!(
                after.message(index) == before.message(*position),
                "{what}: message {position} changed"
            );
        }
    }
}
