//! Keys that tenants are known by, as digests: the keys themselves are kept nowhere.

use std::fmt;
use std::str::FromStr;

/// What this digest is for: the same key digested for anything else is another digest.
const CONTEXT: &str = "epitome 2026 key of a tenant";
/// What its text form begins with.
const SCHEME: &str = "epitome:";

/// The digest of a key. Its text form is `epitome:` and 64 hexadecimal digits; the key cannot be had from it, where the key is
/// long and made by chance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// That of a key; spaces around it do not belong to it.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(blake3::derive_key(CONTEXT, key.trim().as_bytes()))
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A key that nobody can guess; `None` where the system gives no random numbers.
#[must_use]
pub fn fresh_key() -> Option<String> {
    let mut secret = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut secret).ok()?;
    Some(format!("ep-{}", blake3::Hash::from_bytes(secret).to_hex()))
}

/// The text is no digest of a key. What it is instead is not said: it may be the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the digest of a key: `epitome config key` prints one, `epitome:` and 64 digits")]
pub struct NoKeyDigest;

impl FromStr for KeyDigest {
    type Err = NoKeyDigest;

    fn from_str(text: &str) -> Result<Self, NoKeyDigest> {
        let digits = text.strip_prefix(SCHEME).ok_or(NoKeyDigest)?;
        let hash = blake3::Hash::from_hex(digits).map_err(|_| NoKeyDigest)?;
        Ok(Self(*hash.as_bytes()))
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::KeyDigest;

    #[test]
    fn a_digest_is_read_back_and_shows_no_key() {
        let digest = KeyDigest::of(" sk-one\n");
        assert_eq!(digest, KeyDigest::of("sk-one"));
        assert_ne!(digest, KeyDigest::of("sk-two"));
        let text = digest.to_string();
        assert_eq!(text.parse(), Ok(digest));
        assert!(!text.contains("sk-one") && !format!("{digest:?}").contains("sk"));
        for wrong in [
            "",
            "epitome:",
            "sk-one",
            "epitome:zz",
            &text[8..],
            &text[..70],
        ] {
            assert!(wrong.parse::<KeyDigest>().is_err(), "{wrong}");
        }
    }
}
