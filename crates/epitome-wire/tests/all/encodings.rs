//! Compressed bodies in any pieces, and what they may cost.

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

/// Zeros packed so that little of them is left, in small pieces: nothing here holds all of them at once.
fn bomb(encoding: &str, megabytes: usize) -> Vec<u8> {
    let zeros = vec![0; 1 << 20];
    let fill = |out: &mut dyn Write| {
        for _ in 0..megabytes {
            out.write_all(&zeros).unwrap();
        }
    };
    match encoding {
        "gzip" => {
            let level = flate2::Compression::best();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            fill(&mut encoder);
            encoder.finish().unwrap()
        }
        "deflate" => {
            let level = flate2::Compression::best();
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            fill(&mut encoder);
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 1 << 16, 5, 22);
            fill(&mut encoder);
            drop(encoder);
            out
        }
        "zstd" => {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            fill(&mut encoder);
            encoder.finish().unwrap()
        }
        "br, gzip" => packed("gzip", &bomb("br", megabytes)),
        "zstd, zstd" => packed("zstd", &bomb("zstd", megabytes)),
        other => panic!("{other}"),
    }
}

const BOMBS: [&str; 6] = ["gzip", "deflate", "br", "zstd", "br, gzip", "zstd, zstd"];

/// Some kilobytes that hold half a gigabyte: a stream is not followed far beyond what text unpacks to, and never more than
/// a buffer of it is held.
#[test]
fn a_bomb_fills_neither_time_nor_memory() {
    for encoding in BOMBS {
        let bomb = bomb(encoding, 512);
        let mut unpacker = Unpacker::of(encoding).unwrap();
        let (mut seen, mut largest) = (0, 0);
        for piece in bomb.chunks(4 << 10) {
            unpacker.feed(piece, |plain| {
                seen += plain.len();
                largest = largest.max(plain.len());
            });
        }
        assert!(unpacker.is_too_large(), "{encoding}: {seen}");
        assert!(seen <= (4 << 20) + 200 * bomb.len(), "{encoding}: {seen}");
        assert!(largest <= 64 << 10, "{encoding}: {largest}");
    }
}

/// A whole body is followed up to the limit that is set, and no further.
#[test]
fn a_limit_is_kept_to_the_byte() {
    const LIMIT: usize = 3 << 20;
    for encoding in BOMBS {
        for (megabytes, fits) in [(3, true), (4, false)] {
            let bomb = bomb(encoding, megabytes);
            let mut unpacker = Unpacker::of(encoding).unwrap().up_to(LIMIT);
            let mut seen = 0;
            unpacker.feed(&bomb, |plain| seen += plain.len());
            assert!(seen <= LIMIT, "{encoding}: {seen}");
            assert_eq!(unpacker.is_whole(), fits, "{encoding} {megabytes}");
            assert_eq!(unpacker.is_too_large(), !fits, "{encoding} {megabytes}");
        }
    }
}

/// A body that was cut, that goes on behind its end or whose sum is wrong is not whole.
#[test]
fn what_is_cut_or_altered_is_not_whole() {
    let plain = br#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#;
    for encoding in ENCODINGS {
        let whole = packed(encoding, plain);
        let mut cut = whole.clone();
        cut.truncate(whole.len() - 3);
        let mut longer = whole.clone();
        longer.extend_from_slice(b"?");
        for (bytes, is_whole) in [(whole, true), (cut, false), (longer, false)] {
            let mut unpacker = Unpacker::of(encoding).unwrap().up_to(1 << 20);
            unpacker.feed(&bytes, |_| {});
            assert_eq!(unpacker.is_whole(), is_whole, "{encoding}");
        }
    }
    let mut wrong = packed("gzip", plain);
    let at = wrong.len() - 5;
    wrong[at] ^= 1;
    let mut unpacker = Unpacker::of("gzip").unwrap();
    unpacker.feed(&wrong, |_| {});
    assert!(!unpacker.is_whole());
}

/// Windows to look back on are memory too: what asks for very large ones is not unpacked.
#[test]
fn large_windows_are_refused() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
    let bytes = encoder.finish().unwrap();
    let mut unpacker = Unpacker::of("zstd").unwrap().up_to(64 << 20);
    unpacker.feed(&bytes, |_| {});
    assert!(unpacker.is_broken());
    assert!(Unpacker::of("gzip, gzip, gzip").is_none());
}
