//! What deciding and cutting know of one message.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::heartbeat::HeartbeatPart;
use crate::message::{Block, Message, Role};
use crate::meter::Meter;
use crate::pin::{Pin, Sayings};
use crate::provenance::Typed;
use crate::reference::spacebot::{SUMMARY_MARK, truncated_count};
use crate::signature::Embedded;
use crate::summary::{BULLET_TOKENS, Earlier};
use crate::trim::{TRIMMED_TOKENS, argument_tokens};
use crate::{pin, signature};

/// What deciding and cutting need to know of one message. Derived once, then memoised by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Who speaks.
    pub role: Role,
    /// Whether a person typed something in it.
    pub is_typed_by_user: bool,
    /// Whether it is a summary of this engine, unaltered.
    pub is_own_summary: bool,
    /// Whether it is one of the summaries that `spacebot` stacks.
    pub is_stacked_summary: bool,
    /// Whether it only says how many messages went.
    pub is_marker: bool,
    /// The part it may play in a heartbeat.
    pub heartbeat: HeartbeatPart,
    /// Its size.
    pub tokens: u32,
    /// How much of its size trimming its tool results can take away.
    pub trimmable_tokens: u32,
    /// How much shortening the arguments of its calls can, once they are answered.
    pub argument_tokens: u32,
    /// How much shortening what is said in it can.
    pub wordy_tokens: u32,
    /// What the instructions take that stand in it.
    pub pin_tokens: u32,
    /// Calls it makes.
    pub calls: Box<[CallKey]>,
    /// Calls it answers.
    pub answers: Box<[CallKey]>,
    /// Whether it is nothing but thinking, which its provider takes only together with what follows.
    pub is_only_thinking: bool,
    /// Whether nothing is known of it.
    pub is_unknown: bool,
    /// What stands in those parts of it of which nothing is known: it may belong to what has the same.
    pub ties: Box<[CallKey]>,
    /// What its sentences say, where somebody typed them.
    pub(crate) sayings: Option<Sayings>,
}

/// A tool-call id, hashed: enough to pair calls with results inside one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey(u64);

impl CallKey {
    /// The key of a tool-call id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Facts {
    /// Derives the facts of a message.
    #[must_use]
    pub fn of(message: &Message, meter: Meter) -> Self {
        let (mut trimmable, mut arguments, mut wordy) = (0, 0, 0);
        let tokens = meter.message_with(message, |block, text_tokens| {
            let beyond = text_tokens.saturating_sub(TRIMMED_TOKENS);
            match block {
                Block::Result(_) => trimmable += beyond,
                Block::Call(call) => {
                    arguments += argument_tokens(&call.arguments, text_tokens, meter);
                }
                _ => wordy += beyond,
            }
        });
        let mut calls = Vec::new();
        let mut answers = Vec::new();
        let mut ties = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Call(call) => calls.push(CallKey::of(&call.id)),
                // A server tool's result follows its call inside one message: that pair is closed already.
                Block::Result(result) => {
                    let key = CallKey::of(&result.call_id);
                    match calls.iter().position(|call| *call == key) {
                        Some(at) => drop(calls.remove(at)),
                        None => answers.push(key),
                    }
                }
                Block::Opaque { ids, .. } => ties.extend(ids.iter().map(|id| CallKey::of(id))),
                _ => {}
            }
        }
        let first_of_user = message
            .spoken()
            .next()
            .filter(|_| message.role == Role::User);
        // Reading the sentences of a message costs most of all this: it is done once.
        let typed = Typed::of(message);
        let sayings = Sayings::of(message, &typed);
        let (pins, _) = pin::sorted(Vec::new(), [(0, message, sayings.as_ref())], &[]);
        let is_typed = typed.is_any();
        let is_marker = first_of_user.is_some_and(|text| truncated_count(text).is_some());
        Self {
            role: message.role,
            is_typed_by_user: is_typed || carries_summary(message),
            is_own_summary: first_of_user.is_some_and(signature::is_own),
            is_stacked_summary: is_marker
                || first_of_user.is_some_and(|text| text.starts_with(SUMMARY_MARK)),
            is_marker,
            heartbeat: HeartbeatPart::with(message, is_typed, || pins.is_empty()),
            pin_tokens: saturate(pin_tokens(message, &pins, meter)),
            tokens: saturate(tokens),
            trimmable_tokens: saturate(trimmable),
            argument_tokens: saturate(arguments),
            wordy_tokens: saturate(wordy),
            calls: calls.into(),
            answers: answers.into(),
            is_only_thinking: message.is_only_thinking(),
            is_unknown: message.is_unknown(),
            ties: ties.into(),
            sayings,
        }
    }
}

/// Whether a summary of ours stands in a message of the user: a design put it there, and he began the turn.
fn carries_summary(message: &Message) -> bool {
    message.role == Role::User && message.spoken().any(|text| Embedded::find(text).is_some())
}

/// What the instructions in a message take, as bullets of a summary. In a summary of ours a rule may also stand inside
/// a request that it quotes.
fn pin_tokens(message: &Message, pins: &[Pin], meter: Meter) -> u64 {
    let cost = |text: &str| meter.text(text) + BULLET_TOKENS;
    let in_force = |pins: &[Pin]| -> u64 {
        let active = pins.iter().filter(|pin| pin.is_active());
        active.map(|pin| cost(&pin.text)).sum()
    };
    let earlier = message.spoken().next().and_then(Earlier::read);
    let Some(earlier) = earlier.filter(|_| message.role == Role::User) else {
        return in_force(pins);
    };
    let instructions: u64 = earlier.pins.iter().map(|text| cost(text)).sum();
    let requests = earlier.task.iter().chain(&earlier.said);
    let found = |text: &String| pin::find([(0, &Message::text(Role::User, text.as_str()))]);
    instructions + requests.map(|text| in_force(&found(text))).sum::<u64>()
}

fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
