//! Items that a provider keeps and that requests only name.
//!
//! Responses lets a client send `{"type":"item_reference","id":"…"}` instead of an item of an earlier answer. What the
//! model reads is the item, so that its size, and with what it is paired, are known only to who saw the answer go by.

use bytes::Bytes;
use epitome::{Block, Call, Message};

use crate::body::{Body, Named};
use crate::decode::decode;
use crate::json::{self, Value};
use crate::openai_responses::ItemKind;
use crate::recent::Recent;
use crate::wire::Wire;

/// Beyond this, what stands in an item that a request only names is known by its size: it cannot be shortened there.
const SHOWN_BYTES: usize = 400;
/// What the items of one answer may take together.
const ANSWER_BYTES: usize = 4 << 20;

/// Items of answers by their ids, as many of the newest as fit.
///
/// ```
/// use epitome_wire::Items;
///
/// let items = Items::new(1 << 20);
/// items.keep(br#"{"type":"message","id":"msg_1","role":"assistant","content":[]}"#.as_slice().into());
/// assert!(items.find("msg_1").is_some());
/// assert!(items.find("msg_2").is_none());
/// ```
#[derive(Debug)]
pub struct Items(Recent<Bytes>);

impl Items {
    /// Keeps about so many bytes.
    #[must_use]
    pub fn new(capacity_bytes: usize) -> Self {
        Self(Recent::new(capacity_bytes))
    }

    /// Keeps an item, if it has an id.
    pub fn keep(&self, item: Bytes) {
        let id = json::read(&item).ok().and_then(|value| id(&value));
        if let Some(id) = id {
            let bytes = item.len();
            self.0.put(id, item, bytes);
        }
    }

    /// The item of this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Bytes> {
        self.0.find(id)
    }
}

/// What an answer of Responses holds that later requests may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerItems {
    /// The id of the answer itself.
    pub response: Option<String>,
    /// Its items that have ids, as they came.
    pub items: Vec<Bytes>,
    /// Whether some are missing: they were too large together, or had no id.
    pub is_cut: bool,
    bytes: usize,
}

impl AnswerItems {
    /// Of an answer that went by whole.
    #[must_use]
    pub fn of(wire: Wire, answer: &[u8]) -> Self {
        let mut items = Self::default();
        if wire == Wire::OpenAiResponses
            && let Ok(value) = json::read(answer)
        {
            items.response = id(&value);
            for item in value.get("output").map(Value::items).unwrap_or_default() {
                items.add(item, answer);
            }
        }
        items
    }

    /// Looks at one event of a stream.
    pub(crate) fn see(&mut self, event: &[u8]) {
        let has = |mark: &[u8]| memchr::memmem::find(event, mark).is_some();
        let names = self.response.is_none() && has(b"\"response\"");
        if !names && !has(b"response.output_item.done") {
            return;
        }
        let Ok(value) = json::read(event) else {
            return;
        };
        if names {
            self.response = value.get("response").and_then(id);
        }
        if value.string("type").as_deref() == Some("response.output_item.done")
            && let Some(item) = value.get("item")
        {
            self.add(item, event);
        }
    }

    fn add(&mut self, item: &Value<'_>, source: &[u8]) {
        let bytes = source.get(item.range.clone()).unwrap_or_default();
        if id(item).is_some() && self.bytes + bytes.len() <= ANSWER_BYTES {
            self.bytes += bytes.len();
            self.items.push(Bytes::copy_from_slice(bytes));
        } else {
            self.is_cut = true;
        }
    }
}

impl Body {
    /// The same body, with what `find` says of the items that it only names.
    #[must_use]
    pub fn resolved(mut self, find: impl Fn(&str) -> Option<Bytes>) -> Self {
        if self.wire() != Wire::OpenAiResponses {
            return self;
        }
        let found: Vec<Named> = self
            .references()
            .map(|(index, id)| Named {
                index,
                item: id.and_then(|id| find(&id)),
            })
            .collect();
        self.set_named(found);
        self
    }

    /// Whether some of its items are only named: what they are stands elsewhere.
    #[must_use]
    pub fn names_items(&self) -> bool {
        self.wire() == Wire::OpenAiResponses && self.references().next().is_some()
    }

    /// A message for the core. Of an item that is only named it is what it names, where that is known; what is long in
    /// it is known by its size.
    #[must_use]
    pub fn decoded(&self, index: usize) -> Option<Message> {
        if let Some(Named {
            item: Some(item), ..
        }) = self.named(index)
            && let Ok(value) = json::read(item)
            && let Ok(decoded) = decode(self.wire(), &value)
        {
            return Some(unshortenable(decoded.message, item.len()));
        }
        let value = self.read(index).ok()?;
        Some(decode(self.wire(), &value).ok()?.message)
    }

    /// The items that are only named, with their ids.
    fn references(&self) -> impl Iterator<Item = (usize, Option<String>)> + '_ {
        const NAME: &[u8] = b"\"item_reference";
        let is_said = memchr::memmem::find(self.bytes(), NAME).is_some();
        // Reading is strict and slow; hardly any item is one that matters here.
        (0..self.len())
            .filter(move |&index| {
                let bytes = self.message(index);
                is_bare(bytes) || (is_said && memchr::memmem::find(bytes, NAME).is_some())
            })
            .filter_map(|index| Some((index, self.read(index).ok()?)))
            .filter(|(_, item)| ItemKind::of(item) == ItemKind::Reference)
            .map(|(index, item)| (index, id(&item)))
    }
}

fn id(item: &Value<'_>) -> Option<String> {
    let id = item.string("id")?;
    (!id.is_empty()).then(|| id.into_owned())
}

/// Whether an item may be a reference that leaves out its type: an id and nothing else.
pub(crate) fn is_bare(item: &[u8]) -> bool {
    const MOST_BYTES: usize = 160;
    item.len() <= MOST_BYTES && memchr::memmem::find(item, b"\"type\"").is_none()
}

/// The same message, with nothing in it that could be shortened where it stands.
fn unshortenable(message: Message, chars: usize) -> Message {
    let Message { role, blocks } = message;
    if blocks.iter().any(|block| matches!(block, Block::Result(_))) {
        return Message {
            role,
            blocks: vec![Block::opaque(chars)],
        };
    }
    let mut out = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Call(call) if call.arguments.len() > SHOWN_BYTES => {
                let (shown, rest) = parted(&call.arguments);
                let chars = rest.chars().count();
                out.push(Block::Call(Call::new(&*call.id, &*call.name, shown)));
                out.push(Block::opaque(chars));
            }
            other => out.push(other),
        }
    }
    Message { role, blocks: out }
}

fn parted(text: &str) -> (&str, &str) {
    let at = (0..=SHOWN_BYTES.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.split_at(at.unwrap_or(0))
}
