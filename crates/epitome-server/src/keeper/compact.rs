//! Compacting: at once at the hard line, in the background before it.

use std::sync::Arc;

use epitome::{Basis, Compaction, Message, NoPlan, Plan, Reason};
use epitome_store::{CompactionState, Outcome};
use epitome_wire::{Body, decode};

use super::{Action, Keeper, Outgoing, Size, Ticket};
use crate::config::Mode;
use crate::epoch::{Applied, Epoch};
use crate::window::Gauge;

/// A prepared compaction is good enough when it leaves this share of the hard line free.
const SWAP_PERCENT: u64 = 80;
/// The share of the usable window that a compacted conversation may take, tried in order.
const TARGET_PERCENTS: [u64; 2] = [60, 92];

/// A compaction made, and what it makes of the request it was made on.
struct Made {
    epoch: Epoch,
    applied: Applied,
}

impl Keeper {
    /// Compacts before the request goes out, with the built-in summariser. When that cannot help, the
    /// request goes out as it would have, with the reason.
    pub(super) async fn compact_now(
        self: &Arc<Self>,
        ticket: Ticket,
        gauge: &Gauge,
        reason: Reason,
        before: u64,
    ) -> Outgoing {
        if let Some(swapped) = self.swap(&ticket, gauge, before, reason).await {
            return swapped;
        }
        let ticket = Arc::new(ticket);
        let made = self.make(Arc::clone(&ticket), *gauge, reason).await;
        let made = match made {
            Ok(made) => made,
            Err(no) => {
                let reason = match no.reason {
                    Reason::FloorAboveBudget => Reason::FloorAboveWindow,
                    other => other,
                };
                self.note(&ticket, "passthrough", reason, before, before);
                let mut ticket = unshared(ticket);
                let applied = self.apply_epoch(&mut ticket);
                let after = ticket.tokens_under(gauge, applied.as_ref());
                return self.send(ticket, applied, reason, before, after);
            }
        };
        if self.mode == Mode::Observe {
            let after = ticket.real_tokens(gauge, made.applied.saved_tokens, Some(&made.epoch));
            return observed(unshared(ticket), reason, before, after);
        }
        let (epoch, applied) = self.commit(&ticket, made, CompactionState::Published).await;
        self.index.publish(Arc::clone(&epoch));
        let mut ticket = unshared(ticket);
        ticket.epoch = Some(epoch);
        self.compacted(ticket, &applied, gauge, reason, before)
    }

    /// Publishes a compaction that was prepared in the background, if there is one that helps enough.
    pub(super) async fn swap(
        &self,
        ticket: &Ticket,
        gauge: &Gauge,
        before: u64,
        reason: Reason,
    ) -> Option<Outgoing> {
        let lines = gauge.lines?;
        let epoch = self.prepared(ticket)?;
        let applied = epoch.apply(&ticket.conversation)?;
        let after = ticket.real_tokens(gauge, applied.saved_tokens, Some(&epoch));
        if after * 100 > lines.hard_tokens * SWAP_PERCENT || self.mode == Mode::Observe {
            return None;
        }
        self.index.publish(Arc::clone(&epoch));
        self.journal.publish_now(epoch.id.clone()).await;
        let mut swapped = ticket.clone();
        swapped.epoch = Some(epoch);
        Some(self.compacted(swapped, &applied, gauge, reason, before))
    }

    /// The prepared compaction that goes further than the one in force.
    fn prepared(&self, ticket: &Ticket) -> Option<Arc<Epoch>> {
        let covers = |epoch: &Epoch| epoch.detail.covered_links;
        let now = ticket.epoch.as_deref().map_or(0, covers);
        self.index
            .prepared(&ticket.conversation)
            .filter(|epoch| covers(epoch) > now)
    }

    fn compacted(
        &self,
        mut ticket: Ticket,
        applied: &Applied,
        gauge: &Gauge,
        reason: Reason,
        before: u64,
    ) -> Outgoing {
        let after = ticket.real_tokens(gauge, applied.saved_tokens, ticket.epoch.as_deref());
        let summary = ticket
            .epoch
            .as_ref()
            .map(|epoch| Arc::clone(&epoch.summary));
        let rendered = summary.and_then(|summary| ticket.body.render(&applied.view, &summary).ok());
        let Some(splice) = rendered else {
            ticket.epoch = None;
            return self.send(ticket, None, Reason::UnreadableMessage, before, before);
        };
        ticket.sent_tokens = ticket.total_tokens().saturating_sub(applied.saved_tokens);
        self.note(&ticket, "compacted", reason, before, after);
        Outgoing {
            bytes: splice.into_bytes(),
            action: Action::Compacted,
            reason,
            size: Some(Size { before, after }),
            ticket: Some(Arc::new(ticket)),
        }
    }

    /// Makes a compaction in the background, so that it is there when it is needed.
    pub(super) fn prepare(self: &Arc<Self>, ticket: &Ticket, gauge: &Gauge) {
        let conversation = ticket.place.conversation.clone();
        if self.mode == Mode::Observe
            || self.prepared(ticket).is_some()
            || !self.index.claim(&conversation)
        {
            return;
        }
        let keeper = Arc::clone(self);
        let ticket = Arc::new(ticket.clone());
        let gauge = *gauge;
        self.tasks.spawn(async move {
            if let Ok(made) = keeper
                .make(Arc::clone(&ticket), gauge, Reason::HardLine)
                .await
            {
                let (epoch, _) = keeper
                    .commit(&ticket, made, CompactionState::Prepared)
                    .await;
                keeper.index.prepare(epoch);
            }
            keeper.index.release(&conversation);
        });
    }

