//! What the keeper asks the store, and what it has it keep.

use std::sync::Arc;

use bytes::Bytes;
use epitome::Digest;
use epitome_engine::archive::title;
use epitome_engine::known_models::ModelKey;
use epitome_store::{Append, EntryRow, JobRow, NewConversation, NodeRow};
use epitome_wire::{Conversation, decode};

use super::{Keeper, Ticket};
use crate::config::Mode;
use crate::epoch::{Epoch, Need};
use crate::index::Written;
use crate::journal::CrewFigures;

/// A request with more unknown links than this, or with no known one, asks the store about them.
const UNKNOWN_LINKS: usize = 3;
/// Among so many messages the first words of the user are looked for.
const TITLE_MESSAGES: usize = 6;

impl Keeper {
    /// What this node does in the background.
    pub(crate) fn crew(&self) -> CrewFigures {
        self.journal.crew()
    }

    /// The jobs of all nodes on the store.
    pub(crate) async fn jobs(&self, limit: u32) -> epitome_store::Result<Vec<JobRow>> {
        self.journal.jobs(limit).await
    }

    /// Forgets an epoch that somebody took back since, such as by `epitome undo`.
    pub(super) async fn heed_undo(&self, ticket: &mut Ticket, need: &Need) {
        while let Some(epoch) = &ticket.epoch
            && self.journal.is_undone(&epoch.id).await
        {
            tracing::info!(compaction = epoch.id, "a compaction was taken back");
            self.index.take_back(epoch);
            ticket.epoch = self.in_force(ticket, need);
        }
    }

    /// Learns which pins the user dropped, such as with `epitome pins --drop`. Where the store does not answer in time,
    /// what it said last still holds.
    pub(super) async fn ask_pins(&self, ticket: &mut Ticket) {
        if ticket.dropped_pins.is_some() {
            return;
        }
        let place = &ticket.place;
        let parent = self.index.parent(&place.conversation);
        let marked = self.journal.dropped_pins(&place.conversation, parent).await;
        ticket.dropped_pins = Some(match marked {
            Some(dropped) => self.index.keep_dropped(&place.conversation, dropped),
            None => self.index.dropped_pins(&place.conversation),
        });
    }

    /// Asks the store about a chain that this process does not know.
    pub(super) async fn recall(&self, conversation: &Conversation, model: &ModelKey) {
        let chain = &conversation.chain;
        let known = self.index.known_links(chain);
        let is_new = known == 0 || chain.len() - known > UNKNOWN_LINKS;
        if is_new || self.index.has_dropped(chain) {
            self.ask_store(chain, model).await;
        }
    }

    /// Takes over what another node has published on this chain since, and what was counted there. Gives the need and the size
    /// of the request as they are by then, where there was anything.
    pub(super) async fn catch_up(&self, ticket: &mut Ticket) -> Option<(Need, u64)> {
        if self.mode == Mode::Observe {
            return None;
        }
        let chain = &ticket.conversation.chain;
        let stored_links = self.ask_store(chain, &ticket.model).await;
        // By now the links that this request brings are in the index too, and nobody has counted those.
        let known_links = ticket.place.known_links.max(stored_links);
        let counts = self.index.counts(chain, known_links, ticket.kind);
        self.ask_pins(ticket).await;
        ticket.place.known_links = known_links;
        let is_counted = counts != ticket.place.counts;
        ticket.place.counts = counts;
        // Which epochs may serve it is a matter of its size.
        let (need, before) = self.need(ticket);
        let newest = self.in_force(ticket, &need);
        let id = |epoch: Option<&Arc<Epoch>>| epoch.map(|epoch| epoch.id.clone());
        let is_new = id(newest.as_ref()) != id(ticket.epoch.as_ref());
        if is_new {
            ticket.epoch = newest;
            self.heed_undo(ticket, &need).await;
        }
        (is_new || is_counted).then_some((need, before))
    }

