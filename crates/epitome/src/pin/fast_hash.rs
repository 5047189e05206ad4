//! A hash for short words of our own tables: no attacker chooses its keys, and each word of a text is looked up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys come from our own tables.
pub(super) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// FNV-1a.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastHasher(u64);

impl Default for FastHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hash of a word.
pub(super) fn hash_of(word: &str) -> u64 {
    let mut hasher = FastHasher::default();
    hasher.write(word.as_bytes());
    hasher.finish()
}
