//! A hash for short words of our own tables: no attacker chooses its keys, and each word of a text is looked up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys come from our own tables.
pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// An odd number whose bits are spread.
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

/// A polynomial over words of eight bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    const fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(FACTOR).rotate_left(29);
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hash of a word.
pub(crate) fn hash_of(word: &str) -> u64 {
    let mut hasher = FastHasher::default();
    hasher.write(word.as_bytes());
    // So that words that only differ in zeros at their end differ.
    hasher.write_usize(word.len());
    hasher.finish()
}
