//! The same work on many items, on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

const THREADS: usize = 2;

/// The results in the order of the items, whichever thread came to them first.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some((at, item)) = take(items, &next) {
                    // Nobody hangs up before all work is done.
                    let _ = sender.send((at, work(item)));
                }
            });
        }
    });
    drop(sender);
    let mut results: Vec<(usize, R)> = receiver.into_iter().collect();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, items.get(at)?))
}
