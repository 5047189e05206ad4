//! The Mersenne Twister (MT19937), seeded and drawn from as Python's `random` does, so that what is planted and
//! what the random baseline picks are the same on both sides. Nothing here is random: same seed, same draws.

use sha2::{Digest, Sha512};

const SIZE: usize = 624;
const MIDDLE: usize = 397;
const TWIST: u32 = 0x9908_b0df;

/// A generator.
#[derive(Clone, Debug)]
pub struct Mersenne {
    state: [u32; SIZE],
    next: usize,
}

impl Mersenne {
    /// Seeded by a number.
    #[must_use]
    pub fn from_number(seed: u64) -> Self {
        let low = u32::try_from(seed & u64::from(u32::MAX)).unwrap_or(0);
        let high = u32::try_from(seed >> 32).unwrap_or(0);
        if high == 0 {
            Self::from_key(&[low])
        } else {
            Self::from_key(&[low, high])
        }
    }

    /// Seeded by a text: its bytes and their SHA-512, read as one large number.
    #[must_use]
    pub fn from_text(seed: &str) -> Self {
        let mut bytes = seed.as_bytes().to_vec();
        bytes.extend_from_slice(&Sha512::digest(seed.as_bytes()));
        let mut key: Vec<u32> = bytes
            .rchunks(4)
            .map(|chunk| {
                chunk
                    .iter()
                    .fold(0, |word, byte| word << 8 | u32::from(*byte))
            })
            .collect();
        while key.len() > 1 && key.last() == Some(&0) {
            key.pop();
        }
        Self::from_key(&key)
    }

    fn from_key(key: &[u32]) -> Self {
        let mut state = [0_u32; SIZE];
        let mut previous = 19_650_218_u32;
        for (at, word) in state.iter_mut().enumerate() {
            if at > 0 {
                previous = (previous ^ (previous >> 30))
                    .wrapping_mul(1_812_433_253)
                    .wrapping_add(at as u32);
            }
            *word = previous;
        }
        let mut generator = Self { state, next: SIZE };
        let mut at = 1;
        let steps = SIZE.max(key.len());
        for (turn, word) in (0..steps)
            .zip(key.iter().enumerate().cycle())
            .map(|(_, w)| w)
        {
            let mixed = generator.mixed(at, 1_664_525);
            generator.set(at, mixed.wrapping_add(*word).wrapping_add(turn as u32));
            at = generator.advance(at);
        }
        for _ in 1..SIZE {
            let mixed = generator.mixed(at, 1_566_083_941);
            generator.set(at, mixed.wrapping_sub(at as u32));
            at = generator.advance(at);
        }
        generator.set(0, 0x8000_0000);
        generator
    }

    fn word(&self, at: usize) -> u32 {
        self.state.get(at).copied().unwrap_or(0)
    }

    fn set(&mut self, at: usize, word: u32) {
        if let Some(place) = self.state.get_mut(at) {
            *place = word;
        }
    }

    fn mixed(&self, at: usize, factor: u32) -> u32 {
        let before = self.word(at - 1);
        self.word(at) ^ (before ^ (before >> 30)).wrapping_mul(factor)
    }

    fn advance(&mut self, at: usize) -> usize {
        if at + 1 < SIZE {
            return at + 1;
        }
        self.set(0, self.word(SIZE - 1));
        1
    }

    fn refill(&mut self) {
        for at in 0..SIZE {
            let joined = self.word(at) & 0x8000_0000 | self.word((at + 1) % SIZE) & 0x7fff_ffff;
            let twisted = if joined & 1 == 1 { TWIST } else { 0 };
            self.set(
                at,
                self.word((at + MIDDLE) % SIZE) ^ (joined >> 1) ^ twisted,
            );
        }
        self.next = 0;
    }

    fn draw(&mut self) -> u32 {
        if self.next >= SIZE {
            self.refill();
        }
        let mut word = self.word(self.next);
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number below `bound`; zero when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        if bits == 0 || bits > 32 {
            return 0;
        }
        loop {
            let drawn = (self.draw() >> (32 - bits)) as usize;
            if drawn < bound {
                return drawn;
            }
        }
    }

    /// One of `items`.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts `items` into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}
