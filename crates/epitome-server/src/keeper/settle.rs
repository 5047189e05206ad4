//! What an answer teaches: counts, windows, refusals.

use std::sync::Arc;

use epitome::{
    Count, CountedSize, Gauge, Lesson, OutputCounting, Reason, RefusedSize, ShowNow, TurnKind,
    UsageFinding,
};
use epitome_engine::known_models::{ModelKey, News};
use epitome_store::CountedRow;
use epitome_wire::{Counted as Usage, Cure, Overflow};
use http::StatusCode;

use super::{Action, Case, Keeper, Outgoing, Size, Ticket};
use crate::answer::Seen;
use crate::config::Mode;
use crate::epoch::{Epoch, Need};
use crate::index::Counted;

/// Where a shorter request was refused too and nobody says how long one may be, the next try is this much shorter again.
const SHORTER_DIVISOR: u64 = 2;

impl Keeper {
    /// An answer that began well has ended.
    pub(crate) fn saw(&self, ticket: &Ticket, seen: Seen) {
        for item in seen.items.items {
            self.items.keep(item);
        }
        // A count that comes with a refusal may be one of what was left after truncation.
        match (seen.overflow, seen.counted) {
            (Some(overflow), _) => {
                if self.learn(ticket, &overflow) == Lesson::Nothing {
                    self.count_as_full(ticket);
                }
            }
            (None, Some(counted)) => self.settle(ticket, counted),
            (None, None) => {}
        }
    }

    /// The provider counted the input of a request that went well.
    fn settle(&self, ticket: &Ticket, usage: Usage) {
        let turn = match usage.is_plain {
            true => ticket.turn,
            false => TurnKind::Odd,
        };
        let real_tokens = usage.input_tokens;
        let count = Count {
            real_tokens,
            estimated_tokens: ticket.sent_tokens,
            turn,
            kind: ticket.kind,
        };
        self.index
            .take_size(&ticket.place.conversation, real_tokens);
        let (finding, news) = self.models.counted(&ticket.model, count);
        self.keep_belief(&ticket.model, ticket.now_ms, news);
        if let Some(finding @ UsageFinding::Truncated { .. }) = finding {
            // Such a count says nothing about the conversation.
            tracing::warn!(
                model = ticket.model.model,
                ?finding,
                "the server left out a part of the request"
            );
            return;
        }
        if turn == TurnKind::Odd || real_tokens == 0 {
            return;
        }
        self.anchor(ticket, real_tokens);
    }

    /// A request was refused after its answer began, and nothing was learned: those that follow it in the same
    /// conversation count from a full window on, so that they are not refused too.
    fn count_as_full(&self, ticket: &Ticket) {
        let gauge = self.gauge(ticket);
        self.anchor(ticket, gauge.window.tokens);
    }

    /// What the request was counted at is where those that follow it count from.
    fn anchor(&self, ticket: &Ticket, real_tokens: u64) {
        if let Some((_, tip)) = ticket.conversation.chain.last() {
            let anchor = CountedSize {
                real_tokens,
                estimated_tokens: ticket.sent_tokens,
            };
            let counted = Counted {
                anchor,
                epoch: ticket.epoch.as_ref().map(|epoch| epoch.id.clone()),
                kind: ticket.kind,
            };
            if self.mode == Mode::Act && !ticket.is_kept_out() && self.journal.has_store() {
                self.journal.counted(CountedRow {
                    node: *tip,
                    conversation: ticket.place.conversation.clone(),
                    kind: counted.kind,
                    compaction: counted.epoch.clone(),
                    real_tokens,
                    estimated_tokens: ticket.sent_tokens,
                    at_ms: ticket.now_ms,
                });
            }
            self.index.anchor(tip, counted);
        }
    }

    /// The provider said that the request is too long: what that says of the model.
    fn learn(&self, ticket: &Ticket, overflow: &Overflow) -> Lesson {
        // A limit of bytes says nothing about tokens, and a quotation of the request says nothing at all.
        if overflow.cure == Cure::FewerBytes || overflow.is_echoed {
            return Lesson::Nothing;
        }
        let gauge = self.gauge(ticket);
        let counting = match overflow.counts_output || overflow.cure == Cure::LessOutput {
            true => OutputCounting::Together,
            false => OutputCounting::Apart,
        };
        let refused = RefusedSize {
            window_tokens: overflow.window_tokens,
            request_tokens: overflow.request_tokens,
            own_tokens: gauge.rate.real(ticket.sent_tokens),
            output_tokens: ticket.output_tokens.unwrap_or(0),
            counting,
        };
        let (lesson, news) = self.models.known().refused(&ticket.model, refused);
        match lesson {
            Lesson::Window(window) => {
                tracing::info!(model = ticket.model.model, window, "learned a window");
            }
            Lesson::Nothing => tracing::info!(
                model = ticket.model.model,
                window = overflow.window_tokens,
                request = overflow.request_tokens,
                own = refused.own_tokens,
                "a refusal as too long teaches nothing that lasts"
            ),
        }
        self.keep_belief(&ticket.model, ticket.now_ms, news);
        lesson
    }

