//! Compressed answers, unpacked from a copy while the bytes go by. Does no I/O.

use std::io::Write;

use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// What one stream may unpack to before nobody looks any further: a small answer can hold a very large one.
const UNPACKED_LIMIT: usize = 256 << 20;

/// A stream in one of the encodings that providers use. The stream itself is not touched: what cannot be unpacked is only
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
#[derive(Default)]
pub struct Unpacker {
    layers: Vec<Layer>,
    unpacked: usize,
    is_broken: bool,
}

enum Layer {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Vec<u8>>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Vec<u8>>>),
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Unpacker")
            .field("layers", &self.layers.len())
            .field("unpacked", &self.unpacked)
            .field("is_broken", &self.is_broken)
            .finish()
    }
}

impl Unpacker {
    /// An unpacker for the value of a `content-encoding` header; `None` for an encoding it does not know.
    #[must_use]
    pub fn of(content_encoding: &str) -> Option<Self> {
        let names = content_encoding
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity");
        // The encoding that was applied last is named last and comes off first.
        let layers: Option<Vec<Layer>> = names.map(|name| Layer::of(&name)).collect();
        let mut layers = layers?;
        layers.reverse();
        Some(Self {
            layers,
            unpacked: 0,
            is_broken: false,
        })
    }

    /// Takes the next bytes of the stream and hands what they unpack to, as far as it is known, to `plain`.
    pub fn feed(&mut self, bytes: &[u8], mut plain: impl FnMut(&[u8])) {
        if self.layers.is_empty() {
            plain(bytes);
            return;
        }
        if self.is_broken {
            return;
        }
        let mut unpacked = None;
        for layer in &mut self.layers {
            let input = unpacked.as_deref().unwrap_or(bytes);
            match layer.unpack(input) {
                Ok(output) => unpacked = Some(output),
                Err(_) => {
                    self.is_broken = true;
                    return;
                }
            }
        }
        let output = unpacked.unwrap_or_default();
        self.unpacked += output.len();
        self.is_broken |= self.unpacked > UNPACKED_LIMIT;
        if !output.is_empty() && !self.is_broken {
            plain(&output);
        }
    }

    /// Whether nothing more can be unpacked: the bytes are not what their header says, or too many.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }
}

impl Layer {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Self::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            "br" => Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                Vec::new(),
                BROTLI_BUFFER,
            ))),
            "zstd" => Self::Zstd(Box::new(
                zstd::stream::write::Decoder::new(Vec::new()).ok()?,
            )),
            _ => return None,
        })
    }

    /// What these bytes add to the plain stream. A small part of them may unpack to very much: the limit is looked at
    /// between parts.
    fn unpack(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        for part in bytes.chunks(PART) {
            let buffer = match self {
                Self::Gzip(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
                Self::Deflate(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
                Self::Brotli(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
                Self::Zstd(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
            };
            out.append(buffer);
            if out.len() > UNPACKED_LIMIT {
                return Err(std::io::ErrorKind::FileTooLarge.into());
            }
        }
        Ok(out)
    }
}

/// How much of a packed stream is unpacked at once.
const PART: usize = 16 << 10;
const BROTLI_BUFFER: usize = 16 << 10;
