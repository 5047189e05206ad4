//! Who is this? A conversation is known by the chain of its canonical messages.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::{Block, Digest, Facts, Log, Message, Meter, Reason, ReferenceMeter, ResultPart};

use crate::body::Body;
use crate::decode::canonical;
use crate::wire::Wire;

/// What was derived from one message when it first arrived.
#[derive(Clone, Debug)]
pub struct Known {
    /// The digest of its raw bytes.
    pub exact: Digest,
    /// The digest of its canonical form; `None` if it is no link of the chain.
    pub canonical: Option<Digest>,
    /// Size and cut facts.
    pub facts: Facts,
    /// Whether it is text, reasoning, calls and results: nothing whose size is only guessed.
    pub is_plain: bool,
    /// What a design counts in a way of its own, where it was asked for.
    pub reference_units: u64,
}

/// Messages are recognised by the group first: hashing one long stretch is several times faster than
/// hashing many short ones, and what is old hardly ever changes.
const GROUP: usize = 32;

type Group = Arc<[Arc<Known>]>;

/// Messages seen before, by the digest of their bytes, so that a turn costs what is new in it.
///
/// Holds two generations: when the younger one is full, the older one is forgotten. What is still in use
/// moves to the younger one whenever it is looked up.
#[derive(Debug)]
pub struct Memo {
    meter: Meter,
    reference: Option<ReferenceMeter>,
    messages: Mutex<Generations<Arc<Known>>>,
    groups: Mutex<Generations<Group>>,
}

#[derive(Debug)]
struct Generations<T> {
    young: HashMap<Digest, T, Prehashed>,
    old: HashMap<Digest, T, Prehashed>,
    capacity: usize,
}

impl Memo {
    /// A memo for about `capacity` messages, counted by `meter`.
    #[must_use]
    pub fn new(meter: Meter, capacity: usize) -> Self {
        let capacity = capacity.div_ceil(2).max(1);
        Self {
            meter,
            reference: None,
            messages: Mutex::new(Generations::new(capacity)),
            groups: Mutex::new(Generations::new(capacity.div_ceil(GROUP))),
        }
    }

    /// The same memo, which also counts in the way of a design.
    #[must_use]
    pub const fn counting_as(mut self, reference: Option<ReferenceMeter>) -> Self {
        self.reference = reference;
        self
    }

    /// The meter by which sizes were taken.
    #[must_use]
    pub const fn meter(&self) -> Meter {
        self.meter
    }

    fn messages(&self) -> MutexGuard<'_, Generations<Arc<Known>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn groups(&self) -> MutexGuard<'_, Generations<Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Generations<T> {
    fn new(capacity: usize) -> Self {
        Self {
            young: HashMap::default(),
            old: HashMap::default(),
            capacity,
        }
    }

    fn look_up(&mut self, digest: &Digest) -> Option<T> {
        if let Some(found) = self.young.get(digest) {
            return Some(found.clone());
        }
        let found = self.old.remove(digest)?;
        self.remember(*digest, found.clone());
        Some(found)
    }

    fn remember(&mut self, digest: Digest, value: T) {
        self.young.insert(digest, value);
        if self.young.len() > self.capacity {
            self.old = std::mem::take(&mut self.young);
        }
    }
}

/// Digests are uniform already; hashing them again would only cost time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prehashed;

/// Takes the first eight bytes of a digest as its hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstBytes(u64);

impl std::hash::BuildHasher for Prehashed {
    type Hasher = FirstBytes;

    fn build_hasher(&self) -> FirstBytes {
        FirstBytes(0)
    }
}

impl std::hash::Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _length: usize) {}
}

/// The key under which a tenant's chains are made. Equal content of two tenants gives unrelated chains.
#[derive(Clone, Copy)]
pub struct ChainKey([u8; 32]);

impl ChainKey {
    /// Wraps a secret.
    #[must_use]
    pub const fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The key for places where nobody else's content is around, such as a file on the command line.
    #[must_use]
    pub const fn public() -> Self {
        Self([0; 32])
    }

    /// A digest of content that only holders of the key can recognise.
    #[must_use]
    pub fn digest(&self, content: &Digest) -> Digest {
        Digest::new(*blake3::keyed_hash(&self.0, content.as_bytes()).as_bytes())
    }

    /// The chain after one more message.
    #[must_use]
    pub fn link(&self, before: Option<&Digest>, message: &Digest) -> Digest {
        let mut input = [0; 64];
        let (front, back) = input.split_at_mut(32);
        if let Some(before) = before {
            front.copy_from_slice(before.as_bytes());
        }
        back.copy_from_slice(message.as_bytes());
        Digest::new(*blake3::keyed_hash(&self.0, &input).as_bytes())
    }
}

