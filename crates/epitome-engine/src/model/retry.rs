//! When a request is sent again.

use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long to wait before each try. Between half and the whole of a doubling time, by a number that the caller's own
/// name gives, so that many callers do not come back at once.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    left: u32,
    done: u32,
    seed: u64,
    first_wait: Duration,
}

impl Retries {
    /// As many retries as these, for the caller that is known by `seed`.
    #[must_use]
    pub const fn new(retries: u32, seed: u64) -> Self {
        Self {
            left: retries,
            done: 0,
            seed,
            first_wait: FIRST_WAIT,
        }
    }

    /// With another time before the first retry.
    #[must_use]
    pub const fn starting_at(mut self, first_wait: Duration) -> Self {
        self.first_wait = first_wait;
        self
    }

    /// How long to wait before the next try; `None` when there is none left. What the provider asks for counts, with
    /// the same spread on top.
    pub fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let doubled = self.first_wait.saturating_mul(1 << self.done.min(10));
        self.done += 1;
        let longest = doubled.min(LONGEST_WAIT);
        let spread = longest.mul_f64(self.share());
        Some(match asked {
            Some(asked) => asked + spread.mul_f64(0.25),
            None => longest / 2 + spread / 2,
        })
    }

    /// A number from 0 to 1 that differs from caller to caller and from try to try.
    fn share(&self) -> f64 {
        let mut bytes = [0; 12];
        for (to, from) in bytes.iter_mut().zip(
            self.seed
                .to_le_bytes()
                .into_iter()
                .chain(self.done.to_le_bytes()),
        ) {
            *to = from;
        }
        let hash = blake3::hash(&bytes);
        let [first, second, ..] = *hash.as_bytes();
        f64::from(u16::from_le_bytes([first, second])) / f64::from(u16::MAX)
    }
}
