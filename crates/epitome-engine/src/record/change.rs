//! The bodies of changes: where in a conversation they took place.

use epitome_store::{ChangeKind, ChangeRow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{RecordError, write};

/// Where in the conversation a change took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePlace {
    /// How many entries there were.
    pub entries: usize,
}

/// What a fork begins from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkPlace {
    /// The other conversation.
    pub parent: String,
    /// How many entries it had.
    pub parent_entries: usize,
    /// How many changes.
    pub parent_changes: u32,
    /// How many entries both share.
    pub entries: usize,
}

impl ChangePlace {
    /// Where a change took place.
    ///
    /// # Errors
    /// [`RecordError::UnreadableChange`].
    pub fn of(change: &ChangeRow) -> Result<Self, RecordError> {
        read(change)
    }

    /// The body of a change that took place there.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn write(&self) -> Result<String, RecordError> {
        write(self)
    }
}

impl ForkPlace {
    /// What a conversation with these changes begins from; `None` where it is no fork.
    ///
    /// # Errors
    /// [`RecordError::UnreadableChange`].
    pub fn of(changes: &[ChangeRow]) -> Result<Option<Self>, RecordError> {
        let first = changes.first();
        let fork = first.filter(|change| change.kind == ChangeKind::Forked);
        fork.map(read).transpose()
    }

    /// The body of the first change of a fork.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn write(&self) -> Result<String, RecordError> {
        write(self)
    }
}

fn read<T: DeserializeOwned>(change: &ChangeRow) -> Result<T, RecordError> {
    serde_json::from_str(&change.body).map_err(|source| RecordError::UnreadableChange {
        conversation: change.conversation.to_string(),
        change: change.seq,
        source,
    })
}
