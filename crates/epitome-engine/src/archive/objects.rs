//! Stored rows as JSON. The names are public surface: of `log --json`, `show --json`, `recall --json` and the control API.

use epitome_store::{CompactionRow, ConversationId, ConversationRow};
use serde_json::{Value, json};

use super::span::span;
use crate::record;

/// A conversation as it is listed.
#[must_use]
pub fn conversation_object(row: &ConversationRow) -> Value {
    json!({
        "session": row.id.as_str(),
        "parent": row.parent.as_ref().map(ConversationId::as_str),
        "label": row.label,
        "created_ms": row.created_ms,
        "touched_ms": row.touched_ms,
        "entries": row.nodes,
        "compactions": row.compactions,
    })
}

/// A compaction without its record. Entries count from 1.
#[must_use]
pub fn compaction_object(row: &CompactionRow) -> Value {
    let covered = span(row);
    json!({
        "id": row.id,
        "session": row.conversation.as_str(),
        "state": row.state.as_str(),
        "first_entry": covered.start + 1,
        "last_entry": covered.end,
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_after,
        "created_ms": row.created_ms,
        "summary": row.summary,
    })
}

/// A compaction with everything that is kept of it. A record that cannot be read is `null`.
#[must_use]
pub fn compaction_with_record(row: &CompactionRow) -> Value {
    let mut object = compaction_object(row);
    if let Value::Object(members) = &mut object {
        let record = record::as_stored(row).unwrap_or(Value::Null);
        members.insert("record".to_owned(), record);
        members.insert("node".to_owned(), row.node.to_string().into());
        members.insert("model_class".to_owned(), row.model_class.clone().into());
    }
    object
}
