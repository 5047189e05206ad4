//! What was deleted and does not come back.

use std::collections::HashSet;

use epitome::Digest;

use crate::Append;

/// Marks what stands on something that was deleted, so that what comes behind it is known too.
pub(crate) const SPREAD: &str = "\
    INSERT INTO deleted_nodes (tenant, digest, at_ms) VALUES ($1, $2, $3) \
        ON CONFLICT (tenant, digest) DO NOTHING";

/// Pieces of the log, apart by whether they may be kept.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub(crate) alive: Vec<Append>,
    /// The links of the others that stand on what was deleted, and when they came.
    pub(crate) spread: Vec<(Digest, i64)>,
}

impl Sorted {
    /// A piece is what one request adds: it is kept as a whole or not at all.
    pub(crate) fn of(
        appends: &[Append],
        conversations: &HashSet<String>,
        mut nodes: HashSet<Digest>,
    ) -> Self {
        let mut sorted = Self {
            alive: Vec::new(),
            spread: Vec::new(),
        };
        for append in appends {
            let mut links: Vec<_> = append.nodes.iter().collect();
            links.sort_by_key(|node| node.position);
            let known = nodes.len();
            let mut is_dead = conversations.contains(append.conversation.id.as_str());
            for node in links {
                let stands_on = node.parent.is_some_and(|parent| nodes.contains(&parent));
                is_dead |= stands_on || nodes.contains(&node.digest);
                if stands_on && nodes.insert(node.digest) {
                    sorted.spread.push((node.digest, append.touched_ms));
                }
            }
            debug_assert!(is_dead || nodes.len() == known, "only what is dead spreads");
            if !is_dead {
                sorted.alive.push(append.clone());
            }
        }
        sorted
    }
}

/// All links that pieces name, their own and those they stand on.
pub(crate) fn links(appends: &[Append]) -> Vec<Digest> {
    let nodes = appends.iter().flat_map(|append| &append.nodes);
    nodes
        .flat_map(|node| [Some(node.digest), node.parent])
        .flatten()
        .collect()
}
