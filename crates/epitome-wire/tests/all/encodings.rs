//! Compressed answers in any pieces.

use std::io::Write;

use epitome_testkit::Random;
use epitome_testkit::cases::property;
use epitome_wire::Unpacker;

const ENCODINGS: [&str; 5] = ["gzip", "deflate", "br", "zstd", "gzip, zstd"];

fn packed(encoding: &str, plain: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    match encoding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 3, 20);
            encoder.write_all(plain).unwrap();
            drop(encoder);
            out
        }
        "zstd" => zstd::stream::encode_all(plain, 1).unwrap(),
        "gzip, zstd" => packed("zstd", &packed("gzip", plain)),
        _ => plain.to_vec(),
    }
}

fn unpacked(encoding: &str, bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut unpacker = Unpacker::of(encoding).unwrap();
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, later) = rest.split_at(random.between(1, rest.len()));
        unpacker.feed(piece, |plain| out.extend_from_slice(plain));
        rest = later;
    }
    assert!(!unpacker.is_broken());
    out
}

#[test]
fn every_encoding_is_unpacked_in_any_pieces() {
    property(1, 400, |random, size| {
        let plain: String = (0..size)
            .map(|n| format!("data: {{\"n\":{n}}}\n\n"))
            .collect();
        for encoding in ENCODINGS {
            let bytes = packed(encoding, plain.as_bytes());
            assert_eq!(
                unpacked(encoding, &bytes, random),
                plain.as_bytes(),
                "{encoding}"
            );
        }
    });
}

/// A provider flushes after each event: what was sent can be read before the stream ends.
#[test]
fn what_was_flushed_is_there_at_once() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut unpacker = Unpacker::of("gzip").unwrap();
    for number in 0..20 {
        let event = format!("data: {number}\n\n");
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let mut seen = Vec::new();
        unpacker.feed(&std::mem::take(encoder.get_mut()), |plain| {
            seen.extend_from_slice(plain);
        });
        assert_eq!(seen, event.as_bytes());
    }
}

#[test]
fn what_is_not_what_it_says_is_left_alone() {
    for encoding in ENCODINGS {
        let mut unpacker = Unpacker::of(encoding).unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            unpacker.feed(
                b"{\"error\":\"this is plain text, whatever the header says\"}",
                |plain| {
                    seen.extend_from_slice(plain);
                },
            );
        }
        assert!(unpacker.is_broken(), "{encoding}");
        assert!(seen.is_empty(), "{encoding}");
    }
    assert!(Unpacker::of("gzip, exotic").is_none());
    assert!(Unpacker::of(" Identity ,, ").is_some());
}

/// A few hundred kilobytes that hold half a gigabyte.
#[test]
fn a_bomb_does_not_fill_the_memory() {
    let bomb = packed("gzip", &vec![0; 512 << 20]);
    let mut unpacker = Unpacker::of("gzip").unwrap();
    let mut seen = 0;
    for piece in bomb.chunks(4 << 10) {
        unpacker.feed(piece, |plain| seen += plain.len());
    }
    assert!(unpacker.is_broken() && seen <= 256 << 20, "{seen}");
}
