//! Event streams: at least 1 GB/s on events of a megabyte, and at least five times what the usual crate does.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::convert::Infallible;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use epitome_wire::sse::Decoder;
use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};

const BYTES: usize = 64 << 20;
const ROUNDS: usize = 5;
/// As a socket hands them over.
const CHUNK: usize = 64 << 10;
const LEAST_RATE: f64 = 1e9;
const LEAST_RATIO: f64 = 5.0;

fn main() -> ExitCode {
    let mut verdict = ExitCode::SUCCESS;
    println!("event size      epitome MB/s   eventsource-stream MB/s   ratio");
    for (name, size) in [("100 bytes", 100), ("10 KB", 10 << 10), ("1 MB", 1 << 20)] {
        let event = format!("event: delta\ndata: {}\n\n", "x".repeat(size));
        let bytes = event.repeat((BYTES / event.len()).max(1)).into_bytes();
        let count = bytes.len() / event.len();
        // Both in turn, so that a busy machine slows both.
        let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
        for _ in 0..ROUNDS {
            ours = ours.min(seconds(|| assert_eq!(decode(&bytes), count)));
        }
        // The other one takes very long on large events: a part is enough.
        let part = bytes.get(..event.len().max(4 << 20)).unwrap_or(&bytes);
        let whole = part.len() / event.len();
        for _ in 0..2 {
            theirs = theirs.min(seconds(|| assert!(decode_theirs(part) >= whole.min(1))));
        }
        let rate = bytes.len() as f64 / ours;
        let other = part.len() as f64 / theirs;
        println!(
            "{name:<14} {:>13.0} {:>25.0} {:>7.1}",
            rate / 1e6,
            other / 1e6,
            rate / other
        );
        let is_large = size >= 1 << 20;
        if is_large && (rate < LEAST_RATE || rate < LEAST_RATIO * other) {
            verdict = ExitCode::FAILURE;
        }
    }
    verdict
}

fn seconds(work: impl FnOnce()) -> f64 {
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn decode(bytes: &[u8]) -> usize {
    let mut decoder = Decoder::new();
    let mut events = 0;
    for chunk in bytes.chunks(CHUNK) {
        decoder.feed(chunk, |event| {
            black_box(event.data);
            events += 1;
        });
    }
    events
}

fn decode_theirs(bytes: &[u8]) -> usize {
    let chunks = bytes
        .chunks(CHUNK)
        .map(|chunk| Ok::<_, Infallible>(chunk.to_vec()));
    let events = stream::iter(chunks).eventsource();
    let counted = events.fold(0, |count, event| async move {
        black_box(event.map(|event| event.data).ok());
        count + 1
    });
    // Everything is there already: nothing has to be waited for.
    counted.now_or_never().unwrap_or(0)
}
