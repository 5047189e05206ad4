//! What becomes of a request: recognised, measured, left alone or compacted.

mod compact;
mod prepare;
mod prune;
mod rules;
mod settle;
mod steering;
mod stored;
mod ticket;

pub(crate) use rules::Rules;
pub(crate) use settle::{Fault, SecondRefusal};
use ticket::frame;
pub(crate) use ticket::{Lent, Ticket};

use std::sync::Arc;

use bytes::Bytes;
use epitome::{ContextBeta, Course, Meter, Move, Reading, Reason, Sight, TurnKind, Usage, Work};
use epitome_engine::known_models::ModelKey;
use epitome_store::ConversationId;
use epitome_wire::{Body, BodyError, ChainKey, Conversation, Field, Items, Memo, Wire};
use tokio_util::task::TaskTracker;

use crate::config::Mode;
use crate::epoch::{Applied, Epoch, Need};
use crate::index::Index;
use crate::journal::{Health, Journal};
use crate::models::Models;
use crate::quota::Allowance;

/// About this many messages are remembered; each costs some hundred bytes.
const MEMO_CAPACITY: usize = 200_000;
/// What the items of answers may take that clients name instead of sending them.
const ITEMS_CAPACITY_BYTES: usize = 32 << 20;

/// Keeps conversations inside their windows.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) mode: Mode,
    rules: Rules,
    memo: Memo,
    items: Arc<Items>,
    key: ChainKey,
    index: Arc<Index>,
    models: Models,
    journal: Arc<Journal>,
    tasks: TaskTracker,
}

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) authority: &'a str,
    pub(crate) context: ContextBeta,
    /// What the client lends for summaries.
    pub(crate) lent: Option<Arc<Lent>>,
    /// Whether the client asked to keep the request out of the store.
    pub(crate) is_private: bool,
}

/// A request under the epoch in force, as the machine sees it.
#[derive(Clone, Debug)]
struct Case {
    course: Course,
    applied: Option<Applied>,
    /// The request as it would go out.
    now: Reading,
    need: Need,
    /// Its size as the client sent it.
    before: u64,
}

/// What kind of request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The model is to answer.
    Turn,
    /// Only the size is asked for: nothing new is started.
    Count,
}

/// What was done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Action {
    Passthrough,
    Compacted,
    Observed,
    Bypassed,
}

impl Action {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Passthrough => "passthrough",
            Self::Compacted => "compacted",
            Self::Observed => "observed",
            Self::Bypassed => "bypassed",
        }
    }
}

/// A request ready to go out.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: Bytes,
    pub(crate) action: Action,
    pub(crate) reason: Reason,
    pub(crate) size: Option<Size>,
    /// What is needed to react to the answer; absent when the request was not understood.
    pub(crate) ticket: Option<Arc<Ticket>>,
}

/// How large a request was and is, in real tokens as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl Outgoing {
    /// Why a request failed in the end, where recovery failed for `reason`: it may have been known before.
    pub(crate) fn reason_after(&self, reason: Reason) -> Reason {
        match self.reason {
            known @ (Reason::FloorAboveWindow | Reason::WindowBelowReserves) => known,
            _ => reason,
        }
    }

    pub(crate) const fn untouched(bytes: Bytes, reason: Reason) -> Self {
        Self {
            bytes,
            action: Action::Passthrough,
            reason,
            size: None,
            ticket: None,
        }
    }
}

impl Keeper {
    pub(crate) fn new(
        mode: Mode,
        rules: Rules,
        key: ChainKey,
        models: Models,
        index: Arc<Index>,
        journal: Arc<Journal>,
        tasks: TaskTracker,
    ) -> Self {
        let memo = Memo::new(Meter::Estimate, MEMO_CAPACITY).counting_as(rules.reference_meter());
        Self {
            mode,
            rules,
            memo,
            items: Arc::new(Items::new(ITEMS_CAPACITY_BYTES)),
            key,
            index,
            models,
            journal,
            tasks,
        }
    }

    /// What summaries have cost so far, in dollars.
    pub(crate) fn own_spend_usd(&self) -> f64 {
        self.rules.own_spend_usd()
    }

    /// Whether clients lend their own model and key for summaries.
    pub(crate) const fn borrows(&self) -> bool {
        self.rules.lender().is_some()
    }

    /// Whether what is decided is also done.
    pub(crate) fn acts(&self) -> bool {
        self.mode == Mode::Act
    }

    pub(crate) fn is_store_gone(&self) -> bool {
        self.journal.is_store_gone()
    }

    pub(crate) fn store_health(&self) -> &Health {
        self.journal.health()
    }

