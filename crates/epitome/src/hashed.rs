//! Maps whose keys are hashes already.

use std::hash::{BuildHasherDefault, Hasher};

/// Takes a key as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// For maps and sets whose keys are spread already.
pub(crate) type Spread = BuildHasherDefault<Given>;
