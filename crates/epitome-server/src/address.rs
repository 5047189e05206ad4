//! Addresses as they may be shown and kept: without user and password.

use http::Uri;

/// The address without user and password.
pub(crate) fn bare(address: &Uri) -> Uri {
    let mut parts = address.clone().into_parts();
    let authority = parts.authority.as_ref();
    let host = authority.and_then(|authority| authority.as_str().rsplit_once('@'));
    if let Some((_, host)) = host {
        parts.authority = host.parse().ok();
    }
    Uri::from_parts(parts).unwrap_or_else(|_| address.clone())
}

/// An address of any kind as it is shown: what may be a user, a password or a key in it is left out.
pub(crate) fn shown(address: &str) -> String {
    let (before, query) = match address.split_once(['?', '#']) {
        Some((before, _)) => (before, "?…"),
        None => (address, ""),
    };
    let (scheme, rest) = match before.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), before),
    };
    // A password may itself hold a slash or an @: the last @ of all is the safe one.
    match rest.rsplit_once('@') {
        Some((_, shown)) => format!("{scheme}…@{shown}{query}"),
        None => format!("{scheme}{rest}{query}"),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
