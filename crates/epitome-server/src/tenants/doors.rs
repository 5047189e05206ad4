//! By what the requests of tenants are known.
//!
//! In this order: a key of the tenant in a header of ours, or a name that a trusted peer gives; where a request has neither, the
//! provider key that it carries. Whatever a request says of itself has to lead to one tenant: who says two things at once, or
//! something that nobody knows, is nobody.

use std::collections::HashMap;
use std::net::IpAddr;

use epitome_store::TenantId;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::config::{KeyDigest, Network, TenantSettings};

/// The header in which clients send keys of ours.
const KEY: HeaderName = HeaderName::from_static("x-epitome-key");
/// The other header in which clients send keys of their providers.
const PROVIDER_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The position of a tenant in the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Door(pub(super) usize);

/// Who is known by what.
#[derive(Debug)]
pub(super) struct Doors {
    keys: HashMap<KeyDigest, Door>,
    provider_keys: HashMap<KeyDigest, Door>,
    principals: HashMap<Vec<u8>, Door>,
    principal_header: HeaderName,
    trusted_peers: Vec<Network>,
}

/// What a request says of itself in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Known(Door),
    /// What nobody knows, or several things.
    Wrong,
}

impl Said {
    /// Of two ways both have to say the same, where both say something.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, said) | (said, Self::Nothing) => said,
            (one, other) if one == other => one,
            _ => Self::Wrong,
        }
    }
}

impl Doors {
    pub(super) fn new(settings: &TenantSettings, at: impl Fn(&TenantId) -> Option<usize>) -> Self {
        let mut doors = Self {
            keys: HashMap::new(),
            provider_keys: HashMap::new(),
            principals: HashMap::new(),
            principal_header: settings.principal_header.clone(),
            trusted_peers: settings.trusted_peers.clone(),
        };
        for tenant in &settings.tenants {
            let Some(door) = at(&tenant.id).map(Door) else {
                continue;
            };
            let keys = tenant.keys.iter().map(|key| (*key, door));
            doors.keys.extend(keys);
            let keys = tenant.provider_keys.iter().map(|key| (*key, door));
            doors.provider_keys.extend(keys);
            let principals = tenant.principals.iter();
            let principals = principals.map(|name| (name.as_bytes().to_vec(), door));
            doors.principals.extend(principals);
        }
        doors
    }

    pub(super) fn of_request(&self, headers: &HeaderMap, peer: Option<Peer>) -> Option<Door> {
        let said = self.by_key(headers).and(self.by_principal(headers, peer));
        let said = match said {
            Said::Nothing => self.by_provider_key(headers),
            said => said,
        };
        match said {
            Said::Known(door) => Some(door),
            Said::Nothing | Said::Wrong => None,
        }
    }

    fn by_key(&self, headers: &HeaderMap) -> Said {
        said(headers, &KEY, |value| {
            let key = KeyDigest::of(value.to_str().ok()?);
            self.keys.get(&key).copied()
        })
    }

    /// What anybody but a trusted peer says is not heard.
    fn by_principal(&self, headers: &HeaderMap, peer: Option<Peer>) -> Said {
        let is_trusted = peer.is_some_and(|Peer(address)| {
            let mut trusted = self.trusted_peers.iter();
            trusted.any(|network| network.contains(address))
        });
        if !is_trusted {
            return Said::Nothing;
        }
        said(headers, &self.principal_header, |value| {
            self.principals.get(value.as_bytes()).copied()
        })
    }

    fn by_provider_key(&self, headers: &HeaderMap) -> Said {
        if self.provider_keys.is_empty() {
            return Said::Nothing;
        }
        let known = |key: &str| self.provider_keys.get(&KeyDigest::of(key)).copied();
        let bearer = said(headers, &AUTHORIZATION, |value| {
            known(bearer(value.to_str().ok()?)?)
        });
        let own = said(headers, &PROVIDER_KEY, |value| known(value.to_str().ok()?));
        bearer.and(own)
    }

    /// Whose a key is, of whichever kind.
    pub(super) fn of_key(&self, key: &str) -> Option<Door> {
        let digest = KeyDigest::of(key);
        let (own, providers) = (self.keys.get(&digest), self.provider_keys.get(&digest));
        match (own, providers) {
            (Some(one), Some(other)) if one != other => None,
            (own, providers) => own.or(providers).copied(),
        }
    }

    pub(super) fn session(&self, key: &str, secret: &str) -> Option<String> {
        self.of_key(key)?;
        let session = session(&KeyDigest::of(key), &session_secret(secret));
        Some(session.to_hex().to_string())
    }

    pub(super) fn of_session(&self, asked: &str, secret: &str) -> Option<Door> {
        let asked = blake3::Hash::from_hex(asked).ok()?;
        let secret = session_secret(secret);
        let mut keys = self.keys.iter().chain(&self.provider_keys);
        // Hashes are compared without telling by the time it takes how much is right.
        let found = keys.find(|(key, _)| session(key, &secret) == asked);
        found.map(|(_, door)| *door)
    }

    /// Takes out of a request what only says who asks.
    pub(super) fn hide(&self, headers: &mut HeaderMap) {
        headers.remove(&self.principal_header);
    }
}

/// What a header says, where it stands there once.
fn said(
    headers: &HeaderMap,
    name: &HeaderName,
    known: impl Fn(&HeaderValue) -> Option<Door>,
) -> Said {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Said::Nothing,
        (Some(value), None) => known(value).map_or(Said::Wrong, Said::Known),
        (Some(_), Some(_)) => Said::Wrong,
    }
}

/// The key behind the word `Bearer`, however that is written.
pub(crate) fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.trim().split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(key.trim())
        .filter(|key| !key.is_empty())
}

/// What logging in with a key leaves in a browser. Who knows it knows neither the key nor its digest.
fn session(key: &KeyDigest, secret: &[u8; 32]) -> blake3::Hash {
    blake3::keyed_hash(secret, key.as_bytes())
}

fn session_secret(secret: &str) -> [u8; 32] {
    blake3::derive_key("epitome 2026 sessions of tenants", secret.as_bytes())
}

#[cfg(test)]
#[path = "doors_tests.rs"]
mod tests;
