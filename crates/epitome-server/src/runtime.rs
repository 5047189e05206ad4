//! Threads to serve with.

use std::io;
use std::num::NonZero;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// Threads for work that takes long, such as summaries. Each keeps memory of its own, and more than there are processors
/// make nothing faster; looking up a name, which only waits, finds room beside them.
const BLOCKING_THREADS: usize = 8;

/// A runtime that serves with half of the processors and leaves the others to summaries and to the store, which have threads of
/// their own: connections that move from thread to thread cost more than is won by it.
///
/// # Errors
/// When the system has no threads left.
pub fn runtime() -> io::Result<Runtime> {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Builder::new_multi_thread()
        .worker_threads(processors.div_ceil(2))
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
}
