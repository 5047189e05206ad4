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
    pub(crate) fn is_in(&self, headers: &HeaderMap, address: SocketAddr) -> bool {
        let bearer = headers
            .get_all(AUTHORIZATION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .filter_map(|value| value.strip_prefix("Bearer "));
        let name = cookie_name(address);
        bearer
            .chain(cookies(headers, &name))
            .any(|given| self.is(given))
    }

    /// Compares without telling by the time it takes how much is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differing = own
            .iter()
            .zip(given)
            .fold(0, |differing, (one, other)| differing | (one ^ other));
        own.len() == given.len() && differing == 0
    }

    /// What logging in leaves in the browser.
    pub(crate) fn cookie(&self, address: SocketAddr) -> String {
        cookie(&cookie_name(address), &self.0)
    }
}

/// The cookie that says who logged in. Browsers keep one set of cookies for all ports of a machine.
pub(crate) fn cookie_name(address: SocketAddr) -> String {
    format!("epitome_{}", address.port())
}

/// A cookie for this server alone, not for scripts, not for requests of other sites.
pub(crate) fn cookie(name: &str, value: &str) -> String {
    format!("{name}={value}; Path=/epitome; HttpOnly; SameSite=Strict")
}

/// What a request brings along under the name of a cookie.
pub(crate) fn cookies<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(COOKIE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(found, _)| *found == name)
        .map(|(_, value)| value)
}
