//! Compacting: at once at the hard line, in the background before it.

use std::sync::Arc;

use epitome::{Basis, Compaction, Message, NoPlan, Plan, Reason, Room, ShowNow, Swap, Target};
use epitome_store::{CompactionState, Outcome};
use epitome_wire::{Body, decode};

use super::{Action, Ask, Keeper, Outgoing, Size, Ticket};
use crate::config::Mode;
use crate::epoch::{Applied, Epoch};

/// Sizes that were tried are told apart by this part of the window.
const TRIED_DIVISOR: u64 = 16;

/// A compaction made, and what it makes of the request it was made on.
struct Made {
    epoch: Epoch,
    applied: Applied,
}

impl Keeper {
    /// Compacts before the request goes out, with the built-in summariser. When that cannot help, the
    /// request goes out as it would have, with the reason.
    pub(super) async fn compact_now(self: &Arc<Self>, ticket: Ticket, ask: &Ask) -> Outgoing {
        if let Some(swapped) = self.swap(&ticket, ask).await {
            return swapped;
        }
        let ticket = Arc::new(ticket);
        let made = match self.make(Arc::clone(&ticket), *ask).await {
            Ok(made) => made,
            Err(no) => return self.left_as_it_is(unshared(ticket), ask, no.reason),
        };
        if self.mode == Mode::Observe {
            let after = ticket.read(&ask.gauge, made.applied.saved_tokens, Some(&made.epoch));
            return observed(unshared(ticket), ask, after.size_tokens);
        }
        let (epoch, applied) = self.commit(&ticket, made, CompactionState::Published).await;
        self.index.publish(Arc::clone(&epoch));
        let mut ticket = unshared(ticket);
        ticket.epoch = Some(epoch);
        self.compacted(ticket, &applied, ask, ask.reason)
    }

    fn left_as_it_is(&self, mut ticket: Ticket, ask: &Ask, reason: Reason) -> Outgoing {
        let reason = match reason {
            // Where nothing can be removed or made smaller, what must stay is all there is.
            Reason::FloorAboveBudget | Reason::NothingToRemove | Reason::NotSmaller => {
                Reason::FloorAboveWindow
            }
            other => other,
        };
        self.note(&ticket, "passthrough", reason, ask.before, ask.before);
        let applied = self.apply_epoch(&mut ticket);
        let now = ticket.read_under(&ask.gauge, applied.as_ref());
        // Also where an earlier compaction goes out: it does not help enough, and this is why.
        Outgoing {
            reason,
            ..self.send(ticket, applied, reason, ask.before, &now)
        }
    }

    /// Shows a compaction that was prepared in the background where the line is reached, if it leaves as much room as
    /// a fresh one would.
    async fn swap(&self, ticket: &Ticket, ask: &Ask) -> Option<Outgoing> {
        let ready = self.ready(ticket, ask)?;
        let target = target(ticket, ask, Ahead::No)?;
        if ready.swap.after_tokens > target.tokens {
            return None;
        }
        self.show(ticket, ask, ready, ShowNow::Must(ask.reason))
            .await
    }

    /// Shows a compaction that was prepared before it must be shown: when the cache is gone anyway, or when that saves
    /// more than it costs.
    pub(super) async fn swap_early(&self, ticket: &Ticket, ask: &Ask) -> Option<Outgoing> {
        let ready = self.ready(ticket, ask)?;
        let why = if ticket.is_surely_cold() {
            ShowNow::Cold
        } else if ready.swap.pays() {
            ShowNow::Pays(ready.swap)
        } else {
            return None;
        };
        self.show(ticket, ask, ready, why).await
    }

    fn ready(&self, ticket: &Ticket, ask: &Ask) -> Option<Ready> {
        if self.mode == Mode::Observe {
            return None;
        }
        let epoch = self.prepared(ticket, ask)?;
        let applied = epoch.apply(&ticket.conversation, ticket.form)?;
        let after = ticket.total_tokens().saturating_sub(applied.saved_tokens);
        let swap = Swap::of(
            &ask.now,
            ask.now.lines?,
            ask.now.real(after),
            ask.now.real(ticket.fixed_tokens + applied.kept_tokens),
            ticket.growth(&ask.now),
            ticket.cache_prices(),
            ask.gauge.window,
        );
        Some(Ready {
            epoch,
            applied,
            swap,
        })
    }

