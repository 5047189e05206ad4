//! Requests whose history the provider keeps: decided on in full, sent as they came while that fits.

use bytes::Bytes;
use epitome::Reason;
use epitome_wire::{Continued, Wire};

use super::Proxy;
use crate::histories::{InFull, Open};
use crate::keeper::{Action, Kind, Outgoing};

/// What is known of a request's history beside the request.
#[derive(Debug, Default)]
pub(super) struct History {
    open: Option<Open>,
    in_full: Option<InFull>,
    /// Whether it goes on from an answer that nobody here saw.
    is_elsewhere: bool,
}

impl Proxy {
    /// What a request adds to, where the provider keeps that and it went by here.
    pub(super) fn history(&self, bytes: &Bytes, wire: Wire, kind: Kind) -> History {
        if wire != Wire::OpenAiResponses || kind != Kind::Turn {
            return History::default();
        }
        let Some(request) = Continued::read(bytes.clone()) else {
            return History::default();
        };
        let in_full = self.histories.in_full(&request, bytes);
        History {
            open: self.histories.open(&request),
            is_elsewhere: request.previous().is_some() && in_full.is_none(),
            in_full,
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
            _ => Outgoing { bytes, ..decided },
        }
    }

    /// The turn, whose answer is still to come.
    pub(super) fn open(self, sent: &Outgoing) -> Option<Open> {
        let open = self.open?;
        let epoch = sent
            .ticket
            .as_ref()
            .and_then(|ticket| ticket.epoch.as_ref());
        Some(match epoch.filter(|_| sent.action == Action::Compacted) {
            Some(epoch) => open.sent_under(&epoch.id),
            None => open,
        })
    }
}