    /// Takes over what the store knows of a chain and of the model that it goes to. Says how many links it has.
    async fn ask_store(&self, chain: &[(usize, Digest)], model: &ModelKey) -> usize {
        if !self.journal.has_store() {
            return 0;
        }
        let digests: Vec<_> = chain.iter().map(|(_, digest)| *digest).collect();
        let (found, belief) =
            tokio::join!(self.journal.look_up(&digests), self.journal.believed(model));
        self.models.known().take_over(belief.as_slice());
        let known_links = found.known_links;
        let links = found.nodes.into_iter();
        self.index
            .learn(links.map(|node| (node.digest, node.conversation)));
        self.index.learn_counted(found.counted);
        for row in found.compactions {
            let is_published = row.state == epitome_store::CompactionState::Published;
            if let Some(epoch) = Epoch::from_row(row) {
                let epoch = Arc::new(epoch);
                if is_published {
                    self.index.publish(epoch);
                } else {
                    // What was sent since is not stored.
                    self.index.prepare(epoch);
                }
            }
        }
        known_links
    }

    /// The provider took a request: now it is part of the conversation, and what it was shown is in force. Only the last step
    /// waits: a client that hangs up meanwhile takes nothing back.
    pub(crate) async fn went_out(&self, ticket: &Ticket) {
        if self.mode == Mode::Act && !ticket.is_kept_out() {
            self.journal_append(ticket);
        }
        if let (Some(shown), Some(epoch)) = (&ticket.unpublished, &ticket.epoch) {
            self.index.publish(Arc::clone(epoch));
            // Also beyond a quota: what is stored already is only said to be in force.
            if !ticket.is_private {
                let published = self.journal.publish(epoch.id.clone(), shown.record.clone());
                published.await;
            }
        }
    }

    fn journal_append(&self, ticket: &Ticket) {
        let links = ticket.conversation.chain.len();
        if self.journal.has_store()
            && let Some(append) = self.append_of(ticket, ticket.place.queued_links, links)
        {
            let queued: Vec<_> = append.nodes.iter().map(|node| node.digest).collect();
            let bytes = append.entries.iter().map(|entry| entry.raw.len()).sum();
            if self.journal.append(append) {
                self.journal.quota().stores(bytes);
                self.index.mark(queued, Written::Queued);
            }
        }
    }

    /// The links `from..links` with their entries, as the store takes them.
    pub(super) fn append_of(&self, ticket: &Ticket, from: usize, links: usize) -> Option<Append> {
        let chain = &ticket.conversation.chain;
        let new = chain.get(from..links).filter(|new| !new.is_empty())?;
        let mut parent = from
            .checked_sub(1)
            .and_then(|at| chain.get(at))
            .map(|(_, d)| *d);
        let mut entries = Vec::with_capacity(new.len());
        let mut nodes = Vec::with_capacity(new.len());
        for (offset, (index, digest)) in new.iter().enumerate() {
            let known = ticket.conversation.messages.get(*index)?;
            let range = ticket.body.messages().get(*index)?.clone();
            let key = self.key.digest(&known.exact);
            entries.push(EntryRow {
                key,
                // A copy: what waits for the store does not hold whole requests in memory.
                raw: Bytes::copy_from_slice(ticket.body.bytes().get(range)?),
                wire: ticket.body.wire().as_str().to_owned(),
                tokens: known.facts.tokens,
            });
            nodes.push(NodeRow {
                digest: *digest,
                parent,
                entry: key,
                position: u32::try_from(from + offset).unwrap_or(u32::MAX),
                conversation: ticket.place.conversation.clone(),
            });
            parent = Some(*digest);
        }
        Some(Append {
            conversation: NewConversation {
                id: ticket.place.conversation.clone(),
                parent: ticket.place.parent.clone(),
                label: label_of(ticket, from),
                created_ms: ticket.now_ms,
            },
            entries,
            nodes,
            words: Vec::new(),
            touched_ms: ticket.now_ms,
        })
    }
}

/// What a new conversation is called: the first words that its user typed.
fn label_of(ticket: &Ticket, from: usize) -> Option<String> {
    if from > 0 {
        return None;
    }
    let body = &ticket.body;
    let read = (0..body.len().min(TITLE_MESSAGES)).filter_map(|index| {
        let value = body.read(index).ok()?;
        Some(decode(body.wire(), &value).ok()?.message)
    });
    title(&read.collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
