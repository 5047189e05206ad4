//! An encrypted value among bytes and among texts.
//!
//! Bytes: a mark, the name of the key, the nonce, what was encrypted and its tag. Texts: a mark, and the same in base 64. A clear
//! value that begins as an encrypted one does is kept behind the mark as well, so that nothing a client sends is taken for one.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use ring::aead::{Aad, NONCE_LEN, Nonce};

use super::{KeyId, Keys, Value};
use crate::{Error, Result, TenantId, clock};

/// No text begins with it: 0xFF is in no UTF-8.
const MARK: &[u8] = b"\xFFepitome";

const TEXT_MARK: &str = "\u{1}epitome:";

/// In place of the name of a key: what follows is clear.
const CLEAR: KeyId = [0; 8];

/// The same among texts; it is no digit of base 64.
const TEXT_CLEAR: char = '=';

impl Keys {
    /// The bytes to be stored for a value.
    pub(crate) fn seal<'a>(
        &self,
        tenant: &TenantId,
        value: Value<'_>,
        clear: &'a [u8],
    ) -> Result<Cow<'a, [u8]>> {
        if let Some(sealed) = self.sealed(tenant, value, clear)? {
            return Ok([MARK, &sealed].concat().into());
        }
        match clear.starts_with(MARK) {
            true => Ok([MARK, &CLEAR, clear].concat().into()),
            false => Ok(clear.into()),
        }
    }

    /// The bytes of a value, by those that are stored.
    pub(crate) fn open(&self, tenant: &TenantId, value: Value<'_>, stored: Bytes) -> Result<Bytes> {
        let Some(rest) = stored.strip_prefix(MARK) else {
            return Ok(stored);
        };
        match rest.strip_prefix(&CLEAR) {
            Some(clear) => Ok(Bytes::copy_from_slice(clear)),
            None => self.opened(tenant, value, rest).map(Bytes::from),
        }
    }

    /// The text to be stored for a value.
    pub(crate) fn seal_text<'a>(
        &self,
        tenant: &TenantId,
        value: Value<'_>,
        clear: &'a str,
    ) -> Result<Cow<'a, str>> {
        if let Some(sealed) = self.sealed(tenant, value, clear.as_bytes())? {
            return Ok(format!("{TEXT_MARK}{}", STANDARD_NO_PAD.encode(sealed)).into());
        }
        Ok(in_clear(clear))
    }

    /// The text of a value, by the one that is stored.
    pub(crate) fn open_text(
        &self,
        tenant: &TenantId,
        value: Value<'_>,
        stored: String,
    ) -> Result<String> {
        let Some(rest) = stored.strip_prefix(TEXT_MARK) else {
            return Ok(stored);
        };
        if let Some(clear) = rest.strip_prefix(TEXT_CLEAR) {
            return Ok(clear.to_owned());
        }
        let sealed = STANDARD_NO_PAD
            .decode(rest)
            .map_err(|error| Error::corrupt(error.to_string()))?;
        String::from_utf8(self.opened(tenant, value, &sealed)?).map_err(Error::corrupt)
    }

    /// All texts that may be stored for a value that repeats, by whichever key, but for the one that is stored now.
    pub(crate) fn other_texts(
        &self,
        tenant: &TenantId,
        value: Value<'_>,
        clear: &str,
    ) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        if !self.is_empty() {
            texts.push(in_clear(clear).into_owned());
        }
        for key in self.0.iter().skip(1) {
            let sealed = seal_with(key, tenant, value, clear.as_bytes())?;
            texts.push(format!("{TEXT_MARK}{}", STANDARD_NO_PAD.encode(sealed)));
        }
        Ok(texts)
    }

    /// Whether stored bytes are as they would be stored now: under the key that writes.
    pub(crate) fn is_current(&self, stored: &[u8]) -> bool {
        match (self.writing(), stored.strip_prefix(MARK)) {
            (Some(id), Some(rest)) => rest.starts_with(&id),
            (Some(_), None) => false,
            (None, rest) => rest.is_none(),
        }
    }

    /// The same of a text.
    pub(crate) fn is_current_text(&self, stored: &str) -> bool {
        match (self.writing(), stored.strip_prefix(TEXT_MARK)) {
            // The first eight bytes are ten digits and a part of one.
            (Some(id), Some(rest)) => {
                let digits = rest.get(..12).map(|digits| STANDARD_NO_PAD.decode(digits));
                matches!(digits, Some(Ok(bytes)) if bytes.starts_with(&id))
            }
            (Some(_), None) => false,
            (None, rest) => rest.is_none(),
        }
    }

    fn sealed(&self, tenant: &TenantId, value: Value<'_>, clear: &[u8]) -> Result<Option<Vec<u8>>> {
        let key = self.0.first();
        key.map(|key| seal_with(key, tenant, value, clear))
            .transpose()
    }

    fn opened(&self, tenant: &TenantId, value: Value<'_>, sealed: &[u8]) -> Result<Vec<u8>> {
        let broken = || Error::corrupt("an encrypted value is not what belongs in its place");
        let (id, rest) = sealed.split_first_chunk::<8>().ok_or_else(broken)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_LEN>().ok_or_else(broken)?;
        let key = self.by_id(id)?.of_tenant(tenant)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut bytes = rest.to_vec();
        let bound_to = Aad::from(value.bound_to(tenant));
        let clear = key.open_in_place(nonce, bound_to, &mut bytes);
        let length = clear.map_err(|_| broken())?.len();
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// The name of the key, the nonce, what was encrypted and its tag.
fn seal_with(
    key: &super::Key,
    tenant: &TenantId,
    value: Value<'_>,
    clear: &[u8],
) -> Result<Vec<u8>> {
    let bound_to = value.bound_to(tenant);
    let mut nonce = [0; NONCE_LEN];
    match value.repeats() {
        true => nonce = key.nonce_of(tenant, &bound_to, clear),
        false => clock::unforeseeable(&mut nonce).map_err(|_| Error::NoRandom)?,
    }
    let mut bytes = clear.to_vec();
    let sealing = key.of_tenant(tenant)?;
    let unique = Nonce::assume_unique_for_key(nonce);
    sealing
        .seal_in_place_append_tag(unique, Aad::from(bound_to), &mut bytes)
        .map_err(|_| Error::TooLarge("more than can be encrypted at once".into()))?;
    Ok([key.id.as_slice(), &nonce, &bytes].concat())
}

fn in_clear(text: &str) -> Cow<'_, str> {
    match text.starts_with(TEXT_MARK) {
        true => format!("{TEXT_MARK}{TEXT_CLEAR}{text}").into(),
        false => text.into(),
    }
}
