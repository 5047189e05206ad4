//! What an answer teaches: counts, windows, refusals.

use std::sync::Arc;

use epitome::{Reason, UsageFinding};
use epitome_wire::{Cure, Overflow};

use super::{Action, Keeper, Outgoing, Size, Ticket};
use crate::answer::Seen;
use crate::config::Mode;
use crate::index::Anchor;

/// When a provider names no numbers, its window is taken to be this share of what it refused.
const GUESSED_WINDOW_PERCENT: u64 = 90;

impl Keeper {
    /// An answer that began well has ended.
    pub(crate) fn saw(&self, ticket: &Ticket, seen: Seen) {
        // A count that comes with a refusal may be one of what was left after truncation.
        match (seen.overflow, seen.input_tokens) {
            (Some(overflow), _) => self.learn(ticket, overflow),
            (None, Some(tokens)) => self.settle(ticket, tokens),
            (None, None) => {}
        }
    }

    /// The provider counted the input of a request that went well.
    pub(crate) fn settle(&self, ticket: &Ticket, real_tokens: u64) {
        let finding = self
            .models
            .observe(&ticket.model, real_tokens, ticket.sent_tokens);
        if let Some(finding @ UsageFinding::Truncated { .. }) = finding {
            // Such a count says nothing about the conversation.
            tracing::warn!(
                model = ticket.model.model,
                ?finding,
                "the server left out a part of the request"
            );
            return;
        }
        if let Some((_, tip)) = ticket.conversation.chain.last() {
            let anchor = Anchor {
                real_tokens,
                estimated_tokens: ticket.sent_tokens,
                epoch: ticket.epoch.as_ref().map(|epoch| epoch.id.clone()),
            };
            self.index.anchor(tip, anchor);
        }
    }

    /// The provider said that the request is too long: what that says of the model and the meter.
    pub(crate) fn learn(&self, ticket: &Ticket, overflow: Overflow) {
        // A limit of bytes says nothing about tokens.
        if overflow.cure == Cure::FewerBytes {
            return;
        }
        let gauge = self.models.gauge(&ticket.model, ticket.output_tokens);
        let believed = ticket.real_tokens(&gauge, 0, None);
        match overflow.window_tokens {
            Some(window) => {
                self.models.learn_window(&ticket.model, window);
                self.journal
                    .window(ticket.model.clone(), window, ticket.now_ms);
                tracing::info!(model = ticket.model.model, window, "learned a window");
            }
            None => {
                let refused = overflow.request_tokens.unwrap_or(believed);
                let guess = gauge
                    .window
                    .tokens
                    .min(refused * GUESSED_WINDOW_PERCENT / 100);
                self.models.learn_window(&ticket.model, guess);
            }
        }
        if let Some(request_tokens) = overflow.request_tokens {
            self.models
                .observe(&ticket.model, request_tokens, ticket.sent_tokens);
        }
    }

    /// The provider said that the request is too long: learns what it can and makes a shorter one.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        ticket: &Ticket,
        overflow: Overflow,
    ) -> Option<Outgoing> {
        self.learn(ticket, overflow);
        if self.mode == Mode::Observe {
            return None;
        }
        let gauge = self.models.gauge(&ticket.model, ticket.output_tokens);
        let mut again = ticket.clone();
        // The count that this request would have been measured by has just been proven wrong.
        again.place.anchor = None;
        let before = again.real_tokens(&gauge, 0, None);
        let outgoing = self
            .compact_now(again, &gauge, Reason::Overflow, before)
            .await;
        let differs = outgoing.action == Action::Compacted
            && outgoing.ticket.as_ref().is_some_and(|new| {
                new.epoch.as_ref().map(|epoch| &epoch.id)
                    != ticket.epoch.as_ref().map(|epoch| &epoch.id)
            });
        differs.then_some(outgoing)
    }

    /// The provider refused what we made of a request: the client's own bytes once, if they may fit.
    pub(crate) fn refused(&self, ticket: &Ticket) -> Option<Outgoing> {
        let epoch = ticket.epoch.as_ref()?;
        self.index.refuse(epoch);
        let gauge = self.models.gauge(&ticket.model, ticket.output_tokens);
        let size = ticket.real_tokens(&gauge, 0, None);
        self.note(ticket, "passthrough", Reason::RewriteRefused, size, size);
        if size > gauge.window.tokens {
            return None;
        }
        let mut original = ticket.clone();
        original.epoch = None;
        original.sent_tokens = original.total_tokens();
        Some(Outgoing {
            bytes: original.body.bytes().clone(),
            action: Action::Passthrough,
            reason: Reason::RewriteRefused,
            size: Some(Size {
                before: size,
                after: size,
            }),
            ticket: Some(Arc::new(original)),
        })
    }
}
