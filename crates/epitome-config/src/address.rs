//! An address that may hold a password.

use std::fmt;

/// A URL or the like. What is shown of it has no user, no password and no query; [`Address::expose`] has all of it.
///
/// ```
/// use epitome_config::Address;
///
/// let address = Address::new("postgres://me:secret@db.example/epitome?sslkey=secret");
/// assert_eq!(address.to_string(), "postgres://…@db.example/epitome?…");
/// assert_eq!(format!("{address:?}"), "\"postgres://…@db.example/epitome?…\"");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address as it is written.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// All of it, for whoever connects.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, query) = match self.0.split_once(['?', '#']) {
            Some((before, _)) => (before, "?…"),
            None => (self.0.as_str(), ""),
        };
        let (scheme, rest) = match before.split_once("://") {
            Some((scheme, rest)) => (format!("{scheme}://"), rest),
            None => (String::new(), before),
        };
        // A password may itself hold a slash or an @: the last @ of all is the safe one.
        match rest.rsplit_once('@') {
            Some((_, shown)) => write!(f, "{scheme}…@{shown}{query}"),
            None => write!(f, "{scheme}{rest}{query}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}
