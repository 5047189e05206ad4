//! A conversation that took place, prepared to be walked through again.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use epitome::{Block, Digest, Message, Meter, ResultPart, Role, anchors};

use crate::request::Piece;

/// The time from one request to the next where the recording does not say when anything happened.
pub const PACE_MS: u64 = 30_000;

/// A conversation with the times of its requests, read once however often it is walked through.
#[derive(Clone, Debug)]
pub struct Recording {
    pub(crate) messages: Vec<Message>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) requests: Vec<Asked>,
    pub(crate) frame_tokens: u64,
    pub(crate) meter: Meter,
    pace: Pace,
}

/// Where the times of a recording come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// From the recording.
    Recorded,
    /// From nowhere: a request every [`PACE_MS`].
    Fixed,
}

/// A message as the cache sees it, and what it names.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) anchors: Vec<u64>,
}

/// A request of the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// How many messages stand before the answer.
    pub(crate) messages: usize,
    pub(crate) at_ms: u64,
    /// What the answer takes.
    pub(crate) output_tokens: u64,
}

impl Recording {
    /// The requests of a conversation: one for each answer, with all that stands before it. `times_ms` says when each
    /// message was written, where that is known. A time that lies before the one before it is taken for the same.
    #[must_use]
    pub fn new(messages: Vec<Message>, times_ms: &[Option<u64>], meter: Meter) -> Self {
        let entries: Vec<Entry> = messages
            .iter()
            .map(|message| Entry::of(message, meter))
            .collect();
        let mut requests: Vec<Asked> = Vec::new();
        // An answer at the beginning was asked for elsewhere.
        let mut was_answer = true;
        let is_timed = times_ms.iter().any(Option::is_some);
        let mut now_ms = 0;
        for (at, (message, entry)) in messages.iter().zip(&entries).enumerate() {
            let is_answer = message.role == Role::Assistant;
            if is_answer && !was_answer {
                if !is_timed {
                    now_ms += PACE_MS;
                }
                requests.push(Asked {
                    messages: at,
                    at_ms: now_ms,
                    output_tokens: 0,
                });
            }
            if is_answer && let Some(asked) = requests.last_mut() {
                asked.output_tokens += entry.tokens();
            }
            now_ms = times_ms
                .get(at)
                .copied()
                .flatten()
                .map_or(now_ms, |time| time.max(now_ms));
            was_answer = is_answer;
        }
        Self {
            messages,
            entries,
            requests,
            frame_tokens: 0,
            meter,
            pace: if is_timed {
                Pace::Recorded
            } else {
                Pace::Fixed
            },
        }
    }

    /// The same, where every request has so many tokens besides its messages: tools, and a system prompt that is passed
    /// apart.
    #[must_use]
    pub const fn with_frame(mut self, tokens: u64) -> Self {
        self.frame_tokens = tokens;
        self
    }

    /// How many requests there are.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.len()
    }

    /// How many messages there are.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// What every request has besides its messages.
    #[must_use]
    pub const fn frame_tokens(&self) -> u64 {
        self.frame_tokens
    }

    /// What the messages before a position take, by the meter.
    #[must_use]
    pub fn tokens_before(&self, position: usize) -> u64 {
        self.entries.iter().take(position).map(Entry::tokens).sum()
    }

    /// Where the times come from.
    #[must_use]
    pub const fn pace(&self) -> Pace {
        self.pace
    }
}

impl Entry {
    pub(crate) fn of(message: &Message, meter: Meter) -> Self {
        let mut names = Vec::new();
        each_text(message, |text| names.extend(anchors(text).map(fingerprint)));
        Self {
            pieces: pieces(message, meter),
            anchors: names,
        }
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }
}

/// What a list of messages names.
pub(crate) fn named<'m>(messages: impl IntoIterator<Item = &'m Message>) -> HashSet<u64> {
    let mut names = HashSet::new();
    for message in messages {
        each_text(message, |text| names.extend(anchors(text).map(fingerprint)));
    }
    names
}

/// A message block by block. Together they take what the message does.
pub(crate) fn pieces(message: &Message, meter: Meter) -> Vec<Piece> {
    let role = message.role;
    let all = meter.message(message);
    let alone = |blocks| meter.message(&Message { role, blocks });
    let around = alone(Vec::new());
    let Some((last, others)) = message.blocks.split_last() else {
        return vec![Piece::new(Digest::of(role.as_str().as_bytes()), all)];
    };
    let mut before = 0;
    let mut pieces: Vec<Piece> = Vec::with_capacity(message.blocks.len());
    for block in others {
        let tokens = alone(vec![block.clone()]).saturating_sub(around);
        let tokens = tokens.min(all - before);
        before += tokens;
        pieces.push(Piece::new(identity(role, block), tokens));
    }
    pieces.push(Piece::new(identity(role, last), all - before));
    pieces
}

/// What tells a block from others.
fn identity(role: Role, block: &Block) -> Digest {
    let mut bytes = role.as_str().as_bytes().to_vec();
    let mut put = |kind: u8, text: &str| {
        bytes.push(kind);
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    match block {
        Block::Text(text) => put(1, text),
        Block::Injected(text) => put(2, text),
        Block::Thinking { chars } => put(3, &chars.to_string()),
        Block::Call(call) => {
            put(4, &call.id);
            put(4, &call.name);
            put(4, &call.arguments);
        }
        Block::Result(result) => {
            put(5, &result.call_id);
            put(5, if result.is_error { "failed" } else { "" });
            for part in &result.parts {
                match part {
                    ResultPart::Text(text) => put(6, text),
                    ResultPart::Media(media) => put(7, &format!("{media:?}")),
                    ResultPart::Opaque { chars } => put(8, &chars.to_string()),
                }
            }
        }
        Block::Media(media) => put(7, &format!("{media:?}")),
        Block::Opaque { chars, ids } => {
            put(8, &chars.to_string());
            ids.iter().for_each(|id| put(8, id));
        }
    }
    Digest::of(&bytes)
}

/// What somebody said, called or got; not what the client puts in by itself.
fn each_text(message: &Message, mut text_of: impl FnMut(&str)) {
    if message.role == Role::System {
        return;
    }
    for block in &message.blocks {
        match block {
            Block::Text(text) => text_of(text),
            Block::Call(call) => text_of(&call.arguments),
            Block::Result(result) => result.texts().for_each(&mut text_of),
            Block::Injected(_)
            | Block::Thinking { .. }
            | Block::Media(_)
            | Block::Opaque { .. } => {}
        }
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
