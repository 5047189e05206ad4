//! What people said about the pins of conversations.

use std::collections::HashSet;

use sqlx::SqlitePool;

use super::decode;
use super::schema::has_table;
use super::transaction::begin;
use super::{Access, SqliteStore};
use crate::seal::Value;
use crate::statements as sql;
use crate::{ConversationId, Keys, PinRow, Pins, Result, TenantId};

impl Pins for SqliteStore {
    fn mark_pin(&self, tenant: &TenantId, pin: &PinRow) -> impl Future<Output = Result<()>> + Send {
        mark(&self.writer, &self.keys, tenant, pin)
    }

    fn marked_pins(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<PinRow>>> + Send {
        marked(self, tenant, conversation)
    }
}

async fn mark(writer: &SqlitePool, keys: &Keys, tenant: &TenantId, pin: &PinRow) -> Result<()> {
    let text = keys.seal_text(tenant, Value::Pin, &pin.text)?;
    let mut transaction = begin(writer).await?;
    // What was said when the store had another key, or none.
    for other in keys.other_texts(tenant, Value::Pin, &pin.text)? {
        sqlx::query(sql::DELETE_PIN)
            .bind(tenant.as_str())
            .bind(pin.conversation.as_str())
            .bind(other)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query(sql::UPSERT_PIN)
        .bind(tenant.as_str())
        .bind(pin.conversation.as_str())
        .bind(text.as_ref())
        .bind(pin.mark.as_str())
        .bind(pin.at_ms)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

async fn marked(
    store: &SqliteStore,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<PinRow>> {
    let mut connection = store.readers.acquire().await?;
    // A file of an earlier version that may only be read has no such table.
    if store.access == Access::ReadOnly && !has_table(&mut connection, "pins").await? {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(sql::SELECT_PINS)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(&mut *connection)
        .await?;
    let mut pins = Vec::with_capacity(rows.len());
    let mut known = HashSet::new();
    for row in &rows {
        let pin = store.keys.open_pin(tenant, decode::pin(row)?)?;
        if known.insert(pin.text.clone()) {
            pins.push(pin);
        }
    }
    Ok(pins)
}