    async fn show(
        &self,
        ticket: &Ticket,
        ask: &Ask,
        ready: Ready,
        why: ShowNow,
    ) -> Option<Outgoing> {
        let mut epoch = (*ready.epoch).clone();
        epoch.detail.swap = why.swap();
        let reason = match why {
            ShowNow::Must(reason) => reason,
            ShowNow::Cold => Reason::CacheCold,
            ShowNow::Pays(_) | ShowNow::Design => Reason::Pays,
        };
        let record = epoch.record();
        let epoch = Arc::new(epoch);
        self.index.publish(Arc::clone(&epoch));
        self.journal.publish_now(epoch.id.clone(), record).await;
        let mut swapped = ticket.clone();
        swapped.epoch = Some(epoch);
        Some(self.compacted(swapped, &ready.applied, ask, reason))
    }

    /// The prepared compaction that goes further than the one in force.
    fn prepared(&self, ticket: &Ticket, ask: &Ask) -> Option<Arc<Epoch>> {
        let covers = |epoch: &Epoch| epoch.detail.covered_links;
        let now = ticket.epoch.as_deref().map_or(0, covers);
        let serves = |epoch: &Epoch| epoch.class.is_own(&ask.need) || epoch.class.helps(&ask.need);
        self.index
            .prepared(&ticket.conversation, ticket.form, serves)
            .filter(|epoch| covers(epoch) > now)
    }

    fn compacted(
        &self,
        mut ticket: Ticket,
        applied: &Applied,
        ask: &Ask,
        reason: Reason,
    ) -> Outgoing {
        let now = ticket.read_under(&ask.gauge, Some(applied));
        let Some(bytes) = ticket.rendered(applied) else {
            ticket.epoch = None;
            return self.send(
                ticket,
                None,
                Reason::UnreadableMessage,
                ask.before,
                &ask.now,
            );
        };
        ticket.sent_tokens = ticket.total_tokens().saturating_sub(applied.saved_tokens);
        let after = now.size_tokens;
        self.note(&ticket, "compacted", reason, ask.before, after);
        Outgoing {
            bytes,
            action: Action::Compacted,
            reason,
            size: Some(Size {
                before: ask.before,
                after,
            }),
            ticket: Some(Arc::new(ticket)),
        }
    }

