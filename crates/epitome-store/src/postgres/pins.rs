//! What people said about the pins of conversations.

use std::collections::HashSet;

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::query;
use crate::seal::Value;
use crate::statements as sql;
use crate::{ConversationId, PinRow, Pins, Result, TenantId};

/// The digest stands for the text in the index.
const UPSERT: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (tenant, conversation, sha256(text)) DO UPDATE \
        SET mark = excluded.mark, at_ms = excluded.at_ms";

impl Pins for PostgresStore {
    fn mark_pin(&self, tenant: &TenantId, pin: &PinRow) -> impl Future<Output = Result<()>> + Send {
        mark(&self.connections, tenant, pin)
    }

    fn marked_pins(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<PinRow>>> + Send {
        marked(&self.connections, tenant, conversation)
    }
}

async fn mark(connections: &Connections, tenant: &TenantId, pin: &PinRow) -> Result<()> {
    let keys = connections.keys();
    let text = keys.seal_text(tenant, Value::Pin, &pin.text)?;
    let mut transaction = connections.begin().await?;
    // What was said when the store had another key, or none.
    for other in keys.other_texts(tenant, Value::Pin, &pin.text)? {
        query(sql::DELETE_PIN)
            .bind(tenant.as_str())
            .bind(pin.conversation.as_str())
            .bind(other.into_bytes())
            .execute(&mut *transaction)
            .await?;
    }
    query(UPSERT)
        .bind(tenant.as_str())
        .bind(pin.conversation.as_str())
        .bind(text.as_bytes())
        .bind(pin.mark.as_str())
        .bind(pin.at_ms)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

async fn marked(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<PinRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_PINS)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(&mut *transaction)
        .await?;
    let mut pins = Vec::with_capacity(rows.len());
    let mut known = HashSet::new();
    for row in &rows {
        let pin = connections.keys().open_pin(tenant, decode::pin(row)?)?;
        if known.insert(pin.text.clone()) {
            pins.push(pin);
        }
    }
    Ok(pins)
}
