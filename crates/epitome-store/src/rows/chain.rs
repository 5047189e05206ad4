//! What is asked and known of a chain.

use epitome::Digest;

use super::{CompactionRow, CountedRow, NodeRow};

/// What is asked of a chain.
#[derive(Debug, Clone, Copy)]
pub struct ChainQuestion<'a> {
    /// Its newest links, oldest first. Compactions of other conversations are looked for at all of them.
    pub newest: &'a [Digest],
    /// So many of them, from the last on, are looked for by themselves.
    pub probes: usize,
    /// So many compactions of the conversation, and of those that it branched off from, are read.
    pub compactions: u32,
    /// Counts are looked for at so many links up to the last known one.
    pub counted: usize,
}

/// What is known of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownChain {
    /// Those of the links that are known, in no particular order. Without any, nothing else is looked for.
    pub nodes: Vec<NodeRow>,
    /// The compactions that may serve it, each once, oldest first.
    pub compactions: Vec<CompactionRow>,
    /// What providers counted for requests that ended at the newest of the known links, the last of all excepted.
    pub counted: Vec<CountedRow>,
}

impl<'a> ChainQuestion<'a> {
    /// The links that are looked for.
    pub(crate) fn probed(&self) -> &'a [Digest] {
        let from = self.newest.len().saturating_sub(self.probes);
        self.newest.get(from..).unwrap_or_default()
    }

    /// The last of the links that is among these.
    pub(crate) fn last_known<'n>(&self, nodes: &'n [NodeRow]) -> Option<(usize, &'n NodeRow)> {
        let known = |link: &Digest| nodes.iter().find(|node| node.digest == *link);
        let mut links = self.newest.iter().enumerate().rev().take(self.probes);
        links.find_map(|(at, link)| Some((at, known(link)?)))
    }

    /// The links at which counts are looked for, where the one at `last` is the last known one. Not the last of all: the same
    /// request, when it comes again at another node, is measured as it was the first time.
    pub(crate) fn counted_up_to(&self, last: usize) -> &'a [Digest] {
        let end = (last + 1).min(self.newest.len().saturating_sub(1));
        let from = end.saturating_sub(self.counted);
        self.newest.get(from..end).unwrap_or_default()
    }
}

impl KnownChain {
    /// Puts compactions in order, each once.
    pub(crate) fn sort(&mut self) {
        let rows = &mut self.compactions;
        rows.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        rows.dedup_by(|a, b| a.id == b.id);
    }
}
