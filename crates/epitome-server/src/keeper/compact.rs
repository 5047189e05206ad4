//! Compacting: what is planned, made, stored and shown.

use std::sync::Arc;

use epitome::{
    KeptElsewhere, Message, Meter, NoPlan, OutputCounting, Reading, ReadyFacts, Reason, Session,
    ShowNow, View, ViewItem,
};
use epitome_store::{CompactionRow, CompactionState, Outcome};

use super::prepare::Beginning;
use super::ticket::Unpublished;
use super::{Action, Case, Keeper, Outgoing, Size, Ticket};
use crate::config::Mode;
use crate::epoch::{Applied, Epoch};
use crate::journal::Patience;

/// A compaction made, and what it makes of the request it was made on.
pub(super) struct Made {
    pub(super) epoch: Epoch,
    pub(super) applied: Applied,
}

/// A compaction that was prepared, and what it makes of a request.
pub(super) struct Ready {
    pub(super) epoch: Arc<Epoch>,
    applied: Applied,
    pub(super) facts: ReadyFacts,
}

/// What a compaction is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// All that the client sent.
    Originals,
    /// What the epoch in force shows of it.
    View,
}

impl Keeper {
    /// Compacts before the request goes out, with the built-in summariser. When that cannot help, the
    /// request goes out as it would have, with the reason.
    pub(super) async fn compact_now(
        self: &Arc<Self>,
        mut ticket: Ticket,
        case: Case,
        reason: Reason,
    ) -> Outgoing {
        self.ask_pins(&mut ticket).await;
        let (ticket, case) = (Arc::new(ticket), Arc::new(case));
        let made = match self
            .make(Arc::clone(&ticket), Arc::clone(&case), reason)
            .await
        {
            Ok(made) => made,
            Err(no) => return self.left_as_it_is(unshared(ticket), &case, no.reason),
        };
        // It is stored before it is used, and published once the provider took it.
        let stored = self.commit(&ticket, &case, made, Patience::Request).await;
        self.index.prepare(Arc::clone(&stored.epoch));
        let beginning = Beginning::Untold;
        self.tell_hooks(&ticket, &case, &stored.epoch, &stored.applied, beginning);
        let mut ticket = unshared(ticket);
        ticket.epoch = Some(stored.epoch);
        ticket.unpublished = Some(Unpublished { record: None });
        self.compacted(ticket, &stored.applied, &case, reason)
    }

    fn left_as_it_is(&self, ticket: Ticket, case: &Case, reason: Reason) -> Outgoing {
        let reason = match reason {
            // Where nothing can be removed or made smaller, what must stay is all there is.
            Reason::FloorAboveBudget
            | Reason::NothingToRemove
            | Reason::NotSmaller
            | Reason::AlreadyTried => Reason::FloorAboveWindow,
            other => other,
        };
        self.note(&ticket, "passthrough", reason, case.before, case.before);
        // Also where an earlier compaction goes out: it does not help enough, and this is why.
        Outgoing {
            reason,
            ..self.send(ticket, case.applied.clone(), reason, case.before, &case.now)
        }
    }

    /// What was prepared for a request like this.
    pub(super) fn ready(&self, ticket: &Ticket, case: &Case) -> Option<Ready> {
        let epoch = self.prepared(ticket, case)?;
        let applied = epoch.apply(&ticket.conversation, &ticket.body, ticket.form)?;
        let sight = self.sight(ticket, case.applied.as_ref());
        let facts = ReadyFacts {
            after_tokens: ticket.total_tokens().saturating_sub(applied.saved_tokens),
            kept_tokens: ticket.fixed_tokens + applied.kept_tokens,
            seen_entries: seen_entries(&epoch, ticket, sight.log.len()),
        };
        Some(Ready {
            epoch,
            applied,
            facts,
        })
    }

