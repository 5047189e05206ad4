//! What is known of a chain, in one transaction: each call by itself would begin and end another.

use super::PostgresStore;
use super::compactions::{read_compactions_along, read_compactions_at};
use super::connections::Connections;
use super::counted::read_counted_at;
use super::entries::read_nodes;
use crate::{ChainQuestion, Chains, KnownChain, Result, TenantId};

impl Chains for PostgresStore {
    fn look_up(
        &self,
        tenant: &TenantId,
        question: &ChainQuestion<'_>,
    ) -> impl Future<Output = Result<KnownChain>> + Send {
        look_up(&self.connections, tenant, question)
    }
}

async fn look_up(
    connections: &Connections,
    tenant: &TenantId,
    question: &ChainQuestion<'_>,
) -> Result<KnownChain> {
    let mut known = KnownChain::default();
    if question.newest.is_empty() {
        return Ok(known);
    }
    let mut transaction = connections.begin().await?;
    known.nodes = read_nodes(&mut transaction, tenant, question.probed()).await?;
    let Some((at, last)) = question.last_known(&known.nodes) else {
        return Ok(known);
    };
    known.compactions = read_compactions_at(&mut transaction, tenant, question.newest).await?;
    let limit = question.compactions;
    let along = read_compactions_along(&mut transaction, tenant, &last.conversation, limit);
    known.compactions.extend(along.await?);
    let counted = question.counted_up_to(at);
    if !counted.is_empty() {
        known.counted = read_counted_at(&mut transaction, tenant, counted).await?;
    }
    known.sort();
    Ok(known)
}