    /// Makes a compaction in the background, so that it is there when it is needed.
    pub(super) fn prepare(self: &Arc<Self>, ticket: &Ticket, ask: Ask) {
        let conversation = ticket.place.conversation.clone();
        if self.mode == Mode::Observe
            || self.prepared(ticket, &ask).is_some()
            || !self.index.claim(&conversation)
        {
            return;
        }
        let keeper = Arc::clone(self);
        let ticket = Arc::new(ticket.clone());
        self.tasks.spawn(async move {
            if let Ok(made) = keeper.make(Arc::clone(&ticket), ask).await {
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
        let stored = match row {
            Some(row) => self.journal.commit(span, row).await,
            None => None,
        };
        let other = stored
            .filter(|row| row.id != epoch.id)
            .and_then(Epoch::from_row)
            .and_then(|other| Some((other.apply(&ticket.conversation, ticket.form)?, other)));
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

    async fn make(self: &Arc<Self>, ticket: Arc<Ticket>, ask: Ask) -> Result<Made, NoPlan> {
        let keeper = Arc::clone(self);
        // Reading a whole history takes milliseconds; other requests should not wait behind it.
        let work = move || keeper.carry_out(&ticket, &ask);
        let failed = NoPlan {
            reason: Reason::NothingToRemove,
            floor_tokens: 0,
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or(Err(failed))
    }

    /// The first size to aim for that can be reached and was not tried before. Nothing is read before a plan stands:
    /// a conversation that cannot be helped costs no more than any other.
    fn carry_out(&self, ticket: &Ticket, ask: &Ask) -> Result<Made, NoPlan> {
        let meter = self.memo.meter();
        let log = &ticket.conversation.log;
        let mut messages = None;
        let mut failure = NoPlan {
            reason: Reason::FloorAboveWindow,
            floor_tokens: 0,
        };
        for room in rooms(ticket, ask) {
            let plan = Plan::for_window(log, room.target_tokens, room.most_tokens, ask.reason);
            let plan = match plan {
                Ok(plan) => plan,
                Err(no) => {
                    failure = no;
                    continue;
                }
            };
            let link = ticket.last_link(plan.span.end);
            let step = (ask.gauge.window.tokens / TRIED_DIVISOR).max(1);
            let aim = room.target_tokens / step;
            if let Some(reason) = link.and_then(|link| self.index.tried(link, aim)) {
                failure.reason = reason;
                continue;
            }
            if messages.is_none() {
                messages = decode_all(&ticket.body);
            }
            let Some(messages) = &messages else {
                failure.reason = Reason::UnreadableMessage;
                return Err(failure);
            };
            let made = Compaction::extract_verified(plan, &Basis::new(log, messages, meter))
                .and_then(|compaction| frozen(&compaction, ticket, ask));
            match made {
                Ok(made) if self.index.is_refused(made.epoch.node, ticket.form) => {
                    failure.reason = Reason::AlreadyTried;
                }
                Ok(made) => return Ok(made),
                Err(no) => {
                    failure = no;
                    if let Some(link) = link {
                        self.index.try_no_more(link, aim, no.reason);
                    }
                }
            }
        }
        Err(failure)
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

/// A compaction that was prepared, and what it makes of a request.
struct Ready {
    epoch: Arc<Epoch>,
    applied: Applied,
    swap: Swap,
}

/// Whether a compaction is made before it is needed.
#[derive(Clone, Copy)]
enum Ahead {
    Yes,
    No,
}

fn frozen(compaction: &Compaction, ticket: &Ticket, ask: &Ask) -> Result<Made, NoPlan> {
    let id = uuid::Uuid::now_v7().simple().to_string();
    let conversation = &ticket.conversation;
    let made = Epoch::freeze(id, ask.need.class(), compaction, conversation).and_then(|epoch| {
        let applied = epoch.apply(conversation, ticket.form)?;
        Some(Made { epoch, applied })
    });
    made.ok_or(NoPlan {
        reason: Reason::NothingToRemove,
        floor_tokens: compaction.plan.floor_tokens,
    })
}

fn target(ticket: &Ticket, ask: &Ask, ahead: Ahead) -> Option<Target> {
    let now = &ask.now;
    let ahead_tokens = match ahead {
        Ahead::Yes => now.lines?.hard_tokens.saturating_sub(now.size_tokens),
        Ahead::No => 0,
    };
    let fresh = ask.gauge.fresh_lines()?;
    let growth = ticket.growth(now);
    let prices = ticket.cache_prices();
    Some(Target::below(fresh, ahead_tokens, growth, prices))
}

/// The sizes to aim for, in estimated tokens without the leading system prompt: the one that leaves room for what is
/// expected next, then all there is, then what is kept free for the answer as well.
fn rooms(ticket: &Ticket, ask: &Ask) -> Vec<Room> {
    let ahead = match ask.reason {
        Reason::NearLine => Ahead::Yes,
        _ => Ahead::No,
    };
    let Some(target) = target(ticket, ask, ahead) else {
        return Vec::new();
    };
    let untouchable = ticket.untouchable_tokens();
    let usable = |real: u64| ask.now.estimated(real).saturating_sub(untouchable);
    let most = usable(target.most_tokens);
    // What a compaction makes was never counted: its own size decides how far it may be off.
    let error_ratio = ask.gauge.calibration.error_ratio();
    let all = usable((ask.gauge.window.tokens as f64 * 0.98 / (1.0 + error_ratio)) as u64);
    let first = Room {
        target_tokens: usable(target.tokens),
        most_tokens: most,
    };
    match ahead {
        Ahead::Yes => vec![first],
        Ahead::No => vec![first, Room::of(most), Room::of(all)],
    }
}

fn decode_all(body: &Body) -> Option<Vec<Message>> {
    (0..body.len())
        .map(|index| {
            let value = body.read(index).ok()?;
            Some(decode(body.wire(), &value).ok()?.message)
        })
        .collect()
}

fn observed(mut ticket: Ticket, ask: &Ask, after: u64) -> Outgoing {
    ticket.sent_tokens = ticket.total_tokens();
    ticket.epoch = None;
    Outgoing {
        bytes: ticket.body.bytes().clone(),
        action: Action::Observed,
        reason: ask.reason,
        size: Some(Size {
            before: ask.before,
            after,
        }),
        ticket: Some(Arc::new(ticket)),
    }
}

fn unshared(ticket: Arc<Ticket>) -> Ticket {
    Arc::try_unwrap(ticket).unwrap_or_else(|shared| (*shared).clone())
}
