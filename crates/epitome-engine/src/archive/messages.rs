//! The messages of a stored conversation, one by one.

use epitome::Message;
use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, ConversationId, Entries, TenantId,
};
use epitome_wire::searchable_entry;
use serde_json::{Value, json};

use super::recall::{covering, one_line, role};
use super::{ArchiveError, path};

/// How much of a message is shown in a list.
const SHOWN_CHARS: usize = 240;
/// How long a title is.
const TITLE_CHARS: usize = 80;

/// What a model sees of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// The message itself.
    InView,
    /// A summary that stands for it: this compaction's.
    Covered(String),
}

/// A message as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedMessage {
    /// Which one, from 1.
    pub position: u64,
    /// Who speaks, where it can be told.
    pub role: Option<&'static str>,
    /// Its size.
    pub tokens: u32,
    /// The key of its bytes.
    pub key: String,
    /// What it says, on one line.
    pub text: String,
    /// What a model sees of it.
    pub state: MessageState,
}

impl ListedMessage {
    /// The message as the control API prints it.
    #[must_use]
    pub fn object(&self) -> Value {
        let covered_by = match &self.state {
            MessageState::InView => None,
            MessageState::Covered(id) => Some(id),
        };
        json!({
            "position": self.position,
            "role": self.role,
            "tokens": self.tokens,
            "entry": self.key,
            "text": self.text,
            "state": if covered_by.is_some() { "covered" } else { "in_view" },
            "covered_by": covered_by,
        })
    }
}

/// All messages of a conversation with what became of each. `None` when there is no such conversation. It takes the same
/// number of questions to the store whatever the length.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn messages(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<Vec<ListedMessage>>, ArchiveError> {
    let path = path(store, tenant, id).await?;
    let Some(end) = path.last() else {
        return Ok(None);
    };
    let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
    let mut compactions = store.compactions_at(tenant, &nodes).await?;
    compactions.retain(|row| row.state == CompactionState::Published);
    let entries = store.history(tenant, end.digest).await?;
    let listed = (0_u32..).zip(&entries).map(|(position, entry)| {
        let text = searchable_entry(&entry.wire, &entry.raw);
        ListedMessage {
            position: u64::from(position) + 1,
            role: role(entry),
            tokens: entry.tokens,
            key: entry.key.to_string(),
            text: one_line(&text.unwrap_or_default(), SHOWN_CHARS),
            state: state(&compactions, position),
        }
    });
    Ok(Some(listed.collect()))
}

fn state(compactions: &[CompactionRow], position: u32) -> MessageState {
    covering(compactions, position).map_or(MessageState::InView, |row| {
        MessageState::Covered(row.id.clone())
    })
}

/// What a conversation is called: the first words that its user typed.
pub fn title<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Option<String> {
    let mut typed = messages.into_iter().flat_map(Message::typed);
    typed.find_map(|text| {
        let line = one_line(text, TITLE_CHARS);
        (!line.is_empty()).then_some(line)
    })
}
