//! Streams of any bytes in any pieces: the events do not depend on the pieces, and nothing they hold breaks a reader.

#![no_main]

use epitome_wire::sse::Decoder;
use epitome_wire::{Accumulator, StreamWatch, Unpacker, Wire};

fn events(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece.as_ref(), |event| {
            events.push((event.name.to_vec(), event.data.to_vec()));
        });
    }
    decoder.finish(|event| events.push((event.name.to_vec(), event.data.to_vec())));
    events
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else {
        return;
    };
    let size = usize::from(*choice % 7) + 1;
    let whole = events(std::iter::once(bytes));
    assert_eq!(whole, events(bytes.chunks(size)));
    for wire in Wire::ALL {
        let mut watch = StreamWatch::new(*wire);
        watch.feed(bytes);
        let mut answer = Accumulator::new(*wire);
        whole.iter().for_each(|(_, data)| answer.event(data));
        let _ = answer.finish().text();
    }
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let mut unpacker = Unpacker::of(encoding).expect("a known encoding");
        bytes
            .chunks(size * 16)
            .for_each(|piece| unpacker.feed(piece, |plain| drop(plain.to_vec())));
    }
});
