//! What an image costs, read from the first bytes of its data.
//!
//! Only headers are looked at: PNG, JPEG, GIF and WebP. Whatever is not understood, and documents and
//! sounds, count as [`MEDIA_TOKENS`].

use epitome::MEDIA_TOKENS;

use crate::json::Value;

/// Base64 characters that hold every header but JPEG's.
const HEADER_CHARS: usize = 64;
/// Base64 characters within which a JPEG's size is looked for: about 64 KB of data.
const JPEG_CHARS: usize = 88_000;

/// Anthropic scales an image down until its longer side has this many pixels.
const ANTHROPIC_LONGEST_SIDE: u64 = 1_568;
/// Pixels per token there.
const ANTHROPIC_PIXELS: u64 = 750;

/// OpenAI fits an image into a square of this side,
const OPENAI_LONGEST_SIDE: u64 = 2_048;
/// then scales its shorter side down to this,
const OPENAI_SHORTEST_SIDE: u64 = 768;
/// and counts squares of this side.
const OPENAI_TILE: u64 = 512;
const OPENAI_TILE_TOKENS: u64 = 170;
const OPENAI_BASE_TOKENS: u32 = 85;

/// Pixels of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageSize {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

impl ImageSize {
    /// Reads the size from the beginning of an image's bytes. `None` for a format that is not known, a size
    /// of zero, or a header that is not there.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let found = match bytes {
            [0x89, b'P', b'N', b'G', ..] => Self {
                width: big_endian(bytes, 16..20)?,
                height: big_endian(bytes, 20..24)?,
            },
            [b'G', b'I', b'F', b'8', ..] => Self {
                width: little_endian(bytes, 6..8)?,
                height: little_endian(bytes, 8..10)?,
            },
            [0xFF, 0xD8, ..] => jpeg(bytes)?,
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => webp(bytes)?,
            _ => return None,
        };
        (found.width > 0 && found.height > 0).then_some(found)
    }

    /// Reads the size from base64, padded or not, of either alphabet.
    #[must_use]
    pub fn of_base64(data: &str) -> Option<Self> {
        let header = decode(data, HEADER_CHARS);
        if header.starts_with(&[0xFF, 0xD8]) {
            Self::of(&decode(data, JPEG_CHARS))
        } else {
            Self::of(&header)
        }
    }

    /// What Anthropic charges.
    #[must_use]
    pub fn anthropic_tokens(self) -> u32 {
        let (width, height) = self.within(ANTHROPIC_LONGEST_SIDE);
        saturate((width * height).div_ceil(ANTHROPIC_PIXELS))
    }

    /// What OpenAI charges.
    #[must_use]
    pub fn openai_tokens(self, detail: Detail) -> u32 {
        if detail == Detail::Low {
            return OPENAI_BASE_TOKENS;
        }
        let (mut width, mut height) = self.within(OPENAI_LONGEST_SIDE);
        let shortest = width.min(height);
        if shortest > OPENAI_SHORTEST_SIDE {
            width = (width * OPENAI_SHORTEST_SIDE).div_ceil(shortest);
            height = (height * OPENAI_SHORTEST_SIDE).div_ceil(shortest);
        }
        let tiles = width.div_ceil(OPENAI_TILE) * height.div_ceil(OPENAI_TILE);
        saturate(u64::from(OPENAI_BASE_TOKENS) + tiles * OPENAI_TILE_TOKENS)
    }

    /// Scaled down so that no side is above `longest`.
    fn within(self, longest: u64) -> (u64, u64) {
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        let side = width.max(height);
        if side <= longest {
            return (width, height);
        }
        let scaled = |pixels: u64| (pixels * longest).div_ceil(side);
        (scaled(width), scaled(height))
    }
}

/// How closely OpenAI is asked to look at an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// A small copy at a fixed price.
    Low,
    /// In squares. What `auto`, the default, mostly comes to.
    High,
}

/// Tokens of an OpenAI `image_url` part.
pub(crate) fn openai_image(part: &Value<'_>) -> u32 {
    let Some(image) = part.get("image_url") else {
        return MEDIA_TOKENS;
    };
    // Responses writes both beside each other.
    let detail = image.string("detail").or_else(|| part.string("detail"));
    let detail = match detail.as_deref() {
        Some("low") => Detail::Low,
        _ => Detail::High,
    };
    if detail == Detail::Low {
        return OPENAI_BASE_TOKENS;
    }
    // Some clients write the address itself where the object should be.
    let address = match image.as_text() {
        Some(text) => text.decode(),
        None => image.string("url").unwrap_or_default(),
    };
    address
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .and_then(|(_, data)| ImageSize::of_base64(data))
        .map_or(MEDIA_TOKENS, |size| size.openai_tokens(detail))
}

/// Tokens of an Anthropic `image` block.
pub(crate) fn anthropic_image(block: &Value<'_>) -> u32 {
    block
        .get("source")
        .and_then(|source| source.string("data"))
        .and_then(|data| ImageSize::of_base64(&data))
        .map_or(MEDIA_TOKENS, ImageSize::anthropic_tokens)
}

/// Walks from segment to segment until one tells the size.
fn jpeg(bytes: &[u8]) -> Option<ImageSize> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            // Any number of fill bytes may stand before a marker.
            0xFF => at += 1,
            // Markers without a segment.
            0x01 | 0xD0..=0xD8 => at += 2,
            // Start of frame, whatever the coding; C4, C8 and CC are tables.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some(ImageSize {
                    height: big_endian(bytes, at + 5..at + 7)?,
                    width: big_endian(bytes, at + 7..at + 9)?,
                });
            }
            // The picture itself, or its end.
            0xD9 | 0xDA => return None,
            _ => at += 2 + big_endian(bytes, at + 2..at + 4)?.max(2) as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<ImageSize> {
    Some(match bytes.get(12..16)? {
        b"VP8X" => ImageSize {
            width: little_endian(bytes, 24..27)? + 1,
            height: little_endian(bytes, 27..30)? + 1,
        },
        b"VP8L" => {
            let packed = little_endian(bytes, 21..25)?;
            ImageSize {
                width: (packed & 0x3FFF) + 1,
                height: (packed >> 14 & 0x3FFF) + 1,
            }
        }
        b"VP8 " => ImageSize {
            width: little_endian(bytes, 26..28)? & 0x3FFF,
            height: little_endian(bytes, 28..30)? & 0x3FFF,
        },
        _ => return None,
    })
}

fn big_endian(bytes: &[u8], range: std::ops::Range<usize>) -> Option<u32> {
    let digits = bytes.get(range)?.iter();
    Some(digits.fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little_endian(bytes: &[u8], range: std::ops::Range<usize>) -> Option<u32> {
    let digits = bytes.get(range)?.iter().rev();
    Some(digits.fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// Decodes at most the first `most_chars` digits; stops at what is none, but for line ends.
fn decode(data: &str, most_chars: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len().min(most_chars) / 4 * 3 + 3);
    let mut bits = 0_u32;
    let mut held = 0_u32;
    for byte in data
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .take(most_chars)
    {
        let Some(digit) = digit(byte) else { break };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xFF) as u8);
        }
    }
    out
}

const fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
