//! What a value is, and where it belongs.

use epitome::Digest;

use crate::{ConversationId, TenantId};

/// A value that is encrypted where there is a key, with the name of what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Entry(&'a Digest),
    Words(&'a Digest),
    Title(&'a ConversationId),
    Summary(&'a str),
    Record(&'a str),
    Change(&'a ConversationId, u32),
    /// Found by its text, and copied to those that branch off: it belongs to nothing but its tenant.
    Pin,
    MemoryKind(&'a str),
    Memory(&'a str),
    Turn(&'a str),
    Secret,
}

impl Value<'_> {
    /// What it is bound to. The name stands at the end, so that no two values are bound to the same.
    pub(super) fn bound_to(self, tenant: &TenantId) -> Vec<u8> {
        let (kind, name) = match self {
            Self::Entry(key) => ("entry", key.as_bytes().to_vec()),
            Self::Words(key) => ("words", key.as_bytes().to_vec()),
            Self::Title(id) => ("title", id.as_str().into()),
            Self::Summary(id) => ("summary", id.into()),
            Self::Record(id) => ("record", id.into()),
            Self::Change(id, seq) => ("change", format!("{seq} {id}").into_bytes()),
            Self::Pin => ("pin", Vec::new()),
            Self::MemoryKind(id) => ("memory kind", id.into()),
            Self::Memory(id) => ("memory", id.into()),
            Self::Turn(id) => ("turn", id.into()),
            Self::Secret => ("secret", Vec::new()),
        };
        let mut bound = format!("epitome\n{tenant}\n{kind}\n").into_bytes();
        bound.extend(name);
        bound
    }

    /// Whether it is found by its own bytes, so that it must be the same whenever it is encrypted.
    pub(super) const fn repeats(self) -> bool {
        matches!(self, Self::Pin)
    }
}
