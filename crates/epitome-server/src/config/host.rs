//! Names that a server is reached by.

use std::str::FromStr;

use http::uri::Authority;

/// A name or an address that a server is reached by, with whatever port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// Whether an authority, with or without a port, has this name.
    pub(crate) fn is_of(&self, authority: &str) -> bool {
        host(authority).is_some_and(|host| host == self.0)
    }
}

/// The text is no name that a request could be sent to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name of a host: write it without scheme, port and path, such as epitome.example.com"
)]
pub struct NoHostName(String);

impl FromStr for HostName {
    type Err = NoHostName;

    fn from_str(text: &str) -> Result<Self, NoHostName> {
        let bare =
            host(text).filter(|host| *host == text.trim_end_matches('.').to_ascii_lowercase());
        bare.map(Self).ok_or_else(|| NoHostName(text.to_owned()))
    }
}

/// The host of an authority, as names are compared.
fn host(authority: &str) -> Option<String> {
    let parsed: Authority = authority.parse().ok()?;
    let host = parsed.host().trim_end_matches('.').to_ascii_lowercase();
    (!authority.contains('@') && !host.is_empty()).then_some(host)
}
