//! Rows back into data. Whatever does not fit is [`Error::Corrupt`], never a panic.

use bytes::Bytes;
use epitome::Digest;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::{
    BeliefRow, ChangeKind, ChangeRow, CompactionRow, CompactionState, ConversationId,
    ConversationRow, EntryRow, Error, LearnedWindow, MemoryRow, NodeRow, Outcome, PinMark, PinRow,
    Result, SearchHit, TurnRow,
};

pub(super) fn node(row: &SqliteRow) -> Result<NodeRow> {
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
pub(super) fn placed_entry(row: &SqliteRow) -> Result<(u32, EntryRow)> {
    let raw: Vec<u8> = row.try_get(2)?;
    let entry = EntryRow {
        key: digest(row.try_get(1)?)?,
        raw: Bytes::from(raw),
        wire: row.try_get(3)?,
        tokens: number(row, 4)?,
    };
    Ok((number(row, 0)?, entry))
}

pub(super) fn compaction(row: &SqliteRow) -> Result<CompactionRow> {
    Ok(CompactionRow {
        id: row.try_get(0)?,
        conversation: conversation_id(row.try_get(1)?)?,
        node: digest(row.try_get(2)?)?,
        model_class: row.try_get(3)?,
        state: state(row.try_get(4)?)?,
        head_entries: number(row, 5)?,
        covered_entries: number(row, 6)?,
        tokens_before: number(row, 7)?,
        tokens_after: number(row, 8)?,
        summary: row.try_get(9)?,
        record: row.try_get(10)?,
        created_ms: row.try_get(11)?,
    })
}

pub(super) fn conversation(row: &SqliteRow) -> Result<ConversationRow> {
    let parent: Option<&str> = row.try_get(1)?;
    Ok(ConversationRow {
        id: conversation_id(row.try_get(0)?)?,
        parent: parent.map(conversation_id).transpose()?,
        label: row.try_get(2)?,
        created_ms: row.try_get(3)?,
        touched_ms: row.try_get(4)?,
        nodes: number(row, 5)?,
        compactions: number(row, 6)?,
    })
}

pub(super) fn pin(row: &SqliteRow) -> Result<PinRow> {
    let mark: &str = row.try_get(2)?;
    Ok(PinRow {
        conversation: conversation_id(row.try_get(0)?)?,
        text: row.try_get(1)?,
        mark: PinMark::from_name(mark)
            .ok_or_else(|| Error::corrupt(format!("{mark:?} is said of no pin")))?,
        at_ms: row.try_get(3)?,
    })
}

pub(super) fn outcome(row: &SqliteRow) -> Result<Outcome> {
    let conversation: Option<&str> = row.try_get(0)?;
    Ok(Outcome {
        conversation: conversation.map(conversation_id).transpose()?,
        at_ms: row.try_get(1)?,
        action: row.try_get(2)?,
        reason: row.try_get(3)?,
        tokens_before: number(row, 4)?,
        tokens_after: number(row, 5)?,
        model: row.try_get(6)?,
    })
}

pub(super) fn turn(row: &SqliteRow) -> Result<TurnRow> {
    let items: Vec<u8> = row.try_get(2)?;
    Ok(TurnRow {
        id: row.try_get(0)?,
        previous: row.try_get(1)?,
        items: Bytes::from(items),
        compaction: row.try_get(3)?,
        at_ms: row.try_get(4)?,
    })
}

pub(super) fn window(row: &SqliteRow) -> Result<LearnedWindow> {
    Ok(LearnedWindow {
        endpoint: row.try_get(0)?,
        model: row.try_get(1)?,
        window_tokens: number(row, 2)?,
        at_ms: row.try_get(3)?,
    })
}

pub(super) fn belief(row: &SqliteRow) -> Result<BeliefRow> {
    Ok(BeliefRow {
        endpoint: row.try_get(0)?,
        model: row.try_get(1)?,
        window: row.try_get(2)?,
        counts: row.try_get(3)?,
        at_ms: row.try_get(4)?,
    })
}

pub(super) fn change(row: &SqliteRow) -> Result<ChangeRow> {
    let kind: &str = row.try_get(2)?;
    Ok(ChangeRow {
        conversation: conversation_id(row.try_get(0)?)?,
        seq: number(row, 1)?,
        kind: ChangeKind::from_name(kind)
            .ok_or_else(|| Error::corrupt(format!("{kind:?} is no kind of change")))?,
        compaction: row.try_get(3)?,
        body: row.try_get(4)?,
        at_ms: row.try_get(5)?,
    })
}

pub(super) fn memory(row: &SqliteRow) -> Result<MemoryRow> {
    let conversation: Option<&str> = row.try_get(4)?;
    let entries: &str = row.try_get(5)?;
    Ok(MemoryRow {
        id: row.try_get(0)?,
        key: digest(row.try_get(1)?)?,
        kind: row.try_get(2)?,
        text: row.try_get(3)?,
        conversation: conversation.map(conversation_id).transpose()?,
        entries: serde_json::from_str(entries).map_err(Error::corrupt)?,
        created_ms: row.try_get(6)?,
    })
}

pub(super) fn hit(row: &SqliteRow) -> Result<SearchHit> {
    Ok(SearchHit {
        entry: digest(row.try_get(0)?)?,
        node: digest(row.try_get(1)?)?,
        position: number(row, 2)?,
        conversation: conversation_id(row.try_get(3)?)?,
        score: row.try_get(4)?,
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
    row: &SqliteRow,
    column: usize,
) -> Result<T> {
    T::try_from(row.try_get(column)?).map_err(Error::corrupt)
}