    fn keep_belief(&self, key: &ModelKey, at_ms: i64, news: News) {
        if self.journal.has_store()
            && let Some(update) = self.models.known().update_of(key, news, at_ms)
        {
            self.journal.belief(update);
        }
    }

    fn gauge(&self, ticket: &Ticket) -> Gauge {
        self.models.course(&ticket.model, ticket.frame()).gauge()
    }

    /// A refusal without a word, which is an overflow only where the request nearly fills the window.
    pub(crate) fn wordless(&self, ticket: &Ticket, status: u16, body: &[u8]) -> Option<Overflow> {
        let gauge = self.gauge(ticket);
        let tokens = gauge.rate.real(ticket.sent_tokens);
        Overflow::wordless(status, body, tokens, gauge.window.tokens)
    }

    /// Whether a request fills half of its window or more by our own count, so that it may turn out to be too long.
    pub(crate) fn may_overflow(&self, ticket: &Ticket) -> bool {
        let gauge = self.gauge(ticket);
        let tokens = gauge.rate.real(ticket.sent_tokens);
        self.mode == Mode::Act && tokens.saturating_mul(2) >= gauge.window.tokens
    }

    /// Whether a request nearly fills its window, by our own count.
    pub(crate) fn is_nearly_full(&self, ticket: &Ticket) -> bool {
        let gauge = self.gauge(ticket);
        let tokens = gauge.rate.real(ticket.sent_tokens);
        let reserve = gauge.reserve_tokens();
        tokens + reserve >= gauge.window.tokens / 10 * 9
    }

