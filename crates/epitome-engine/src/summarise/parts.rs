//! Parts of a summary that were finished, so that a failure later on does not cost them again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many finished parts are kept.
const KEPT: usize = 256;

/// Finished parts, by what was asked. A clone is the same memory.
#[derive(Clone, Debug, Default)]
pub struct Parts(Arc<Mutex<Finished>>);

#[derive(Debug, Default)]
struct Finished {
    texts: HashMap<[u8; 32], String>,
    order: std::collections::VecDeque<[u8; 32]>,
}

impl Parts {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn find(&self, key: [u8; 32]) -> Option<String> {
        self.lock().texts.get(&key).cloned()
    }

    pub(super) fn keep(&self, key: [u8; 32], text: &str) {
        let mut finished = self.lock();
        if finished.texts.insert(key, text.to_owned()).is_none() {
            finished.order.push_back(key);
        }
        while finished.order.len() > KEPT {
            if let Some(oldest) = finished.order.pop_front() {
                finished.texts.remove(&oldest);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Finished> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What makes two questions the same.
pub(super) fn key(parts: &[&str]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}