    pub(super) fn show(
        &self,
        ticket: &Ticket,
        case: &Case,
        ready: &Ready,
        why: ShowNow,
    ) -> Outgoing {
        let mut epoch = (*ready.epoch).clone();
        epoch.record.swap = why.swap();
        let reason = match why {
            ShowNow::Must(reason) => reason,
            ShowNow::Cold => Reason::CacheCold,
            ShowNow::Pays(_) => Reason::Pays,
            ShowNow::Design => Reason::Threshold,
        };
        // Without its sum it is the same compaction still: it is published as it was prepared.
        let record = self.journal.written(epoch.record.write());
        let epoch = Arc::new(epoch);
        let beginning = match self.rules.asks_somebody(ticket) {
            true => Beginning::Told,
            false => Beginning::Untold,
        };
        self.tell_hooks(ticket, case, &epoch, &ready.applied, beginning);
        let mut swapped = ticket.clone();
        swapped.epoch = Some(epoch);
        swapped.unpublished = Some(Unpublished { record });
        self.compacted(swapped, &ready.applied, case, reason)
    }

    /// The prepared compaction that goes further than the one in force.
    fn prepared(&self, ticket: &Ticket, case: &Case) -> Option<Arc<Epoch>> {
        let now = ticket.epoch.as_deref();
        let serves = |epoch: &Epoch| {
            (case.need.owns(epoch.class) || case.need.is_helped_by(epoch.class))
                && epoch.heeds(ticket.dropped_pins())
                && now.map_or_else(|| epoch.reach() > (0, 0), |now| epoch.goes_beyond(now))
        };
        self.index
            .prepared(&ticket.conversation, ticket.form, serves)
    }

    fn compacted(
        &self,
        mut ticket: Ticket,
        applied: &Applied,
        case: &Case,
        reason: Reason,
    ) -> Outgoing {
        let course = self.course(&ticket, ticket.epoch.as_deref());
        let now = course.reading(&self.sight(&ticket, Some(applied)));
        if self.mode == Mode::Observe {
            return self.watched(ticket, case, reason, now.size_tokens);
        }
        let Some(bytes) = ticket.rendered(applied) else {
            ticket.epoch = None;
            let reason = Reason::UnreadableMessage;
            return self.send(ticket, None, reason, case.before, &case.now);
        };
        ticket.sent_tokens = ticket.total_tokens().saturating_sub(applied.saved_tokens);
        let after = now.size_tokens;
        // The least that can be sent is sent, and it is said that it may be too much.
        let reason = match may_pass(case, &now) {
            true => reason,
            false => Reason::FloorAboveWindow,
        };
        self.note(&ticket, "compacted", reason, case.before, after);
        Outgoing {
            bytes,
            action: Action::Compacted,
            reason,
            size: Some(Size {
                before: case.before,
                after,
            }),
            ticket: Some(Arc::new(ticket)),
        }
    }

    /// What would have gone out is kept in memory as if it were in force, so that watching costs no more than acting. The
    /// request itself goes out as it came.
    fn watched(&self, mut ticket: Ticket, case: &Case, reason: Reason, after: u64) -> Outgoing {
        if let Some(epoch) = ticket.epoch.take() {
            self.index.publish(epoch);
        }
        ticket.unpublished = None;
        ticket.sent_tokens = ticket.total_tokens();
        self.note(&ticket, "observed", reason, case.before, after);
        Outgoing {
            bytes: ticket.body.bytes().clone(),
            action: Action::Observed,
            reason,
            size: Some(Size {
                before: case.before,
                after,
            }),
            ticket: Some(Arc::new(ticket)),
        }
    }

    /// Puts a compaction on disk with its span. Another node may have been first; then its bytes count, unless the request
    /// would still be too long with them.
    pub(super) async fn commit(
        &self,
        ticket: &Ticket,
        case: &Case,
        mut made: Made,
        patience: Patience,
    ) -> Stored {
        let mut row = self.put(ticket, &made.epoch, patience).await;
        let other = row.clone().and_then(|row| self.other(ticket, &made, row));
        match other {
            Some(other) if self.helps(ticket, case, &other, &made) => made = other,
            Some(_) => {
                made.epoch.set_apart();
                row = self.put(ticket, &made.epoch, patience).await;
                if let Some(same) = row.clone().and_then(|row| self.other(ticket, &made, row)) {
                    made = same;
                }
            }
            None => {}
        }
        Stored {
            epoch: Arc::new(made.epoch),
            applied: made.applied,
            is_stored: row.is_some() || !self.keeps(ticket),
        }
    }