    /// Decides what goes out for a request. Never fails: what cannot be helped goes through unchanged, with
    /// the reason.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        bytes: Bytes,
        body: Result<Body, BodyError>,
        endpoint: &Endpoint<'_>,
        kind: Kind,
        now_ms: i64,
    ) -> Outgoing {
        let body = match body {
            Ok(body) => Arc::new(body.resolved(|id| self.items.find(id))),
            Err(error) => return Outgoing::untouched(bytes, error.reason()),
        };
        if manages_context(&body) {
            return Outgoing::untouched(bytes, Reason::ProviderManaged);
        }
        if let Some(reason) = body.kept_by_provider() {
            return Outgoing::untouched(bytes, reason);
        }
        let conversation = match Conversation::of(&body, &self.memo, &self.key) {
            Ok(conversation) => Arc::new(conversation),
            Err(reason) => return Outgoing::untouched(bytes, reason),
        };
        if conversation.chain.is_empty() {
            return Outgoing::untouched(bytes, Reason::NoMessages);
        }
        let model = ModelKey {
            endpoint: endpoint.authority.to_owned(),
            model: body.model().unwrap_or_default(),
            context: endpoint.context,
        };
        self.recall(&conversation, &model).await;
        let fresh = new_conversation_id();
        let frame = frame(&body, &conversation);
        let place = match kind {
            Kind::Turn => {
                let chain = &conversation.chain;
                self.index.attach(chain, fresh.clone(), frame.kind, now_ms)
            }
            Kind::Count => {
                let chain = &conversation.chain;
                self.index.peek(chain, fresh.clone(), frame.kind)
            }
        };
        let is_kept = kind == Kind::Turn && self.acts() && !endpoint.is_private;
        let allowed = match is_kept && self.journal.has_store() {
            true => {
                let is_new = place.conversation == fresh;
                self.journal.quota().allows(&place.conversation, is_new)
            }
            false => Allowance::ALL,
        };
        let ticket = Ticket {
            fixed_tokens: frame.tokens,
            kind: frame.kind,
            // Tools that the provider would run are declared by some clients and hardly ever used: the answer tells.
            turn: match conversation.messages.iter().all(|message| message.is_plain) {
                true => TurnKind::Plain,
                false => TurnKind::Media,
            },
            output_tokens: body.output_tokens(),
            form: self.models.known().form(&model),
            model,
            sent_tokens: 0,
            epoch: None,
            unpublished: None,
            body,
            conversation,
            place,
            dropped_pins: None,
            lent: endpoint.lent.clone().filter(|_| kind == Kind::Turn),
            is_private: endpoint.is_private,
            has_room: allowed.stores,
            asks_models: allowed.asks_models,
            now_ms,
        };
        self.decide(ticket, kind).await
    }

    async fn decide(self: &Arc<Self>, mut ticket: Ticket, kind: Kind) -> Outgoing {
        let (mut need, mut before) = self.need(&ticket);
        if self.index.has_epochs(&ticket.conversation) {
            self.ask_pins(&mut ticket).await;
        }
        ticket.epoch = self.in_force(&ticket, &need);
        self.heed_undo(&mut ticket, &need).await;
        let leaves_nothing = self.course(&ticket, None).gauge().leaves_nothing();
        let mut case = self.case(&mut ticket, need, before);
        if leaves_nothing {
            let reason = Reason::WindowBelowReserves;
            return Outgoing {
                reason,
                ..self.send(ticket, case.applied, reason, before, &case.now)
            };
        }
        if kind == Kind::Count {
            return self.send(ticket, case.applied, Reason::BelowLine, before, &case.now);
        }
        // Another node may have shown what lay ready, or made what is needed here.
        let is_near = case.now.nears_the_line() || !case.now.fits();
        if is_near && let Some(since) = self.catch_up(&mut ticket).await {
            (need, before) = since;
            case = self.case(&mut ticket, need, before);
        }
        let ready = self.ready(&ticket, &case);
        let work = Work {
            asks_somebody: self.rules.asks_somebody(&ticket),
            // Nobody waits at a proxy.
            waits: false,
            is_writing: self.index.is_preparing(&ticket.place.conversation),
            ready: ready.as_ref().map(|ready| ready.facts),
            cache: ticket.cache_state(),
        };
        let sight = self.sight(&ticket, case.applied.as_ref());
        match case.course.before_request(&sight, &work) {
            Move::Compact(reason) | Move::Await(reason) => {
                self.compact_now(ticket, case, reason).await
            }
            Move::Show(why) => match ready {
                Some(ready) => self.show(&ticket, &case, &ready, why),
                None => self.send(ticket, case.applied, Reason::BelowLine, before, &case.now),
            },
            Move::Prepare { reason, .. } => {
                self.prepare(&ticket, &case, reason);
                self.send(ticket, case.applied, Reason::BelowLine, before, &case.now)
            }
            Move::Send(reason) => {
                let reason = if case.now.fits() {
                    Reason::BelowLine
                } else {
                    reason
                };
                self.send(ticket, case.applied, reason, before, &case.now)
            }
        }
    }

    /// What a request needs as its client sent it, and its size.
    fn need(&self, ticket: &Ticket) -> (Need, u64) {
        let bare = self.course(ticket, None);
        let reading = bare.reading(&self.sight(ticket, None));
        let need = Need::of(&bare.gauge(), &reading, ticket.model.digest());
        (need, reading.size_tokens)
    }

    /// A request under the epoch that its ticket names, if that can be applied.
    fn case(&self, ticket: &mut Ticket, need: Need, before: u64) -> Case {
        let applied = self.apply_epoch(ticket);
        let course = self.course(ticket, ticket.epoch.as_deref());
        let now = course.reading(&self.sight(ticket, applied.as_ref()));
        Case {
            course,
            applied,
            now,
            need,
            before,
        }
    }

    /// What decides about a request under an epoch.
    fn course(&self, ticket: &Ticket, epoch: Option<&Epoch>) -> Course {
        let anchors = ticket.anchors(epoch);
        let reported = anchors.first().map(|anchor| Usage {
            fresh_tokens: anchor.real_tokens,
            ..Usage::default()
        });
        self.models
            .course(&ticket.model, ticket.frame())
            .with_preset(self.rules.preset)
            .with_anchors(anchors)
            .with_reported(reported)
            .with_ledger(self.index.ledger(&ticket.place.conversation))
    }

    /// A request as facts: designs that keep by size look at the originals, the others at what is shown.
    fn sight<'t>(&self, ticket: &'t Ticket, applied: Option<&'t Applied>) -> Sight<'t> {
        let log = &ticket.conversation.log;
        let saved = applied.map_or(0, |applied| applied.saved_tokens);
        let shown = applied.and_then(|applied| applied.shown.as_ref());
        Sight {
            log: match shown {
                Some(shown) if self.rules.looks_at_the_view() => shown,
                _ => log,
            },
            shown_tokens: log.total_tokens().saturating_sub(saved),
            reference_tokens: self.rules.reference_tokens(ticket, applied),
            entries: log.len(),
            links: (!self.rules.looks_at_the_view()).then_some(&ticket.conversation.chain),
        }
    }

    /// Sends what the epoch in force makes of the request, or the request itself.
    fn send(
        &self,
        mut ticket: Ticket,
        applied: Option<Applied>,
        otherwise: Reason,
        before: u64,
        now: &Reading,
    ) -> Outgoing {
        let size = Some(Size {
            before,
            after: now.size_tokens,
        });
        let saved = applied.as_ref().map_or(0, |applied| applied.saved_tokens);
        let rendered = applied.and_then(|applied| ticket.rendered(&applied));
        let total = ticket.total_tokens();
        match rendered {
            Some(bytes) if self.mode == Mode::Act => {
                ticket.sent_tokens = total.saturating_sub(saved);
                Outgoing {
                    bytes,
                    action: Action::Compacted,
                    reason: Reason::Epoch,
                    size,
                    ticket: Some(Arc::new(ticket)),
                }
            }
            rendered => {
                ticket.sent_tokens = total;
                ticket.epoch = None;
                let (action, reason) = match (self.mode, rendered) {
                    (Mode::Observe, Some(_)) => (Action::Observed, Reason::Epoch),
                    (Mode::Observe, None) => (Action::Observed, otherwise),
                    (Mode::Act, _) => (Action::Passthrough, otherwise),
                };
                Outgoing {
                    bytes: ticket.body.bytes().clone(),
                    action,
                    reason,
                    size,
                    ticket: Some(Arc::new(ticket)),
                }
            }
        }
    }

    /// The epoch that a request goes out under: the newest of its own class, else one that helps it to fit.
    fn in_force(&self, ticket: &Ticket, need: &Need) -> Option<Arc<Epoch>> {
        let conversation = &ticket.conversation;
        let heeds = |epoch: &Epoch| epoch.heeds(ticket.dropped_pins());
        let own = |epoch: &Epoch| need.owns(epoch.class) && heeds(epoch);
        let helps = |epoch: &Epoch| need.is_helped_by(epoch.class) && heeds(epoch);
        let found = self.index.published(conversation, ticket.form, own);
        found.or_else(|| self.index.published(conversation, ticket.form, helps))
    }

    fn apply_epoch(&self, ticket: &mut Ticket) -> Option<Applied> {
        let epoch = ticket.epoch.as_ref()?;
        let applied = epoch.apply(&ticket.conversation, &ticket.body, ticket.form);
        if applied.is_none() {
            ticket.epoch = None;
        }
        applied
    }
}

/// Whether the client asked the provider to shorten the context. Keeping thinking is no such thing.
fn manages_context(body: &Body) -> bool {
    let truncates =
        body.wire() == Wire::OpenAiResponses && body.field(Field::Truncation) == Some(b"\"auto\"");
    truncates
        || body.field(Field::ContextManagement).is_some_and(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            text.contains("compact") || text.contains("clear_tool_uses")
        })
}

fn new_conversation_id() -> ConversationId {
    ConversationId::from_number(crate::clock::new_number())
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
