//! Rows back into data. Whatever does not fit is [`Error::Corrupt`], never a panic.

use bytes::Bytes;
use epitome::Digest;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use crate::{
    BeliefRow, ChangeKind, ChangeRow, CompactionRow, CompactionState, ConversationId,
    ConversationRow, EntryRow, Error, LearnedWindow, MemoryRow, NodeRow, Outcome, PinMark, PinRow,
    Result, SearchHit, TurnRow,
};

pub(super) fn node(row: &PgRow) -> Result<NodeRow> {
    let parent: Option<&[u8]> = row.try_get(1)?;
    Ok(NodeRow {
        digest: digest(row.try_get(0)?)?,
        parent: parent.map(digest).transpose()?,
        entry: digest(row.try_get(2)?)?,
        position: number(row, 3)?,
        conversation: conversation_id(row.try_get(4)?)?,
    })
}

/// An entry with its position in the chain.
pub(super) fn placed_entry(row: &PgRow) -> Result<(u32, EntryRow)> {
    let raw: Vec<u8> = row.try_get(2)?;
    let entry = EntryRow {
        key: digest(row.try_get(1)?)?,
        raw: Bytes::from(raw),
        wire: row.try_get(3)?,
        tokens: number(row, 4)?,
    };
    Ok((number(row, 0)?, entry))
}

pub(super) fn compaction(row: &PgRow) -> Result<CompactionRow> {
    Ok(CompactionRow {
        id: text(row, 0)?,
        conversation: conversation_id(row.try_get(1)?)?,
        node: digest(row.try_get(2)?)?,
        model_class: text(row, 3)?,
        state: state(row.try_get(4)?)?,
        head_entries: number(row, 5)?,
        covered_entries: number(row, 6)?,
        tokens_before: number(row, 7)?,
        tokens_after: number(row, 8)?,
        summary: text(row, 9)?,
        record: text(row, 10)?,
        created_ms: row.try_get(11)?,
    })
}

pub(super) fn conversation(row: &PgRow) -> Result<ConversationRow> {
    let parent: Option<&str> = row.try_get(1)?;
    Ok(ConversationRow {
        id: conversation_id(row.try_get(0)?)?,
        parent: parent.map(conversation_id).transpose()?,
        label: optional_text(row, 2)?,
        created_ms: row.try_get(3)?,
        touched_ms: row.try_get(4)?,
        nodes: number(row, 5)?,
        compactions: number(row, 6)?,
    })
}

pub(super) fn pin(row: &PgRow) -> Result<PinRow> {
    let mark: &str = row.try_get(2)?;
    Ok(PinRow {
        conversation: conversation_id(row.try_get(0)?)?,
        text: text(row, 1)?,
        mark: PinMark::from_name(mark)
            .ok_or_else(|| Error::corrupt(format!("{mark:?} is said of no pin")))?,
        at_ms: row.try_get(3)?,
    })
}

pub(super) fn turn(row: &PgRow) -> Result<TurnRow> {
    let items: Vec<u8> = row.try_get(2)?;
    Ok(TurnRow {
        id: row.try_get(0)?,
        previous: row.try_get(1)?,
        items: Bytes::from(items),
        compaction: row.try_get(3)?,
        at_ms: row.try_get(4)?,
    })
}

pub(super) fn outcome(row: &PgRow) -> Result<Outcome> {
    let conversation: Option<&str> = row.try_get(0)?;
    Ok(Outcome {
        conversation: conversation.map(conversation_id).transpose()?,
        at_ms: row.try_get(1)?,
        action: row.try_get(2)?,
        reason: row.try_get(3)?,
        tokens_before: number(row, 4)?,
        tokens_after: number(row, 5)?,
        model: text(row, 6)?,
    })
}

pub(super) fn window(row: &PgRow) -> Result<LearnedWindow> {
    Ok(LearnedWindow {
        endpoint: text(row, 0)?,
        model: text(row, 1)?,
        window_tokens: number(row, 2)?,
        at_ms: row.try_get(3)?,
    })
}

pub(super) fn belief(row: &PgRow) -> Result<BeliefRow> {
    Ok(BeliefRow {
        endpoint: text(row, 0)?,
        model: text(row, 1)?,
        window: optional_text(row, 2)?,
        counts: optional_text(row, 3)?,
        at_ms: row.try_get(4)?,
    })
}

pub(super) fn change(row: &PgRow) -> Result<ChangeRow> {
    let kind: &str = row.try_get(2)?;
    Ok(ChangeRow {
        conversation: conversation_id(row.try_get(0)?)?,
        seq: number(row, 1)?,
        kind: ChangeKind::from_name(kind)
            .ok_or_else(|| Error::corrupt(format!("{kind:?} is no kind of change")))?,
        compaction: optional_text(row, 3)?,
        body: text(row, 4)?,
        at_ms: row.try_get(5)?,
    })
}

pub(super) fn memory(row: &PgRow) -> Result<MemoryRow> {
    let conversation: Option<&str> = row.try_get(4)?;
    let entries: &str = row.try_get(5)?;
    Ok(MemoryRow {
        id: text(row, 0)?,
        key: digest(row.try_get(1)?)?,
        kind: text(row, 2)?,
        text: text(row, 3)?,
        conversation: conversation.map(conversation_id).transpose()?,
        entries: serde_json::from_str(entries).map_err(Error::corrupt)?,
        created_ms: row.try_get(6)?,
    })
}

/// Where an entry stands. How well it fits is not known yet.
pub(super) fn place(row: &PgRow) -> Result<SearchHit> {
    Ok(SearchHit {
        entry: digest(row.try_get(0)?)?,
        node: digest(row.try_get(1)?)?,
        position: number(row, 2)?,
        conversation: conversation_id(row.try_get(3)?)?,
        score: 0.0,
    })
}

pub(super) fn secret(bytes: &[u8]) -> Result<[u8; 32]> {
    bytes.try_into().map_err(Error::corrupt)
}

pub(super) fn state(name: &str) -> Result<CompactionState> {
    CompactionState::from_name(name)
        .ok_or_else(|| Error::corrupt(format!("{name:?} is no compaction state")))
}

pub(super) fn digest(bytes: &[u8]) -> Result<Digest> {
    secret(bytes).map(Digest::new)
}

pub(super) fn conversation_id(id: &str) -> Result<ConversationId> {
    ConversationId::new(id).map_err(Error::corrupt)
}

pub(super) fn number<T: TryFrom<i64, Error = std::num::TryFromIntError>>(
    row: &PgRow,
    column: usize,
) -> Result<T> {
    T::try_from(row.try_get(column)?).map_err(Error::corrupt)
}

fn text(row: &PgRow, column: usize) -> Result<String> {
    String::from_utf8(row.try_get(column)?).map_err(Error::corrupt)
}

pub(super) fn optional_text(row: &PgRow, column: usize) -> Result<Option<String>> {
    let bytes: Option<Vec<u8>> = row.try_get(column)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(Error::corrupt)
}
