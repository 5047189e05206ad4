//! Compressed bodies, unpacked from a copy while the bytes go by. Does no I/O.
//!
//! A few bytes can hold very many. So nothing is unpacked further than one small buffer for each layer ahead of whoever looks
//! at it, and every layer has a limit of its own that is looked at after each buffer.

mod layer;

use layer::Layer;

/// What one stream may unpack to before nobody looks any further.
const STREAM_LIMIT: usize = 256 << 20;
/// What may come of a stream however little of it has arrived.
const STREAM_BASE: usize = 4 << 20;
/// How many bytes may come of one that has arrived: text is packed to a tenth, hardly ever to a hundredth.
const STREAM_RATIO: usize = 200;
/// Nobody packs more often than this.
const MOST_LAYERS: usize = 2;

/// A stream in one of the encodings that HTTP knows. The stream itself is not touched: what cannot be unpacked is only
/// not looked at.
///
/// ```
/// use epitome_wire::Unpacker;
///
/// let mut plain = Unpacker::of("identity").unwrap();
/// let mut seen = Vec::new();
/// plain.feed(b"data: x\n", |bytes| seen.extend_from_slice(bytes));
/// assert_eq!(seen, b"data: x\n");
/// assert!(Unpacker::of("compress").is_none());
/// ```
#[derive(Debug, Default)]
pub struct Unpacker {
    layers: Vec<Layer>,
    limit: Option<usize>,
    packed: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Good,
    /// The bytes are not what their header says.
    Garbage,
    /// There are more of them than anybody wants to see.
    TooMany,
}

impl Unpacker {
    /// An unpacker for the value of a `content-encoding` header; `None` for an encoding it does not know, or more of them
    /// than anybody applies. It stops where a stream unpacks to far more than text does.
    #[must_use]
    pub fn of(content_encoding: &str) -> Option<Self> {
        let names = content_encoding
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity");
        // The encoding that was applied last is named last and comes off first.
        let layers: Option<Vec<Layer>> = names.map(|name| Layer::of(&name)).collect();
        let mut layers = layers.filter(|layers| layers.len() <= MOST_LAYERS)?;
        layers.reverse();
        Some(Self {
            layers,
            ..Self::default()
        })
    }

    /// The same, stopping at so many bytes and at nothing else.
    #[must_use]
    pub const fn up_to(mut self, limit_bytes: usize) -> Self {
        self.limit = Some(limit_bytes);
        self
    }

    /// Takes the next bytes of the stream and hands what they unpack to, as far as it is known, to `plain`, in pieces of
    /// some kilobytes.
    pub fn feed(&mut self, bytes: &[u8], mut plain: impl FnMut(&[u8])) {
        if self.layers.is_empty() {
            plain(bytes);
            return;
        }
        if self.is_broken() {
            return;
        }
        self.packed = self.packed.saturating_add(bytes.len());
        let stream_limit = || {
            let by_ratio = self.packed.saturating_mul(STREAM_RATIO);
            by_ratio.saturating_add(STREAM_BASE).min(STREAM_LIMIT)
        };
        let limit = self.limit.unwrap_or_else(stream_limit);
        if let Err(state) = push(&mut self.layers, bytes, limit, &mut plain) {
            self.state = state;
        }
    }

    /// Whether nothing more can be unpacked: the bytes are not what their header says, or too many.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        !matches!(self.state, State::Good)
    }

    /// Whether it stopped because there is more than it was told to unpack.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(self.state, State::TooMany)
    }

    /// Whether what was fed is all there is: every layer has come to its own end, and its sums are right.
    #[must_use]
    pub fn is_whole(&mut self) -> bool {
        !self.is_broken() && self.layers.iter_mut().all(Layer::is_whole)
    }
}

/// Hands bytes through the layers, a buffer at a time.
fn push(
    layers: &mut [Layer],
    bytes: &[u8],
    limit: usize,
    plain: &mut dyn FnMut(&[u8]),
) -> Result<(), State> {
    let Some((first, rest)) = layers.split_first_mut() else {
        plain(bytes);
        return Ok(());
    };
    first.unpack(bytes, &mut |unpacked, piece| {
        if unpacked > limit {
            return Err(State::TooMany);
        }
        push(rest, piece, limit, plain)
    })
}
