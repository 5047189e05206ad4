//! What is sent instead of a request that was refused.

use epitome::Reason;
use epitome_wire::Refusal;
use http::StatusCode;

use super::Exchange;
use super::history::History;
use crate::keeper::{Action, Fault, Outgoing};

/// What follows a refusal.
pub(super) enum Again {
    /// This is sent instead.
    Send(Outgoing),
    /// Nothing helps, for this reason: the provider's answer is passed on.
    Say(Reason),
    /// It is not about us: the provider's answer is passed on.
    Nothing,
}

impl Exchange<'_> {
    /// What to send instead of a request that was refused, if anything.
    pub(super) async fn second_try(
        &self,
        outgoing: &Outgoing,
        history: &History,
        status: StatusCode,
        text: &[u8],
    ) -> Again {
        let Some(ticket) = outgoing.ticket.as_ref() else {
            return Again::Nothing;
        };
        let status = status.as_u16();
        let refusal = Refusal::read(status, text, &outgoing.bytes);
        let overflow = match refusal {
            // What may be a quotation counts only where the size speaks for it too.
            Refusal::Overflow(overflow) if overflow.is_echoed => {
                self.keeper().is_nearly_full(ticket).then_some(overflow)
            }
            Refusal::Overflow(overflow) => Some(overflow),
            _ => self.keeper().wordless(ticket, status, text),
        };
        if let Some(overflow) = overflow {
            return match self.keeper().recover(ticket, overflow).await {
                Ok(shorter) => Again::Send(shorter),
                Err(reason) => Again::Say(reason),
            };
        }
        let fault = match refusal {
            Refusal::Structural => Fault::Structural,
            Refusal::Other if matches!(status, 400 | 413 | 422) => Fault::Unknown,
            _ => return Again::Nothing,
        };
        let again = match outgoing.action {
            Action::Compacted => self.keeper().refused(ticket, fault),
            _ if history.is_own(outgoing) => None,
            // It was said in full.
            _ => Some(Outgoing {
                reason: Reason::RewriteRefused,
                ..outgoing.clone()
            }),
        };
        again.map_or(Again::Nothing, |again| {
            Again::Send(history.as_it_came(again))
        })
    }
}