impl std::fmt::Debug for ChainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChainKey(secret)")
    }
}

/// A request's conversation: what is known of each message, its chain, its sizes and cuts.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// What is known of each message.
    pub messages: Vec<Arc<Known>>,
    /// The links of the chain: which message, and the digest of the chain up to and with it.
    pub chain: Vec<(usize, Digest)>,
    /// Sizes and cuts.
    pub log: Log,
    /// How many messages had not been seen before.
    pub new_messages: usize,
}

impl Conversation {
    /// Recognises the messages of a body. Messages seen before cost a digest of their bytes; new ones are
    /// read strictly.
    ///
    /// # Errors
    /// [`Reason::UnreadableMessage`] when a message is no JSON object.
    pub fn of(body: &Body, memo: &Memo, key: &ChainKey) -> Result<Self, Reason> {
        let mut new_messages = 0;
        let mut messages = Vec::with_capacity(body.len());
        for group in body.messages().chunks(GROUP) {
            let start = messages.len();
            let digest = group_digest(body, group);
            let known = digest.and_then(|digest| memo.groups().look_up(&digest));
            if let Some(known) = known {
                messages.extend(known.iter().cloned());
                continue;
            }
            let mut is_settled = true;
            for index in start..start + group.len() {
                let exact = exact_digest(body.wire(), body.message(index));
                let known = memo.messages().look_up(&exact);
                messages.push(match known {
                    Some(known) => known,
                    None => {
                        new_messages += 1;
                        let known = Arc::new(derive(body, index, exact, memo)?);
                        // What nobody has seen may yet be seen.
                        let is_unseen = body.named(index).is_some_and(|named| named.item.is_none());
                        is_settled &= !is_unseen;
                        if !is_unseen {
                            memo.messages().remember(exact, Arc::clone(&known));
                        }
                        known
                    }
                });
            }
            if let (Some(digest), Some(known)) =
                (digest.filter(|_| is_settled), messages.get(start..))
            {
                memo.groups().remember(digest, known.into());
            }
        }
        let mut log = Log::new();
        log.reserve(messages.len());
        let mut chain: Vec<(usize, Digest)> = Vec::with_capacity(messages.len());
        for (index, known) in messages.iter().enumerate() {
            log.push(&known.facts);
            if let Some(canonical) = &known.canonical {
                let before = chain.last().map(|(_, digest)| digest);
                let link = key.link(before, canonical);
                chain.push((index, link));
            }
        }
        Ok(Self {
            messages,
            chain,
            log,
            new_messages,
        })
    }
}

/// The digest of a full group: its messages and what stands between them.
fn group_digest(body: &Body, group: &[Range<usize>]) -> Option<Digest> {
    let (first, last) = (group.first()?, group.last()?);
    let bytes = body.bytes().get(first.start..last.end)?;
    (group.len() == GROUP).then(|| exact_digest(body.wire(), bytes))
}

/// The digest of raw bytes. The format is part of it: the same bytes mean different things in two formats.
fn exact_digest(wire: Wire, bytes: &[u8]) -> Digest {
    match wire {
        Wire::OpenAiChat => Digest::of(bytes),
        Wire::OpenAiResponses => Digest::new(*blake3::keyed_hash(&[2; 32], bytes).as_bytes()),
        Wire::Anthropic => Digest::new(*blake3::keyed_hash(&[1; 32], bytes).as_bytes()),
    }
}

fn derive(body: &Body, index: usize, exact: Digest, memo: &Memo) -> Result<Known, Reason> {
    let value = body.read(index).map_err(|_| Reason::UnreadableMessage)?;
    let message = body.decoded(index).ok_or(Reason::UnreadableMessage)?;
    let mut facts = Facts::of(&message, memo.meter);
    if body.named(index).is_some() {
        // A name cannot be shortened.
        (
            facts.trimmable_tokens,
            facts.argument_tokens,
            facts.wordy_tokens,
        ) = (0, 0, 0);
    }
    Ok(Known {
        exact,
        canonical: canonical(body.wire(), &value),
        facts,
        is_plain: is_plain_message(&message),
        reference_units: memo
            .reference
            .map_or(0, |reference| reference.units(&message)),
    })
}

/// Whether a message is text, reasoning, calls and results.
fn is_plain_message(message: &Message) -> bool {
    message.blocks.iter().all(|block| match block {
        Block::Media(_) | Block::Opaque { .. } => false,
        Block::Result(result) => {
            let mut parts = result.parts.iter();
            parts.all(|part| matches!(part, ResultPart::Text(_)))
        }
        _ => true,
    })
}
