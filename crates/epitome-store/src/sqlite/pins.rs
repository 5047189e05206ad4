//! What people said about the pins of conversations.

use std::collections::HashSet;

use sqlx::SqlitePool;

use super::decode;
use super::{Access, SqliteStore};
use crate::statements as sql;
use crate::{ConversationId, PinRow, Pins, Result, TenantId};

const COUNT_TABLES: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'pins'";

impl Pins for SqliteStore {
    fn mark_pin(&self, tenant: &TenantId, pin: &PinRow) -> impl Future<Output = Result<()>> + Send {
        mark(&self.writer, tenant, pin)
    }

    fn marked_pins(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<PinRow>>> + Send {
        marked(&self.readers, self.access, tenant, conversation)
    }
}

async fn mark(writer: &SqlitePool, tenant: &TenantId, pin: &PinRow) -> Result<()> {
    sqlx::query(sql::UPSERT_PIN)
        .bind(tenant.as_str())
        .bind(pin.conversation.as_str())
        .bind(&pin.text)
        .bind(pin.mark.as_str())
        .bind(pin.at_ms)
        .execute(writer)
        .await?;
    Ok(())
}

async fn marked(
    readers: &SqlitePool,
    access: Access,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<PinRow>> {
    if access == Access::ReadOnly {
        // A file of an earlier version that may only be read has no such table.
        let tables: i64 = sqlx::query_scalar(COUNT_TABLES).fetch_one(readers).await?;
        if tables == 0 {
            return Ok(Vec::new());
        }
    }
    let rows = sqlx::query(sql::SELECT_PINS)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(readers)
        .await?;
    let mut pins = Vec::with_capacity(rows.len());
    let mut known = HashSet::new();
    for row in &rows {
        let pin = decode::pin(row)?;
        if known.insert(pin.text.clone()) {
            pins.push(pin);
        }
    }
    Ok(pins)
}
