//! Rows that are encrypted on their way in, where there is a key, and opened on their way out.

#![expect(
    clippy::manual_async_fn,
    reason = "these futures borrow what they are given and are `Send`, as the traits want them: an `async fn` would not say so"
)]

use std::borrow::Cow;
use std::slice;

use epitome::Digest;

use super::{AnyStore, answered};
use crate::seal::Value;
use crate::{
    Append, Appended, ChainQuestion, Chains, ChangeRow, Changes, Committed, CompactionRow,
    CompactionState, Compactions, ConversationId, ConversationRow, Conversations, Entries,
    EntryRow, KnownChain, NewChange, NodeRow, Result, TenantId, TurnRow, Turns,
};

/// Hands a call to whichever store this is.
macro_rules! on {
    ($any:expr, $store:ident => $call:expr) => {
        match $any {
            AnyStore::Sqlite($store) => $call.await,
            // Boxed, because it is large; a call waits for the network anyway.
            AnyStore::Postgres($store) => answered(Box::pin($call)).await,
        }
    };
}

impl AnyStore {
    fn sealed<'a>(&self, tenant: &TenantId, appends: &'a [Append]) -> Result<Cow<'a, [Append]>> {
        if appends.iter().all(|append| self.keys().passes(append)) {
            return Ok(appends.into());
        }
        let sealed = appends
            .iter()
            .map(|one| self.keys().seal_append(tenant, one));
        sealed.collect::<Result<Vec<_>>>().map(Cow::Owned)
    }

    fn opened(&self, tenant: &TenantId, rows: Vec<CompactionRow>) -> Result<Vec<CompactionRow>> {
        let rows = rows.into_iter();
        rows.map(|row| self.keys().open_compaction(tenant, row))
            .collect()
    }
}

impl Conversations for AnyStore {
    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send {
        async move {
            let row = on!(self, store => store.conversation(tenant, conversation))?;
            row.map(|row| self.keys().open_conversation(tenant, row))
                .transpose()
        }
    }

    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send {
        async move {
            let rows = on!(self, store => store.conversations(tenant, limit))?;
            let rows = rows.into_iter();
            rows.map(|row| self.keys().open_conversation(tenant, row))
                .collect()
        }
    }

    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send {
        async move { on!(self, store => store.tip(tenant, conversation)) }
    }
}

impl Entries for AnyStore {
    fn append(
        &self,
        tenant: &TenantId,
        append: &Append,
    ) -> impl Future<Output = Result<()>> + Send {
        self.append_all(tenant, slice::from_ref(append))
    }

    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send {
        async move {
            let appends = self.sealed(tenant, appends)?;
            on!(self, store => store.append_all(tenant, &appends))
        }
    }

    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send {
        async move {
            let sealed = self.sealed(tenant, slice::from_ref(append))?;
            let append = sealed.first().unwrap_or(append);
            on!(self, store => store.extend(tenant, append, after))
        }
    }

    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send {
        async move {
            let entry = on!(self, store => store.entry(tenant, key))?;
            entry
                .map(|entry| self.keys().open_entry(tenant, entry))
                .transpose()
        }
    }

    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        async move {
            let entries = on!(self, store => store.history(tenant, tip))?;
            let entries = entries.into_iter();
            entries
                .map(|entry| self.keys().open_entry(tenant, entry))
                .collect()
        }
    }

    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        async move { on!(self, store => store.find_nodes(tenant, digests)) }
    }

    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        async move { on!(self, store => store.path(tenant, tip)) }
    }
}

impl Compactions for AnyStore {
    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send {
        async move {
            let sealed = self.sealed(tenant, slice::from_ref(span))?;
            let span = sealed.first().unwrap_or(span);
            let row = self.keys().seal_compaction(tenant, compaction)?;
            let committed = on!(self, store => store.commit_compaction(tenant, span, &row))?;
            Ok(match committed {
                Committed::New(row) => Committed::New(self.keys().open_compaction(tenant, row)?),
                Committed::Existing(row) => {
                    Committed::Existing(self.keys().open_compaction(tenant, row)?)
                }
            })
        }
    }

    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send {
        async move {
            let value = Value::Record(compaction_id);
            let record = record.map(|record| self.keys().seal_text(tenant, value, record));
            let record = record.transpose()?;
            on!(self, store => store.publish(tenant, compaction_id, record.as_deref()))
        }
    }

    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send {
        async move { on!(self, store => store.undo(tenant, compaction_id)) }
    }

    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send {
        async move {
            let row = on!(self, store => store.compaction(tenant, compaction_id))?;
            row.map(|row| self.keys().open_compaction(tenant, row))
                .transpose()
        }
    }

    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send {
        async move { on!(self, store => store.compaction_state(tenant, compaction_id)) }
    }

    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        async move {
            let rows = on!(self, store => store.compactions_at(tenant, nodes))?;
            self.opened(tenant, rows)
        }
    }

    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        async move {
            let rows = on!(self, store => store.compactions_of(tenant, conversation))?;
            self.opened(tenant, rows)
        }
    }

    fn compactions_along(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        async move {
            let rows = on!(self, store => store.compactions_along(tenant, conversation, limit))?;
            self.opened(tenant, rows)
        }
    }
}

impl Chains for AnyStore {
    fn look_up(
        &self,
        tenant: &TenantId,
        question: &ChainQuestion<'_>,
    ) -> impl Future<Output = Result<KnownChain>> + Send {
        async move {
            let known = on!(self, store => store.look_up(tenant, question))?;
            Ok(KnownChain {
                compactions: self.opened(tenant, known.compactions)?,
                ..known
            })
        }
    }
}

impl Changes for AnyStore {
    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send {
        async move {
            let new = self.keys().seal_change(tenant, new)?;
            on!(self, store => store.append_change(tenant, &new))
        }
    }

    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send {
        async move {
            let rows = on!(self, store => store.changes(tenant, conversation))?;
            let rows = rows.into_iter();
            rows.map(|row| self.keys().open_change(tenant, row))
                .collect()
        }
    }
}

impl Turns for AnyStore {
    fn keep_turns(
        &self,
        tenant: &TenantId,
        turns: &[TurnRow],
    ) -> impl Future<Output = Result<()>> + Send {
        async move {
            let turns = turns.iter().map(|turn| self.keys().seal_turn(tenant, turn));
            let turns: Vec<TurnRow> = turns.collect::<Result<_>>()?;
            on!(self, store => store.keep_turns(tenant, &turns))
        }
    }

    fn turns_to(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> impl Future<Output = Result<Vec<TurnRow>>> + Send {
        async move {
            let turns = on!(self, store => store.turns_to(tenant, id))?;
            let turns = turns.into_iter();
            turns
                .map(|turn| self.keys().open_turn(tenant, turn))
                .collect()
        }
    }
}