    /// Puts a compaction on disk with its span. Another node may have been first; then its bytes count.
    async fn commit(
        &self,
        ticket: &Ticket,
        made: Made,
        state: CompactionState,
    ) -> (Arc<Epoch>, Applied) {
        let Made { epoch, applied } = made;
        let links = ticket
            .conversation
            .chain
            .iter()
            .position(|(_, digest)| *digest == epoch.node)
            .map_or(0, |at| at + 1);
        let Some(span) = self.span_of(ticket, links) else {
            return (Arc::new(epoch), applied);
        };
        let row = epoch.to_row(&ticket.place.conversation, state, ticket.now_ms);
        let stored = self.journal.commit(span, row).await;
        let other = stored
            .filter(|row| row.id != epoch.id)
            .and_then(Epoch::from_row)
            .and_then(|other| Some((other.apply(&ticket.conversation)?, other)));
        match other {
            Some((applied, other)) => {
                if state == CompactionState::Published {
                    self.journal.publish(other.id.clone());
                }
                (Arc::new(other), applied)
            }
            None => (Arc::new(epoch), applied),
        }
    }

    /// The span as the store needs it: what is not there for certain, or at least its last link.
    fn span_of(&self, ticket: &Ticket, links: usize) -> Option<epitome_store::Append> {
        let from = ticket.place.stored_links.min(links.saturating_sub(1));
        self.append_of(ticket, from, links)
    }

    async fn make(
        &self,
        ticket: Arc<Ticket>,
        gauge: Gauge,
        reason: Reason,
    ) -> Result<Made, NoPlan> {
        let meter = self.memo.meter();
        let index = Arc::clone(&self.index);
        let work = move || {
            let messages = decode_all(&ticket.body).ok_or(NoPlan {
                reason: Reason::UnreadableMessage,
                floor_tokens: 0,
            })?;
            let mut failure = NoPlan {
                reason: Reason::FloorAboveWindow,
                floor_tokens: 0,
            };
            for target in targets(&ticket, &gauge) {
                let log = &ticket.conversation.log;
                let made = Plan::for_window(log, target, reason).and_then(|plan| {
                    Compaction::extract_verified(plan, &Basis::new(log, &messages, meter))
                });
                match made {
                    Ok(compaction) => {
                        let id = uuid::Uuid::now_v7().simple().to_string();
                        let frozen = Epoch::freeze(id, &compaction, &ticket.conversation);
                        if frozen
                            .as_ref()
                            .is_some_and(|epoch| index.is_refused(&epoch.node))
                        {
                            failure.reason = Reason::AlreadyTried;
                            continue;
                        }
                        let made = frozen.and_then(|epoch| {
                            let applied = epoch.apply(&ticket.conversation)?;
                            Some(Made { epoch, applied })
                        });
                        if let Some(made) = made {
                            return Ok(made);
                        }
                    }
                    Err(no) => failure = no,
                }
            }
            Err(failure)
        };
        // Reading a whole history takes milliseconds; other requests should not wait behind it.
        let failed = NoPlan {
            reason: Reason::NothingToRemove,
            floor_tokens: 0,
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or(Err(failed))
    }

    pub(super) fn note(
        &self,
        ticket: &Ticket,
        action: &str,
        reason: Reason,
        tokens_before: u64,
        tokens_after: u64,
    ) {
        tracing::info!(
            action, %reason, tokens_before, tokens_after,
            conversation = %ticket.place.conversation, model = ticket.model.model, "decided"
        );
        self.journal.outcome(Outcome {
            conversation: Some(ticket.place.conversation.clone()),
            at_ms: ticket.now_ms,
            action: action.to_owned(),
            reason: reason.as_str().to_owned(),
            tokens_before,
            tokens_after,
            model: ticket.model.model.clone(),
        });
    }
}

/// The sizes to aim for, in estimated tokens without the leading system prompt: the comfortable one, then
/// all there is.
fn targets(ticket: &Ticket, gauge: &Gauge) -> Vec<u64> {
    let Some(lines) = gauge.lines else {
        return Vec::new();
    };
    let estimated = |real: u64| (real as f64 / gauge.ratio) as u64;
    let usable = estimated(lines.hard_tokens).saturating_sub(ticket.untouchable_tokens());
    let comfortable =
        estimated(gauge.window.tokens / 4).min(ticket.conversation.log.total_tokens() / 2);
    let [first, last] = TARGET_PERCENTS.map(|percent| usable * percent / 100);
    vec![first.min(comfortable), first, last]
}

fn decode_all(body: &Body) -> Option<Vec<Message>> {
    (0..body.len())
        .map(|index| {
            let value = body.read(index).ok()?;
            Some(decode(body.wire(), &value).ok()?.message)
        })
        .collect()
}

fn observed(mut ticket: Ticket, reason: Reason, before: u64, after: u64) -> Outgoing {
    ticket.sent_tokens = ticket.total_tokens();
    ticket.epoch = None;
    Outgoing {
        bytes: ticket.body.bytes().clone(),
        action: Action::Observed,
        reason,
        size: Some(Size { before, after }),
        ticket: Some(Arc::new(ticket)),
    }
}

fn unshared(ticket: Arc<Ticket>) -> Ticket {
    Arc::try_unwrap(ticket).unwrap_or_else(|shared| (*shared).clone())
}
