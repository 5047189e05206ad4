//! The messages of a stored conversation, one by one.

use epitome::Message;
use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, ConversationId, Entries, EntryRow,
    TenantId,
};
use epitome_wire::searchable_entry;
use serde_json::{Value, json};

use super::pins::{PinList, pins_among};
use super::recall::{Covering, one_line, role};
use super::{ArchiveError, path};
use crate::record::{FrozenItem, Record};

/// How much of a message is shown in a list.
const SHOWN_CHARS: usize = 240;
/// How long a title is.
const TITLE_CHARS: usize = 80;

/// What a model sees of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// The message itself.
    InView,
    /// The message, with results in it shortened.
    Trimmed,
    /// A summary that stands for it: this compaction's.
    Covered(String),
}

/// A conversation as people look at it.
#[derive(Debug)]
pub struct Look {
    /// All its messages.
    pub messages: Vec<ListedMessage>,
    /// What is pinned in it.
    pub pins: PinList,
    /// The compactions on its way that are not undone, oldest first.
    pub compactions: Vec<CompactionRow>,
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
    /// Whether it says something that stays word for word.
    pub is_pinned: bool,
}

impl ListedMessage {
    /// The message as the control API prints it.
    #[must_use]
    pub fn object(&self) -> Value {
        let (state, covered_by) = match &self.state {
            MessageState::InView => ("in_view", None),
            MessageState::Trimmed => ("trimmed", None),
            MessageState::Covered(id) => ("covered", Some(id)),
        };
        json!({
            "position": self.position,
            "role": self.role,
            "tokens": self.tokens,
            "entry": self.key,
            "text": self.text,
            "state": state,
            "covered_by": covered_by,
            "pinned": self.is_pinned,
        })
    }
}

/// All messages of a conversation with what became of each, and what is pinned in it. `None` when there is no such
/// conversation. It takes the same number of questions to the store whatever the length.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn look(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<Look>, ArchiveError> {
    let path = path(store, tenant, id).await?;
    let Some(end) = path.last() else {
        return Ok(None);
    };
    let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
    let compactions = store.compactions_at(tenant, &nodes).await?;
    let entries = store.history(tenant, end.digest).await?;
    let pins = pins_among(store, tenant, id, &path, &entries).await?;
    let published = compactions
        .iter()
        .filter(|row| row.state == CompactionState::Published);
    let covering = Covering::of(published);
    let trimmed = trimmed(&compactions, pins.compaction.as_deref());
    let listed = (0_u32..).zip(&entries).map(|(position, entry)| {
        let mut message = listed(position, entry);
        message.state = match covering.at(position) {
            Some(row) => MessageState::Covered(row.id.clone()),
            None if trimmed.contains(&(position as usize)) => MessageState::Trimmed,
            None => MessageState::InView,
        };
        let place = position as usize + 1;
        let says = pins.pins.iter().filter(|pin| pin.message == Some(place));
        message.is_pinned = says.into_iter().any(|pin| pin.is_in_force());
        message
    });
    Ok(Some(Look {
        messages: listed.collect(),
        pins,
        compactions,
    }))
}

/// One message with its whole text, and how many there are. `None` when there is no such conversation or message.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn message(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
    position: u64,
) -> Result<Option<(ListedMessage, String, usize)>, ArchiveError> {
    let path = path(store, tenant, id).await?;
    let place = position
        .checked_sub(1)
        .and_then(|at| usize::try_from(at).ok());
    let Some(node) = place.and_then(|place| path.get(place)) else {
        return Ok(None);
    };
    let Some(entry) = store.entry(tenant, node.entry).await? else {
        return Ok(None);
    };
    let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
    let mut compactions = store.compactions_at(tenant, &nodes).await?;
    compactions.retain(|row| row.state == CompactionState::Published);
    let mut message = listed(node.position, &entry);
    if let Some(row) = Covering::of(&compactions).at(node.position) {
        message.state = MessageState::Covered(row.id.clone());
    }
    let text = searchable_entry(&entry.wire, &entry.raw)
        .unwrap_or_else(|| String::from_utf8_lossy(&entry.raw).into_owned());
    Ok(Some((message, text, path.len())))
}

fn listed(position: u32, entry: &EntryRow) -> ListedMessage {
    let text = searchable_entry(&entry.wire, &entry.raw);
    ListedMessage {
        position: u64::from(position) + 1,
        role: role(entry),
        tokens: entry.tokens,
        key: entry.key.to_string(),
        text: one_line(&text.unwrap_or_default(), SHOWN_CHARS),
        state: MessageState::InView,
        is_pinned: false,
    }
}

/// The messages of which the compaction in force shows results in part, from 0.
fn trimmed(compactions: &[CompactionRow], in_force: Option<&str>) -> Vec<usize> {
    let row = compactions.iter().find(|row| Some(&*row.id) == in_force);
    let Some(Ok(Record::Chain(record))) = row.map(Record::of) else {
        return Vec::new();
    };
    let view = record.view.as_ref();
    let items = view.map(|view| view.items.as_slice()).unwrap_or_default();
    let inside = items.iter().filter_map(|item| match item {
        FrozenItem::Trimmed(link, _) => Some(*link),
        _ => None,
    });
    let behind = view.map(|view| view.trims.as_slice()).unwrap_or_default();
    let behind = behind.iter().map(|(link, _)| *link);
    let plain = record.trims.iter().map(|trims| trims.link);
    plain.chain(inside).chain(behind).collect()
}

/// What a conversation is called: the first words that its user typed.
pub fn title<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Option<String> {
    let mut typed = messages.into_iter().flat_map(Message::typed);
    typed.find_map(|text| {
        let line = one_line(text, TITLE_CHARS);
        (!line.is_empty()).then_some(line)
    })
}
