//! One encoding on top of another, or of the plain bytes.

use std::io::Write;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Operation};

use super::State;

/// How much is unpacked before it is looked at.
const BUFFER: usize = 16 << 10;
/// The largest window a body may ask for, as a power of two: eight megabytes, which is what RFC 9659 allows on the web.
const ZSTD_WINDOW_LOG: u32 = 23;

/// An encoding that is taken off.
pub(super) struct Layer {
    coding: Coding,
    buffer: Vec<u8>,
    /// How many bytes came out so far.
    unpacked: usize,
    /// Whether it has said itself that it is complete.
    has_ended: bool,
}

enum Coding {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<Decompress>),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Box<zstd::stream::raw::Decoder<'static>>),
}

/// What takes the bytes that came out, with how many there were so far.
type Sink<'s> = dyn FnMut(usize, &[u8]) -> Result<(), State> + 's;

/// How far one step came.
struct Step {
    consumed: usize,
    produced: usize,
    /// Whether the same input may give more.
    has_more: bool,
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Layer")
            .field("unpacked", &self.unpacked)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

impl Layer {
    pub(super) fn of(name: &str) -> Option<Self> {
        let coding = match name {
            "gzip" | "x-gzip" => Coding::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Coding::Deflate(Box::new(Decompress::new(true))),
            "br" => {
                let alloc = StandardAlloc::default;
                Coding::Brotli(Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())))
            }
            "zstd" => {
                let mut decoder = zstd::stream::raw::Decoder::new().ok()?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG);
                decoder.set_parameter(window).ok()?;
                Coding::Zstd(Box::new(decoder))
            }
            _ => return None,
        };
        let buffer = match coding {
            // It writes into a buffer of its own.
            Coding::Gzip(_) => Vec::new(),
            _ => vec![0; BUFFER],
        };
        Some(Self {
            coding,
            buffer,
            unpacked: 0,
            has_ended: false,
        })
    }

    /// Hands what these bytes add to the plain stream to `sink`.
    pub(super) fn unpack(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), State> {
        if matches!(self.coding, Coding::Gzip(_)) {
            return self.unpack_gzip(bytes, sink);
        }
        let mut rest = bytes;
        loop {
            let step = self.step(rest).ok_or(State::Garbage)?;
            rest = rest.get(step.consumed..).unwrap_or_default();
            if step.produced > 0 {
                self.unpacked = self.unpacked.saturating_add(step.produced);
                let piece = self.buffer.get(..step.produced).unwrap_or_default();
                sink(self.unpacked, piece)?;
            }
            if rest.is_empty() && !step.has_more {
                return Ok(());
            }
            if step.consumed == 0 && step.produced == 0 {
                // More bytes behind its end, or a decoder that does not move.
                return Err(State::Garbage);
            }
        }
    }

    fn unpack_gzip(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), State> {
        let Coding::Gzip(decoder) = &mut self.coding else {
            return Err(State::Garbage);
        };
        let mut rest = bytes;
        loop {
            let is_last = rest.is_empty();
            if is_last {
                decoder.flush().map_err(|_| State::Garbage)?;
            } else {
                let consumed = decoder.write(rest).map_err(|_| State::Garbage)?;
                if consumed == 0 {
                    return Err(State::Garbage);
                }
                rest = rest.get(consumed..).unwrap_or_default();
            }
            let piece = decoder.get_mut();
            if !piece.is_empty() {
                self.unpacked = self.unpacked.saturating_add(piece.len());
                sink(self.unpacked, piece)?;
                piece.clear();
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// One buffer at most; `None` where the bytes are not what they should be.
    fn step(&mut self, input: &[u8]) -> Option<Step> {
        let room = self.buffer.len();
        let step = match &mut self.coding {
            Coding::Gzip(_) => return None,
            Coding::Deflate(inflate) => {
                let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(input, &mut self.buffer, FlushDecompress::None);
                self.has_ended = status.ok()? == Status::StreamEnd;
                let grown = |now: u64, before: u64| usize::try_from(now - before).ok();
                let produced = grown(inflate.total_out(), before_out)?;
                Step {
                    consumed: grown(inflate.total_in(), before_in)?,
                    produced,
                    has_more: produced == room && !self.has_ended,
                }
            }
            Coding::Brotli(state) => {
                let (mut left, mut consumed) = (input.len(), 0);
                let (mut free, mut produced, mut total) = (room, 0, 0);
                let result = BrotliDecompressStream(
                    &mut left,
                    &mut consumed,
                    input,
                    &mut free,
                    &mut produced,
                    &mut self.buffer,
                    &mut total,
                    state,
                );
                self.has_ended = matches!(result, BrotliResult::ResultSuccess);
                if matches!(result, BrotliResult::ResultFailure) {
                    return None;
                }
                Step {
                    consumed,
                    produced,
                    has_more: matches!(result, BrotliResult::NeedsMoreOutput),
                }
            }
            Coding::Zstd(decoder) => {
                let status = decoder.run_on_buffers(input, &mut self.buffer).ok()?;
                let has_moved = status.bytes_read > 0 || status.bytes_written > 0;
                if has_moved {
                    self.has_ended = status.remaining == 0;
                }
                Step {
                    consumed: status.bytes_read,
                    produced: status.bytes_written,
                    has_more: status.bytes_written == room,
                }
            }
        };
        Some(step)
    }

    /// Whether it has come to its end.
    pub(super) fn is_whole(&mut self) -> bool {
        match &mut self.coding {
            Coding::Gzip(decoder) => decoder.try_finish().is_ok(),
            _ => self.has_ended,
        }
    }
}