    /// The compaction of a row, where it is another than ours and may be shown.
    fn other(&self, ticket: &Ticket, ours: &Made, row: CompactionRow) -> Option<Made> {
        let epoch = Some(row).filter(|row| row.id != ours.epoch.id);
        let epoch = epoch.and_then(Epoch::from_row)?;
        let applied = epoch.apply(&ticket.conversation, &ticket.body, ticket.form)?;
        let made = Made { epoch, applied };
        made.epoch.heeds(ticket.dropped_pins()).then_some(made)
    }

    /// Whether what another made does for a request what ours does.
    fn helps(&self, ticket: &Ticket, case: &Case, other: &Made, ours: &Made) -> bool {
        let fits = |made: &Made| {
            let sight = self.sight(ticket, Some(&made.applied));
            case.course.reading(&sight).fits()
        };
        other.applied.saved_tokens >= ours.applied.saved_tokens || fits(other)
    }

    /// Stores a compaction. Gives the row that is in force at its place; `None` where none is stored.
    async fn put(
        &self,
        ticket: &Ticket,
        epoch: &Epoch,
        patience: Patience,
    ) -> Option<CompactionRow> {
        let chain = &ticket.conversation.chain;
        let at = chain.iter().position(|(_, digest)| *digest == epoch.node);
        let links = at.map_or(0, |at| at + 1);
        let span = self.keeps(ticket).then(|| self.span_of(ticket, links));
        let span = span.flatten()?;
        let (conversation, state) = (&ticket.place.conversation, CompactionState::Prepared);
        let row = epoch.to_row(conversation, state, ticket.now_ms);
        let row = self.journal.written(row)?;
        self.journal.commit(span, row, patience).await
    }

    /// Whether what is made of a request is put into a store.
    pub(super) fn keeps(&self, ticket: &Ticket) -> bool {
        self.mode == Mode::Act && !ticket.is_kept_out() && self.journal.has_store()
    }

    /// The span as the store needs it: what is not there for certain, or at least its last link.
    fn span_of(&self, ticket: &Ticket, links: usize) -> Option<epitome_store::Append> {
        let from = ticket.place.stored_links.min(links.saturating_sub(1));
        self.append_of(ticket, from, links)
    }

