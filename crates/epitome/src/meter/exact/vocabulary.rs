//! A vocabulary: its tokens by rank, and how it takes a text apart.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

use super::merge::token_ends;
use super::words::{CL100K, O200K, Splitter};

/// The vocabulary of GPT-4o and later.
pub(crate) fn o200k() -> &'static Vocabulary {
    static KNOWN: LazyLock<Vocabulary> = LazyLock::new(|| {
        let deflated = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.vocabulary"));
        Vocabulary::read(deflated, &O200K)
    });
    &KNOWN
}

/// The vocabulary of GPT-4 and GPT-3.5.
pub(crate) fn cl100k() -> &'static Vocabulary {
    static KNOWN: LazyLock<Vocabulary> = LazyLock::new(|| {
        let deflated = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.vocabulary"));
        Vocabulary::read(deflated, &CL100K)
    });
    &KNOWN
}

/// Tokens with their ranks.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    ranks: HashMap<&'static [u8], u32, BuildHasherDefault<TokenHasher>>,
    longest_bytes: usize,
    splitter: Splitter,
}

impl Vocabulary {
    #[expect(
        clippy::expect_used,
        reason = "the bytes were deflated by the build script of this very crate"
    )]
    fn read(deflated: &[u8], alternatives: &[&str]) -> Self {
        let mut bytes = Vec::new();
        DeflateDecoder::new(deflated)
            .read_to_end(&mut bytes)
            .expect("the build script deflated it");
        // It lives as long as the process, and tokens borrowed from it need no allocation each.
        let mut rest: &'static [u8] = bytes.leak();
        let mut tokens = Vec::new();
        while let Some((length, behind)) = rest.split_first() {
            let (token, behind) = behind
                .split_at_checked(usize::from(*length))
                .expect("each token has its length before it");
            tokens.push(token);
            rest = behind;
        }
        Self {
            longest_bytes: tokens.iter().map(|token| token.len()).max().unwrap_or(0),
            ranks: tokens.into_iter().zip(0..).collect(),
            splitter: Splitter::new(alternatives),
        }
    }

    /// The words that are encoded each by itself.
    pub(super) fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.splitter.words(text)
    }

    /// The tokens of a word.
    pub(super) fn count(&self, word: &str) -> usize {
        match self.rank(word.as_bytes()) {
            // Most words are tokens.
            Some(_) => 1,
            None => token_ends(word.as_bytes(), |token| self.rank(token)).len(),
        }
    }

    /// Bytes of the first `tokens` tokens of a word. By themselves they are the same tokens: no pair was joined across
    /// their end.
    pub(super) fn beginning(&self, word: &str, tokens: usize) -> usize {
        let ends = token_ends(word.as_bytes(), |token| self.rank(token));
        let last = tokens.checked_sub(1).and_then(|last| ends.get(last));
        last.copied().unwrap_or(0)
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        if token.len() > self.longest_bytes {
            return None;
        }
        self.ranks.get(token).copied()
    }
}

/// A fast hash for short keys that come from the vocabulary alone.
#[derive(Clone, Copy, Debug, Default)]
struct TokenHasher(u64);

impl TokenHasher {
    /// An odd number whose bits follow no pattern: the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
}

impl Hasher for TokenHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk
                .iter()
                .rfold(0, |word, byte| word << 8 | u64::from(*byte));
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(Self::FACTOR);
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(Self::FACTOR);
    }

    fn finish(&self) -> u64 {
        // The low bits of a product know only the low bits of its factors.
        self.0 ^ self.0 >> 32
    }
}
