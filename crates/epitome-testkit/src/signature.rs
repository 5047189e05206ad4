//! Signatures of thinking blocks, as the scripted model makes and checks them.
//!
//! A provider signs what its model thought and refuses a block whose text no longer fits. Here the signature is
//! a keyed digest of the text alone, so that generators, server and checks agree without sharing state.

use crate::random::Random;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The only signature that is accepted for this thinking text.
#[must_use]
pub fn sign(thinking: &str) -> String {
    let digest = blake3::derive_key("epitome-testkit thinking signature", thinking.as_bytes());
    let mut signature = String::from("EqQB");
    signature.push_str(&letters(&digest, 84));
    signature.push_str("==");
    signature
}

/// The opaque data of a redacted thinking block.
#[must_use]
pub fn redacted(random: &mut Random) -> String {
    let seed = blake3::hash(&random.bits().to_le_bytes());
    format!("EmwK{}", letters(seed.as_bytes(), 120))
}

/// `count` letters that look like base64 and depend on every byte of `source`.
pub(crate) fn letters(source: &[u8], count: usize) -> String {
    let mut bytes = vec![0; count];
    let mut hasher = blake3::Hasher::new();
    hasher.update(source);
    hasher.finalize_xof().fill(&mut bytes);
    bytes
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 63)))
        .map(|letter| char::from(*letter))
        .collect()
}

/// `count` letters and digits for an identifier, from the same kind of source.
pub(crate) fn identifier(source: &[u8], count: usize) -> String {
    letters(source, count)
        .chars()
        .map(|letter| match letter {
            '+' => 'p',
            '/' => 's',
            other => other,
        })
        .collect()
}

/// The identifier of an item that a reasoning item led to, or of that reasoning item itself: a provider that keeps
/// its answers knows which reasoning each of their items needs, and here the identifier alone tells it.
#[must_use]
pub(crate) fn thought_id(prefix: &str, thinking: &str, position: usize) -> String {
    let digest = blake3::hash(thinking.as_bytes());
    let thought = identifier(digest.as_bytes(), 20);
    format!("{prefix}_thought{thought}_{position}")
}

/// Which reasoning an identifier tells of, if it is one of ours.
pub(crate) fn thought_of(id: &str) -> Option<&str> {
    let (_, rest) = id.split_once("_thought")?;
    let (thought, _) = rest.split_once('_')?;
    Some(thought)
}