    pub(super) async fn make(
        self: &Arc<Self>,
        ticket: Arc<Ticket>,
        case: Arc<Case>,
        reason: Reason,
    ) -> Result<Made, NoPlan> {
        let keeper = Arc::clone(self);
        // Reading a whole history takes milliseconds; other requests should not wait behind it.
        let work = move || keeper.carry_out(&ticket, &case, reason);
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err(failed()))
    }

    /// Compacts with the built-in summariser, as a session does.
    fn carry_out(&self, ticket: &Ticket, case: &Case, reason: Reason) -> Result<Made, NoPlan> {
        let sight = self.sight(ticket, case.applied.as_ref());
        if let Some(made) = self.pruned(ticket, case, reason) {
            return Ok(made);
        }
        // Nothing is read before a plan stands: a conversation that cannot be helped costs no more than any other.
        case.course.clone().plan(&sight, reason)?;
        let basis = match self.rules.looks_at_the_view() {
            true => Basis::View,
            false => Basis::Originals,
        };
        let mut session = self.session(ticket, case, basis)?;
        let done = session.compact(reason).map(|_| ());
        if let Err(no) = done {
            self.remember(ticket, &session);
            return Err(no);
        }
        let mut ledger = self.index.ledger(&ticket.place.conversation);
        ledger.compacted(session.context_tokens());
        self.index.keep_ledger(&ticket.place.conversation, ledger);
        let made = self.frozen(ticket, case, &session, basis)?;
        let node = &made.epoch.node;
        let is_unwanted = self.index.is_undone(node) && case.now.fits();
        if is_unwanted || self.index.is_refused(*node, ticket.form) {
            return Err(NoPlan {
                reason: Reason::RewriteRefused,
                floor_tokens: 0,
            });
        }
        Ok(made)
    }

    /// What was tried in vain is not tried again.
    pub(super) fn remember(&self, ticket: &Ticket, session: &Session) {
        let ledger = session.course().ledger().clone();
        self.index.keep_ledger(&ticket.place.conversation, ledger);
    }

    /// The request as a session: its messages, and what is shown of them.
    pub(super) fn session(
        &self,
        ticket: &Ticket,
        case: &Case,
        basis: Basis,
    ) -> Result<Session, NoPlan> {
        let messages: Option<Vec<Arc<Message>>> = (0..ticket.body.len())
            .map(|index| ticket.body.decoded(index).map(Arc::new))
            .collect();
        let entries = messages.ok_or(NoPlan {
            reason: Reason::UnreadableMessage,
            floor_tokens: 0,
        })?;
        let log = &ticket.conversation.log;
        let all = || View {
            items: vec![ViewItem::Entries(0..log.len())],
        };
        let chain = &ticket.conversation.chain;
        let counted_from = chain.first().map_or(0, |(index, _)| *index);
        let shown = case.applied.as_ref().zip(ticket.epoch.as_ref());
        let kept = match shown.filter(|_| basis == Basis::View) {
            Some((applied, epoch)) => KeptElsewhere {
                entries,
                log,
                view: applied.view.clone(),
                summary: &epoch.summary,
                links: &[],
                counted_from,
                sent_tokens: None,
            },
            None => KeptElsewhere {
                entries,
                log,
                view: all(),
                summary: "",
                links: &ticket.conversation.chain,
                counted_from,
                sent_tokens: shown
                    .map(|(applied, _)| log.total_tokens().saturating_sub(applied.saved_tokens)),
            },
        };
        let mut session = Session::resumed(case.course.clone(), Meter::Estimate, kept);
        session.set_dropped_pins(ticket.dropped_pins().to_vec());
        Ok(session)
    }

    pub(super) fn frozen(
        &self,
        ticket: &Ticket,
        case: &Case,
        session: &Session,
        basis: Basis,
    ) -> Result<Made, NoPlan> {
        let id = crate::clock::new_id();
        let conversation = &ticket.conversation;
        let class = case.need.class();
        let is_plain = basis == Basis::Originals || ticket.epoch.is_none();
        let compaction = session.compaction().ok_or_else(failed)?;
        let epoch = match is_plain && !self.rules.looks_at_the_view() {
            true => Epoch::freeze(id, class, compaction, conversation),
            false => Epoch::freeze_view(id, class, session, conversation),
        };
        let made = epoch.and_then(|mut epoch| {
            epoch.record.made_on_links = conversation.chain.len();
            // What an earlier round left out is not in what it shows.
            if let Some(earlier) = ticket.epoch.as_ref().filter(|_| basis == Basis::View) {
                epoch.record.leave_out(&earlier.record.unpinned);
            }
            let applied = epoch.apply(conversation, &ticket.body, ticket.form)?;
            Some(Made { epoch, applied })
        });
        made.ok_or(NoPlan {
            reason: Reason::NothingToRemove,
            floor_tokens: compaction.plan.floor_tokens,
        })
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
        if ticket.is_kept_out() {
            return;
        }
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

/// How many of the entries of what is shown, of which there are so many, the request had that an epoch was made on. What came
/// since is shown as it was sent.
fn seen_entries(epoch: &Epoch, ticket: &Ticket, shown: usize) -> usize {
    let conversation = &ticket.conversation;
    let last = epoch.record.made_on_links.checked_sub(1);
    let last = last.and_then(|link| conversation.chain.get(link));
    let since = last.map_or(0, |(index, _)| conversation.log.len() - (index + 1));
    shown.saturating_sub(since)
}

/// A compaction with its row in the store.
pub(super) struct Stored {
    pub(super) epoch: Arc<Epoch>,
    applied: Applied,
    pub(super) is_stored: bool,
}

/// Whether a provider may take a request of this size: with the answer it asks for, where that is counted too.
fn may_pass(case: &Case, after: &Reading) -> bool {
    let gauge = case.course.gauge();
    let output = match gauge.asked.counting {
        OutputCounting::Together => gauge.asked.output_tokens.unwrap_or(0),
        OutputCounting::Apart => 0,
    };
    after.size_tokens + after.error_tokens + output <= gauge.window.tokens
}

pub(super) const fn failed() -> NoPlan {
    NoPlan {
        reason: Reason::NothingToRemove,
        floor_tokens: 0,
    }
}

fn unshared(ticket: Arc<Ticket>) -> Ticket {
    Arc::try_unwrap(ticket).unwrap_or_else(|shared| (*shared).clone())
}
