//! Rows on their way in and out. Without a key they go through as they are.

use std::borrow::Cow;

use super::{Keys, Value};
use crate::{
    Append, ChangeRow, CompactionRow, ConversationRow, EntryRow, MemoryRow, NewChange, PinRow,
    Result, TenantId, TurnRow,
};

impl Keys {
    /// Whether it goes in as it is.
    pub(crate) fn passes(&self, append: &Append) -> bool {
        let entries = append.entries.iter();
        self.is_empty()
            && entries.clone().all(|entry| self.is_current(&entry.raw))
            && append
                .conversation
                .label
                .as_deref()
                .is_none_or(|label| self.is_current_text(label))
    }

    pub(crate) fn seal_append(&self, tenant: &TenantId, append: &Append) -> Result<Append> {
        let mut sealed = append.clone();
        for entry in &mut sealed.entries {
            if let Cow::Owned(raw) = self.seal(tenant, Value::Entry(&entry.key), &entry.raw)? {
                entry.raw = raw.into();
            }
        }
        if let Some(label) = &append.conversation.label {
            let title = Value::Title(&append.conversation.id);
            let label = self.seal_text(tenant, title, label)?.into_owned();
            sealed.conversation.label = Some(label);
        }
        Ok(sealed)
    }

    pub(crate) fn open_entry(&self, tenant: &TenantId, mut entry: EntryRow) -> Result<EntryRow> {
        entry.raw = self.open(tenant, Value::Entry(&entry.key), entry.raw)?;
        Ok(entry)
    }

    pub(crate) fn open_conversation(
        &self,
        tenant: &TenantId,
        mut row: ConversationRow,
    ) -> Result<ConversationRow> {
        let label = row.label.take();
        let open = |label| self.open_text(tenant, Value::Title(&row.id), label);
        row.label = label.map(open).transpose()?;
        Ok(row)
    }

    pub(crate) fn seal_compaction(
        &self,
        tenant: &TenantId,
        row: &CompactionRow,
    ) -> Result<CompactionRow> {
        let summary = self.seal_text(tenant, Value::Summary(&row.id), &row.summary)?;
        let record = self.seal_text(tenant, Value::Record(&row.id), &row.record)?;
        Ok(CompactionRow {
            summary: summary.into_owned(),
            record: record.into_owned(),
            ..row.clone()
        })
    }

    pub(crate) fn open_compaction(
        &self,
        tenant: &TenantId,
        row: CompactionRow,
    ) -> Result<CompactionRow> {
        Ok(CompactionRow {
            summary: self.open_text(tenant, Value::Summary(&row.id), row.summary)?,
            record: self.open_text(tenant, Value::Record(&row.id), row.record)?,
            ..row
        })
    }

    pub(crate) fn seal_change(&self, tenant: &TenantId, new: &NewChange) -> Result<NewChange> {
        let change = &new.change;
        let value = Value::Change(&change.conversation, change.seq);
        let body = self.seal_text(tenant, value, &change.body)?.into_owned();
        let compaction = new.compaction.as_ref();
        let compaction = compaction.map(|row| self.seal_compaction(tenant, row));
        let span = new.span.as_ref();
        Ok(NewChange {
            change: ChangeRow {
                body,
                ..change.clone()
            },
            compaction: compaction.transpose()?,
            span: span
                .map(|span| self.seal_append(tenant, span))
                .transpose()?,
            fence: new.fence,
        })
    }

    pub(crate) fn open_change(&self, tenant: &TenantId, row: ChangeRow) -> Result<ChangeRow> {
        let value = Value::Change(&row.conversation, row.seq);
        Ok(ChangeRow {
            body: self.open_text(tenant, value, row.body)?,
            ..row
        })
    }

    pub(crate) fn open_pin(&self, tenant: &TenantId, pin: PinRow) -> Result<PinRow> {
        Ok(PinRow {
            text: self.open_text(tenant, Value::Pin, pin.text)?,
            ..pin
        })
    }

    pub(crate) fn seal_memory(&self, tenant: &TenantId, row: &MemoryRow) -> Result<MemoryRow> {
        let kind = self.seal_text(tenant, Value::MemoryKind(&row.id), &row.kind)?;
        let text = self.seal_text(tenant, Value::Memory(&row.id), &row.text)?;
        Ok(MemoryRow {
            kind: kind.into_owned(),
            text: text.into_owned(),
            ..row.clone()
        })
    }

    pub(crate) fn open_memory(&self, tenant: &TenantId, row: MemoryRow) -> Result<MemoryRow> {
        Ok(MemoryRow {
            kind: self.open_text(tenant, Value::MemoryKind(&row.id), row.kind)?,
            text: self.open_text(tenant, Value::Memory(&row.id), row.text)?,
            ..row
        })
    }

    pub(crate) fn seal_turn(&self, tenant: &TenantId, turn: &TurnRow) -> Result<TurnRow> {
        let items = self.seal(tenant, Value::Turn(&turn.id), &turn.items)?;
        Ok(TurnRow {
            items: items.into_owned().into(),
            ..turn.clone()
        })
    }

    pub(crate) fn open_turn(&self, tenant: &TenantId, turn: TurnRow) -> Result<TurnRow> {
        Ok(TurnRow {
            items: self.open(tenant, Value::Turn(&turn.id), turn.items)?,
            ..turn
        })
    }
}
