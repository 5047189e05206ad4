//! Validated names of tenants and conversations.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, Result};

const MAX_CHARS: usize = 64;

/// Who a log belongs to. Nothing is ever shared between two tenants.
///
/// 1 to 64 characters of `A-Z a-z 0-9 . _ -`; cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

/// The name of a conversation inside a tenant, made by the caller (a version 7 UUID, for example).
///
/// 1 to 64 characters of `A-Z a-z 0-9 . _ -`; cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationId(Arc<str>);

impl TenantId {
    /// Checks and wraps a tenant name.
    ///
    /// # Errors
    /// [`Error::InvalidId`] when it is empty, too long or has other characters.
    pub fn new(id: &str) -> Result<Self> {
        checked("tenant id", id).map(Self)
    }

    /// The tenant of a server on loopback that knows no tenants.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ConversationId {
    /// The name that spells `number` in hexadecimal digits.
    #[must_use]
    pub fn from_number(number: u128) -> Self {
        Self(format!("{number:032x}").into())
    }

    /// Checks and wraps a conversation name.
    ///
    /// # Errors
    /// [`Error::InvalidId`] when it is empty, too long or has other characters.
    pub fn new(id: &str) -> Result<Self> {
        checked("conversation id", id).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantId {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self> {
        Self::new(id)
    }
}

impl FromStr for ConversationId {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self> {
        Self::new(id)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn checked(kind: &'static str, id: &str) -> Result<Arc<str>> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if (1..=MAX_CHARS).contains(&id.len()) && id.bytes().all(known) {
        Ok(id.into())
    } else {
        let id = id.chars().take(MAX_CHARS).collect();
        Err(Error::InvalidId { kind, id })
    }
}
