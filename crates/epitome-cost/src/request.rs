//! A request as a provider's cache sees it.

use epitome::Digest;

/// A part of a request that is cached whole or not at all: a tool, a block of the system prompt, a block of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What tells it from others: two pieces with the same identity are the same bytes.
    pub identity: Digest,
    /// What it takes.
    pub tokens: u64,
    /// Whether the request asks to cache everything up to here, and for how long.
    pub mark: Option<Lifetime>,
}

impl Piece {
    /// A piece without a mark.
    #[must_use]
    pub const fn new(identity: Digest, tokens: u64) -> Self {
        Self {
            identity,
            tokens,
            mark: None,
        }
    }

    /// The same piece, with a mark.
    #[must_use]
    pub const fn marked(mut self, lifetime: Lifetime) -> Self {
        self.mark = Some(lifetime);
        self
    }
}

/// How long something is to be cached after it was used last. Where a provider knows only one lifetime, that one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// What is usual.
    FiveMinutes,
    /// Longer, for a higher price.
    Hour,
}

/// One request. Providers look at tools first, then at the system prompt, then at the messages: who changes a tool
/// changes the beginning of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When it goes out, in milliseconds since any fixed point.
    pub at_ms: u64,
    /// Definitions of tools, in order.
    pub tools: Vec<Piece>,
    /// The blocks of the system prompt.
    pub system: Vec<Piece>,
    /// The blocks of the messages.
    pub messages: Vec<Piece>,
    /// Settings on which the cache of the messages depends, and that of tools and system does not: the choice of tools,
    /// thinking and its budget, whether there are images. Any number that is another one when they are others.
    pub message_settings: u64,
    /// What is answered.
    pub output_tokens: u64,
}

impl Request {
    /// An empty request that goes out at a time.
    #[must_use]
    pub fn at(at_ms: u64) -> Self {
        Self {
            at_ms,
            ..Self::default()
        }
    }

    /// All that goes in.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.pieces().map(|(_, piece)| piece.tokens).sum()
    }

    /// Takes all marks off and puts them where agents put them: behind the tools, behind the system prompt and behind
    /// the last message.
    pub fn mark_as_agents_do(&mut self, lifetime: Lifetime) {
        for part in [&mut self.tools, &mut self.system, &mut self.messages] {
            for piece in part.iter_mut() {
                piece.mark = None;
            }
            if let Some(last) = part.last_mut() {
                last.mark = Some(lifetime);
            }
        }
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Part, &Piece)> {
        let tools = self.tools.iter().map(|piece| (Part::Tools, piece));
        let system = self.system.iter().map(|piece| (Part::System, piece));
        let messages = self.messages.iter().map(|piece| (Part::Messages, piece));
        tools.chain(system).chain(messages)
    }
}

/// Where a piece stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Tools,
    System,
    Messages,
}

/// The beginning of a request up to the end of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    /// What tells it from all others.
    pub(crate) key: Digest,
    pub(crate) tokens: u64,
    pub(crate) mark: Option<Lifetime>,
    part: Part,
    identity: Digest,
    settings: u64,
}

/// The beginnings of a request, shortest first. Those that it shares with an earlier one are not hashed again.
pub(crate) fn prefixes(request: &Request, earlier: &[Prefix]) -> Vec<Prefix> {
    let mut earlier = earlier.iter();
    let mut is_shared = true;
    let mut key = Digest::default();
    let mut tokens = 0_u64;
    let mut all = Vec::new();
    for (part, piece) in request.pieces() {
        let settings = match part {
            Part::Messages => request.message_settings,
            Part::Tools | Part::System => 0,
        };
        let same = earlier.next().filter(|known| {
            known.part == part && known.identity == piece.identity && known.settings == settings
        });
        is_shared &= same.is_some();
        key = match same {
            Some(known) if is_shared => known.key,
            _ => chained(key, part, settings, piece.identity),
        };
        tokens = tokens.saturating_add(piece.tokens);
        all.push(Prefix {
            key,
            tokens,
            mark: piece.mark,
            part,
            identity: piece.identity,
            settings,
        });
    }
    all
}

fn chained(before: Digest, part: Part, settings: u64, identity: Digest) -> Digest {
    let mut bytes = Vec::with_capacity(73);
    bytes.extend_from_slice(before.as_bytes());
    bytes.push(part as u8);
    bytes.extend_from_slice(&settings.to_le_bytes());
    bytes.extend_from_slice(identity.as_bytes());
    Digest::of(&bytes)
}
