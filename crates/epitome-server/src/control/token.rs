//! The token that opens the dashboard and the control API.

use std::net::SocketAddr;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};

/// Who has it may look and steer. It is never logged; `Debug` does not show it.
#[derive(Clone)]
pub(crate) struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A fresh one, as digits.
    pub(crate) fn of(secret: &[u8]) -> Self {
        Self(secret.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// One that the user chose.
    pub(crate) const fn chosen(token: String) -> Self {
        Self(token)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a request has it: as a bearer, or in the cookie that logging in left.
    pub(super) fn is_in(&self, headers: &HeaderMap, address: SocketAddr) -> bool {
        let bearer = headers
            .get_all(AUTHORIZATION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .filter_map(|value| value.strip_prefix("Bearer "));
        let name = cookie_name(address);
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(found, _)| *found == name)
            .map(|(_, value)| value);
        bearer.chain(cookies).any(|given| self.is(given))
    }

    /// Compares without telling by the time it takes how much is right.
    pub(super) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differing = own
            .iter()
            .zip(given)
            .fold(0, |differing, (one, other)| differing | (one ^ other));
        own.len() == given.len() && differing == 0
    }

    /// What logging in leaves in the browser: for this server alone, not for scripts, not for requests of other sites.
    pub(super) fn cookie(&self, address: SocketAddr) -> String {
        let name = cookie_name(address);
        format!(
            "{name}={}; Path=/epitome; HttpOnly; SameSite=Strict",
            self.0
        )
    }
}

/// Browsers keep one set of cookies for all ports of a machine.
fn cookie_name(address: SocketAddr) -> String {
    format!("epitome_{}", address.port())
}
