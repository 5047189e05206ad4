//! What the store knows of a chain, asked without reading all of it.
//!
//! A chain may have a hundred thousand links, and usually only the newest few are unknown. So those are asked for first.
//! Since a link is stored with all that come before it, the last known one of a chain that goes elsewhere is found by
//! halving, thirty-two parts at a time: three more questions for a hundred thousand links.

use std::collections::HashMap;

use epitome::Digest;
use epitome_store::{
    AnyStore, ChainQuestion, Chains, CompactionRow, ConversationId, CountedRow, Entries,
    KnownChain, NodeRow, Result, TenantId,
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
    let question = question(chain, LINKS);
    let known = store.look_up(tenant, &question).await?;
    if known.nodes.is_empty() && chain.len() > LINKS {
        return branched_off_before(store, tenant, chain).await;
    }
    Ok(Found::of(chain, known))
}

fn question(chain: &[Digest], probes: usize) -> ChainQuestion<'_> {
    let newest = chain.get(chain.len().saturating_sub(SHARED_LINKS)..);
    ChainQuestion {
        newest: newest.unwrap_or(chain),
        probes,
        compactions: COMPACTIONS,
        counted: ANCHORED_LINKS,
    }
}

/// The same where none of the newest links is known: somewhere before them, or nowhere.
async fn branched_off_before(
    store: &AnyStore,
    tenant: &TenantId,
    chain: &[Digest],
) -> Result<Found> {
    let nodes = known_before(store, tenant, chain).await?;
    let Some((known_links, _)) = last_known(chain, &nodes) else {
        return Ok(Found {
            nodes,
            ..Found::default()
        });
    };
    // What is known of the part that is known, with one link more, because of the last one no counts are told.
    let part = chain.get(..=known_links).unwrap_or(chain);
    let known = store.look_up(tenant, &question(part, 2)).await?;
    let found = Found::of(chain, known);
    Ok(Found { nodes, ..found })
}

impl Found {
    fn of(chain: &[Digest], known: KnownChain) -> Self {
        let KnownChain {
            nodes,
            compactions,
            counted,
        } = known;
        Self {
            known_links: last_known(chain, &nodes).map_or(0, |(links, _)| links),
            nodes,
            compactions,
            counted,
        }
    }
}

/// How many links lead up to the last known one, and whose that is.
fn last_known(chain: &[Digest], nodes: &[NodeRow]) -> Option<(usize, ConversationId)> {
    let known: HashMap<&Digest, &NodeRow> = nodes.iter().map(|node| (&node.digest, node)).collect();
    let mut links = chain.iter().enumerate().rev();
    let (at, last) = links.find_map(|(at, digest)| Some((at, known.get(digest)?)))?;
    Some((at + 1, last.conversation.clone()))
}

/// The last known links before the newest.
async fn known_before(
    store: &AnyStore,
    tenant: &TenantId,
    chain: &[Digest],
) -> Result<Vec<NodeRow>> {
    // The last known link is in `low..high`, if there is any.
    let (mut low, mut high) = (0, chain.len().saturating_sub(LINKS));
    loop {
        let step = (high - low).div_ceil(LINKS).max(1);
        let probes: Vec<Digest> = (low..high)
            .step_by(step)
            .filter_map(|at| chain.get(at).copied())
            .collect();
        let found = store.find_nodes(tenant, &probes).await?;
        if step == 1 {
            return Ok(found);
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
