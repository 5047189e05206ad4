//! What is known of a chain.

use super::SqliteStore;
use crate::{
    ChainQuestion, Chains, Compactions, CountedRequests, Entries, KnownChain, Result, TenantId,
};

impl Chains for SqliteStore {
    async fn look_up(&self, tenant: &TenantId, question: &ChainQuestion<'_>) -> Result<KnownChain> {
        let mut known = KnownChain {
            nodes: self.find_nodes(tenant, question.probed()).await?,
            ..KnownChain::default()
        };
        let Some((at, last)) = question.last_known(&known.nodes) else {
            return Ok(known);
        };
        let limit = question.compactions;
        let along = self.compactions_along(tenant, &last.conversation, limit);
        let along = along.await?;
        known.compactions = self.compactions_at(tenant, question.newest).await?;
        known.compactions.extend(along);
        known.counted = self.counted_at(tenant, question.counted_up_to(at)).await?;
        known.sort();
        Ok(known)
    }
}
