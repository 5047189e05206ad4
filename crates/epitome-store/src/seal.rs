//! Encrypting what a store keeps of conversations.
//!
//! - [`Keys`]: the first of them writes, all of them read.
//! - `value`: what a value is and where it belongs, which it is bound to.
//! - `envelope`: an encrypted value among bytes and among texts, told from a clear one by its beginning.
//! - `rows`: rows on their way in and out.
//!
//! A value is encrypted with ChaCha20-Poly1305 under a key of its tenant, which is made of the store's key. It is bound to its
//! tenant, its kind and its name, so that nobody can put it in the place of another one. Every nonce comes from the random source of
//! the system, but for what people said about pins: those are found by their text, so there the nonce is made of the text, and
//! who reads the database sees that two are the same.

mod envelope;
mod rows;
mod value;

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;

use std::fmt;
use std::sync::Arc;

use ring::aead::{self, CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use ring::hmac;

use crate::{Error, Result, TenantId};

pub(crate) use value::Value;

/// What a key is called: a part of a digest of it, which tells nothing of the key.
pub(crate) type KeyId = [u8; 8];

const KEY_BYTES: usize = 32;

/// The keys that a store is encrypted with. The first one writes, all of them read. None at all is a store in clear.
///
/// Cheap to clone; never printed.
#[derive(Clone, Default)]
pub struct Keys(Arc<[Key]>);

struct Key {
    id: KeyId,
    master: hmac::Key,
}

impl Keys {
    /// No key: values are kept in clear.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads keys of 64 hexadecimal digits, with blanks, commas or line ends between them; a line that begins with `#` says
    /// nothing. `openssl rand -hex 32` makes one.
    ///
    /// # Errors
    /// [`Error::BadKey`] when one has another length or other characters, or when there is none.
    pub fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(str::trim);
        let words = lines
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.split([' ', '\t', ',']))
            .filter(|word| !word.is_empty());
        let keys: Vec<Key> = words
            .enumerate()
            .map(|(at, word)| Key::parse(word).ok_or(at + 1))
            .collect::<Result<_, usize>>()
            .map_err(|number| Error::BadKey {
                problem: format!("key {number} is not 64 hexadecimal digits"),
            })?;
        if keys.is_empty() {
            let problem = "there is none".to_owned();
            return Err(Error::BadKey { problem });
        }
        Ok(Self(keys.into()))
    }

    /// Whether there is none, so that values are kept in clear.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that writes.
    pub(crate) fn writing(&self) -> Option<KeyId> {
        self.0.first().map(|key| key.id)
    }

    /// Refuses a store that has values under a key that is not here.
    pub(crate) fn check(&self, stored: &[KeyId]) -> Result<()> {
        let strange = |id: &&KeyId| !self.0.iter().any(|key| key.id == **id);
        match stored.iter().find(strange) {
            Some(_) if self.is_empty() => Err(Error::KeyNeeded),
            Some(id) => Err(Error::WrongKey { id: hex(id) }),
            None => Ok(()),
        }
    }

    fn by_id(&self, id: &[u8]) -> Result<&Key> {
        match self.0.iter().find(|key| key.id == id) {
            Some(key) => Ok(key),
            None if self.is_empty() => Err(Error::KeyNeeded),
            None => Err(Error::WrongKey { id: hex(id) }),
        }
    }
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
        let bytes = pairs
            .iter()
            .map(|[high, low]| u8::try_from(high * 16 + low).ok());
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        if !rest.is_empty() || bytes.len() != KEY_BYTES {
            return None;
        }
        let master = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let name = hmac::sign(&master, b"epitome store key");
        let id = name.as_ref().first_chunk().copied()?;
        Some(Self { id, master })
    }

    /// The key of a tenant.
    fn of_tenant(&self, tenant: &TenantId) -> Result<LessSafeKey> {
        let bytes = self.derived(b"epitome tenant", &[tenant.as_str().as_bytes()]);
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes.as_ref());
        key.map(LessSafeKey::new)
            .map_err(|_| Error::corrupt("a key has another length than its cipher takes"))
    }

    /// The nonce of a value that must be the same whenever it is encrypted.
    fn nonce_of(&self, tenant: &TenantId, aad: &[u8], clear: &[u8]) -> [u8; aead::NONCE_LEN] {
        let parts = [tenant.as_str().as_bytes(), aad, clear];
        let digest = self.derived(b"epitome nonce", &parts);
        digest.as_ref().first_chunk().copied().unwrap_or_default()
    }

    /// Every part with its length, so that no two lists of them are alike.
    fn derived(&self, purpose: &[u8], parts: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.master);
        context.update(purpose);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.sign()
    }
}

/// By their names.
impl PartialEq for Keys {
    fn eq(&self, other: &Self) -> bool {
        let names = |keys: &Self| keys.0.iter().map(|key| key.id).collect::<Vec<_>>();
        names(self) == names(other)
    }
}

impl Eq for Keys {}

impl fmt::Debug for Keys {
    /// How many there are, and no more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.0.len())
    }
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
