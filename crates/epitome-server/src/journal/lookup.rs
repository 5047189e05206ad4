//! What the store knows of a chain, asked without reading all of it.
//!
//! A chain may have a hundred thousand links, and usually only the newest few are unknown. So those are asked for first.
//! Since a link is stored with all that come before it, the last known one of a chain that goes elsewhere is found by
//! halving, thirty-two parts at a time: three more questions for a hundred thousand links.

use std::collections::HashMap;

use epitome::Digest;
use epitome_store::{
    AnyStore, CompactionRow, Compactions, ConversationId, CountedRequests, CountedRow, Entries,
    NodeRow, Result, TenantId,
};

use crate::index::ANCHORED_LINKS;

/// How many links are asked for at a time.
const LINKS: usize = 32;
/// Compactions of other conversations on the same chain are looked for at so many of its newest links.
const SHARED_LINKS: usize = 512;
/// So many compactions of a conversation and of those that it branched off from are read.
const COMPACTIONS: u32 = 32;

/// What a store knows of a chain.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The newest known links.
    pub(crate) nodes: Vec<NodeRow>,
    /// How many links in front are known.
    pub(crate) known_links: usize,
    /// The compactions that may serve it, oldest first.
    pub(crate) compactions: Vec<CompactionRow>,
    /// What providers counted for requests that ended at the newest of the known links.
    pub(crate) counted: Vec<CountedRow>,
}

pub(super) async fn look_up(
    store: &AnyStore,
    tenant: &TenantId,
    chain: &[Digest],
) -> Result<Found> {
    let nodes = newest_known(store, tenant, chain).await?;
    let newest = |links: usize| {
        let newest = chain.get(chain.len().saturating_sub(links)..);
        newest.unwrap_or(chain)
    };
    let Some((known_links, owner)) = last_known(chain, &nodes) else {
        return Ok(Found {
            nodes,
            ..Found::default()
        });
    };
    let mut compactions = store.compactions_at(tenant, newest(SHARED_LINKS)).await?;
    let along = store.compactions_along(tenant, &owner, COMPACTIONS).await?;
    compactions.extend(along);
    compactions.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
    compactions.dedup_by(|a, b| a.id == b.id);
    // Not at the last link: the same request, when it comes again at another node, is measured as it was the first time.
    let end = known_links.min(chain.len().saturating_sub(1));
    let counted = chain.get(end.saturating_sub(ANCHORED_LINKS)..end);
    Ok(Found {
        nodes,
        known_links,
        compactions,
        counted: store
            .counted_at(tenant, counted.unwrap_or_default())
            .await?,
    })
}

/// How many links lead up to the last known one, and whose that is.
fn last_known(chain: &[Digest], nodes: &[NodeRow]) -> Option<(usize, ConversationId)> {
    let known: HashMap<&Digest, &NodeRow> = nodes.iter().map(|node| (&node.digest, node)).collect();
    let mut links = chain.iter().enumerate().rev();
    let (at, last) = links.find_map(|(at, digest)| Some((at, known.get(digest)?)))?;
    Some((at + 1, last.conversation.clone()))
}

async fn newest_known(
    store: &AnyStore,
    tenant: &TenantId,
    chain: &[Digest],
) -> Result<Vec<NodeRow>> {
    // The last known link is in `low..high`, if there is any.
    let (mut low, mut high) = (chain.len().saturating_sub(LINKS), chain.len());
    loop {
        let step = (high - low).div_ceil(LINKS).max(1);
        let probes: Vec<Digest> = (low..high)
            .step_by(step)
            .filter_map(|at| chain.get(at).copied())
            .collect();
        let found = store.find_nodes(tenant, &probes).await?;
        if step == 1 {
            if !found.is_empty() || low == 0 {
                return Ok(found);
            }
            // Nothing among the newest: somewhere before them, or nowhere.
            (low, high) = (0, low);
            continue;
        }
        let is_known = |digest: &Digest| found.iter().any(|node| node.digest == *digest);
        let Some(last) = probes.iter().rposition(is_known) else {
            return Ok(found);
        };
        low += last * step;
        high = high.min(low + step);
    }
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
