//! Requests whose history the provider keeps: decided on in full, sent as they came while that fits.

use std::sync::Arc;

use bytes::Bytes;
use epitome::{Reason, TurnKind};
use epitome_wire::{Body, BodyError, Continued, Wire};

use super::{Envelope, Exchange};
use crate::histories::{Before, InFull, Open};
use crate::keeper::{Action, Kind, Outgoing, Ticket};

/// What is known of a request's history beside the request.
#[derive(Debug, Default)]
pub(super) struct History {
    open: Option<Open>,
    in_full: Option<InFull>,
    /// Whether it goes on from an answer that nobody here saw.
    is_elsewhere: bool,
}

impl Exchange<'_> {
    /// What a request adds to, where the provider keeps that and it went by here.
    pub(super) async fn history(
        &self,
        envelope: &Envelope<'_>,
        bytes: &Bytes,
        body: &Result<Body, BodyError>,
        kind: Kind,
    ) -> History {
        if envelope.wire != Wire::OpenAiResponses || kind != Kind::Turn {
            return History::default();
        }
        let request = match body {
            Ok(body) => Continued::of(body),
            // Its input may be one text.
            Err(BodyError::NoMessages(_)) => Continued::read(bytes),
            Err(_) => None,
        };
        let Some(request) = request else {
            return History::default();
        };
        let before = self.tenant.histories.before(&request).await;
        let is_private =
            envelope.is_private || !self.keeper().acts() || !self.tenant.quota.has_bytes();
        History {
            is_elsewhere: matches!(before, Before::Unknown),
            in_full: match &before {
                Before::Known(turn) => Some(InFull::new(&request, bytes, turn.clone())),
                Before::Nothing | Before::Unknown => None,
            },
            open: Some(Open::new(&request, before, is_private)),
        }
    }
}

impl History {
    /// The request with everything in it.
    pub(super) fn in_full(&self) -> Option<&Bytes> {
        self.in_full.as_ref().map(|known| &known.full)
    }

    /// What goes out: the request as it came, unless what the provider has would not fit with it.
    pub(super) fn as_sent(&self, decided: Outgoing) -> Outgoing {
        let Some(known) = &self.in_full else {
            return match self.is_elsewhere && decided.ticket.is_none() {
                true => Outgoing {
                    reason: Reason::ServerSideHistory,
                    ..decided
                },
                false => decided,
            };
        };
        let bytes = known.brief.clone();
        let epoch = decided
            .ticket
            .as_ref()
            .and_then(|ticket| ticket.epoch.as_ref());
        match decided.action {
            Action::Compacted if !epoch.is_some_and(|epoch| known.is_held_under(&epoch.id)) => {
                decided
            }
            // The provider has the history in this form already.
            Action::Compacted => Outgoing {
                bytes,
                action: Action::Passthrough,
                reason: Reason::BelowLine,
                ..decided
            },
            // What the provider has begins with a compaction that is not in force, such as one that was taken back.
            Action::Passthrough
                if decided.reason == Reason::BelowLine
                    && known.is_held_shortened()
                    && !known.is_refused() =>
            {
                Outgoing {
                    reason: Reason::ServerSideHistory,
                    ..decided
                }
            }
            _ => self.as_it_came(decided),
        }
    }

    /// The client's own request in place of one in full, and anything else as it is.
    pub(super) fn as_it_came(&self, decided: Outgoing) -> Outgoing {
        let known = self.in_full.as_ref();
        let Some(known) = known.filter(|_| decided.action != Action::Compacted) else {
            return decided;
        };
        let ticket = decided
            .ticket
            .map(|ticket| match known.is_held_shortened() {
                // What the provider counts then is not what was measured here.
                true => Arc::new(Ticket {
                    turn: TurnKind::Odd,
                    ..(*ticket).clone()
                }),
                false => ticket,
            });
        Outgoing {
            bytes: known.brief.clone(),
            ticket,
            ..decided
        }
    }

    /// Whether the client's own bytes go out.
    pub(super) fn is_own(&self, sent: &Outgoing) -> bool {
        sent.action != Action::Compacted && !self.is_full(sent)
    }

    /// Whether a request goes out with everything that was said.
    fn is_full(&self, sent: &Outgoing) -> bool {
        let known = self.in_full.as_ref();
        sent.action != Action::Compacted && known.is_some_and(|known| sent.bytes == known.full)
    }

    /// The provider took the second request and not the first one. A history that it does not take in full is not said so again.
    pub(super) fn note_refused(&self, first: &Outgoing, second: &Outgoing) {
        if let Some(known) = &self.in_full
            && self.is_full(first)
            && self.is_own(second)
        {
            known.refuse();
        }
    }

    /// The turn, whose answer is still to come.
    pub(super) fn open(self, sent: &Outgoing) -> Option<Open> {
        let is_full = self.is_full(sent);
        let mut open = self.open?;
        if sent
            .ticket
            .as_ref()
            .is_some_and(|ticket| ticket.is_kept_out())
        {
            open = open.kept_out();
        }
        let epoch = sent
            .ticket
            .as_ref()
            .and_then(|ticket| ticket.epoch.as_ref());
        Some(match epoch.filter(|_| sent.action == Action::Compacted) {
            Some(epoch) => open.sent_under(&epoch.id),
            None if is_full => open.sent_in_full(),
            None => open,
        })
    }
}