    /// The provider said that the request is too long: learns what it can and makes a shorter one.
    ///
    /// # Errors
    /// Why there is none: the provider's own answer is passed on.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        ticket: &Ticket,
        overflow: Overflow,
    ) -> Result<Outgoing, Reason> {
        let lesson = self.learn(ticket, &overflow);
        if self.mode == Mode::Observe {
            return Err(Reason::Observing);
        }
        let mut again = ticket.clone();
        // The counts that this request would have been measured by have just been proven wrong.
        again.place.counts.clear();
        let mut case = self.refused_case(&mut again, lesson);
        // What was learned is in the course already; what was not holds for this request.
        let refused = RefusedSize {
            window_tokens: None,
            request_tokens: overflow.request_tokens.filter(|_| !overflow.is_echoed),
            own_tokens: case.now.size_tokens,
            output_tokens: ticket.output_tokens.unwrap_or(0),
            counting: OutputCounting::Apart,
        };
        let sight = self.sight(&again, case.applied.as_ref());
        case.course.handle_refusal_of(refused, lesson, &sight)?;
        if let Some(tokens) = self.index.refused_size(&ticket.place.conversation) {
            case.course.keep_below(tokens / SHORTER_DIVISOR);
        }
        case.now = case.course.reading(&sight);
        if case.now.fits() || case.course.gauge().leaves_nothing() {
            // It asks for more output than there is room for, whatever the input.
            return Err(Reason::WindowBelowReserves);
        }
        let outgoing = match self.ready(&again, &case) {
            Some(ready) => match case.course.shows(&sight, &ready.facts, again.cache_state()) {
                Some(_) => {
                    let why = ShowNow::Must(Reason::Overflow);
                    self.show(&again, &case, &ready, why)
                }
                None => self.compact_now(again, case, Reason::Overflow).await,
            },
            None => self.compact_now(again, case, Reason::Overflow).await,
        };
        let differs = outgoing.action == Action::Compacted
            && outgoing.ticket.as_ref().is_some_and(|new| {
                // The same messages would be refused again, whatever the compaction is called.
                let shown = |one: &Epoch, other: &Epoch| {
                    let (record, others) = (&one.record, &other.record);
                    one.node == other.node
                        && one.summary == other.summary
                        && record.trims == others.trims
                        && record.view == others.view
                };
                match (&new.epoch, &ticket.epoch) {
                    (Some(new), Some(sent)) => !shown(new, sent),
                    (new, sent) => new.is_some() != sent.is_some(),
                }
            });
        if differs {
            Ok(outgoing)
        } else {
            Err(outgoing.reason)
        }
    }

    /// A request that was just refused, under what it was sent under.
    fn refused_case(&self, ticket: &mut Ticket, lesson: Lesson) -> Case {
        let bare = self.course(ticket, None);
        let reading = bare.reading(&self.sight(ticket, None));
        let need = Need {
            fits_bare: false,
            is_refused: lesson == Lesson::Nothing,
            ..Need::of(&bare.gauge(), &reading, ticket.model.digest())
        };
        self.case(ticket, need, reading.size_tokens)
    }

    /// The provider refused what we made of a request: the client's own bytes if they fit, else the same summary in
    /// another form. What comes of that is remembered by [`Keeper::accepted`].
    pub(crate) fn refused(&self, ticket: &Ticket, fault: Fault) -> Option<Outgoing> {
        let epoch = ticket.epoch.as_ref()?;
        let gauge = self.gauge(ticket);
        let size = self
            .course(ticket, None)
            .reading(&self.sight(ticket, None))
            .size_tokens;
        self.note(ticket, "passthrough", Reason::RewriteRefused, size, size);
        let mut again = ticket.clone();
        // It goes over the line that we keep, but perhaps not over the provider's.
        let output = match gauge.asked.counting {
            OutputCounting::Together => ticket.output_tokens.unwrap_or(0),
            OutputCounting::Apart => 0,
        };
        if size.saturating_add(output) <= gauge.window.tokens {
            again.epoch = None;
            again.sent_tokens = again.total_tokens();
            return Some(Outgoing {
                bytes: again.body.bytes().clone(),
                action: Action::Passthrough,
                reason: Reason::RewriteRefused,
                size: Some(Size {
                    before: size,
                    after: size,
                }),
                ticket: Some(Arc::new(again)),
            });
        }
        if fault == Fault::Unknown {
            return None;
        }
        let Some(form) = ticket.form.next() else {
            self.index.refuse(epoch, ticket.form);
            return None;
        };
        again.form = form;
        let applied = epoch.apply(&again.conversation, &again.body, form)?;
        let course = self.course(&again, Some(epoch));
        let after = course
            .reading(&self.sight(&again, Some(&applied)))
            .size_tokens;
        Some(Outgoing {
            bytes: again.rendered(&applied)?,
            action: Action::Compacted,
            reason: Reason::RewriteRefused,
            size: Some(Size {
                before: size,
                after,
            }),
            ticket: Some(Arc::new(again)),
        })
    }

    /// The second try after a refused rewrite went well: what the first one was refused for is known now.
    pub(crate) fn accepted(&self, refused: &Ticket, sent: &Ticket) {
        match (&refused.epoch, &sent.epoch) {
            (Some(epoch), None) => {
                self.index.refuse(epoch, refused.form);
                // The next one is tried in another form.
                if let Some(form) = refused.form.next() {
                    self.models.known().remember_form(&sent.model, form);
                }
            }
            (Some(_), Some(_)) if sent.form != refused.form => {
                self.models.known().remember_form(&sent.model, sent.form);
                self.keep_belief(&sent.model, sent.now_ms, News::Belief);
                tracing::info!(
                    model = sent.model.model,
                    endpoint = sent.model.endpoint,
                    "this server wants the roles to alternate; summaries go into the first message"
                );
            }
            _ => {}
        }
    }

    /// Both tries were refused, the second one for the second reason.
    pub(crate) fn refused_again(&self, refused: &Ticket, sent: &Ticket, why: SecondRefusal) {
        if why == SecondRefusal::TooLong {
            let gauge = self.gauge(sent);
            let tokens = gauge.rate.real(sent.sent_tokens);
            self.index.refuse_size(&sent.place.conversation, tokens);
            return;
        }
        if let (Some(epoch), Some(_)) = (&refused.epoch, &sent.epoch)
            && sent.form != refused.form
        {
            self.index.refuse(epoch, refused.form);
            self.index.refuse(epoch, sent.form);
        }
    }
}

/// What a refusal of a rewritten request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The structure of the messages.
    Structural,
    /// The provider does not say anything that we understand.
    Unknown,
}

/// Why the second try was refused as well, as far as its status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondRefusal {
    /// It was a shorter request, and the provider says once more that it is wrong.
    TooLong,
    /// Anything else.
    Other,
}

impl SecondRefusal {
    /// The second try went out for this reason and was answered with this status.
    pub(crate) fn of(reason: Reason, status: StatusCode) -> Self {
        match (reason, status.as_u16()) {
            (Reason::Overflow, 400 | 413 | 422) => Self::TooLong,
            _ => Self::Other,
        }
    }
}
