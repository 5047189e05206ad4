//! How streamed answers begin: a refusal as too long may come after a few events that say nothing.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use epitome_wire::{Begun, Overflow, StreamStart, Unpacker, Wire};
use http::Response;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body::Body;
use hyper::body::Incoming;

use super::history::History;
use super::{Envelope, Exchange};
use crate::answer::Front;
use crate::clock;
use crate::keeper::{Kind, Outgoing};

/// How long what says nothing may be held back.
const HOLD: Duration = Duration::from_secs(10);
/// How many bytes of it.
const HELD_BYTES: usize = 64 << 10;

/// An answer of which a part may have been read.
pub(super) struct Answer {
    pub(super) parts: http::response::Parts,
    pub(super) front: Front,
    pub(super) rest: Incoming,
}

impl From<Response<Incoming>> for Answer {
    fn from(answer: Response<Incoming>) -> Self {
        let (parts, rest) = answer.into_parts();
        Self {
            parts,
            front: Front::new(),
            rest,
        }
    }
}

impl Answer {
    pub(super) const fn status(&self) -> http::StatusCode {
        self.parts.status
    }
}

/// How an answer begins.
pub(super) enum Beginning {
    Of(Box<Answer>),
    /// With nothing but that the request is too long.
    TooLong(Overflow, Box<Answer>),
}

impl Exchange<'_> {
    /// Holds a stream back until something is said in it, where the request may turn out to be too long.
    pub(super) async fn beginning(
        &self,
        answer: Response<Incoming>,
        sent: &Outgoing,
        wire: Wire,
        kind: Kind,
    ) -> Beginning {
        let mut answer = Answer::from(answer);
        let header = |name| answer.parts.headers.get(name)?.to_str().ok();
        let is_stream = header(CONTENT_TYPE).is_some_and(|it| it.starts_with("text/event-stream"));
        let unpacker = Unpacker::of(header(CONTENT_ENCODING).unwrap_or_default());
        let may_overflow = sent
            .ticket
            .as_ref()
            .is_some_and(|ticket| self.keeper().may_overflow(ticket));
        let (true, Some(unpacker)) = (
            is_stream && may_overflow && kind == Kind::Turn && answer.parts.status.is_success(),
            unpacker,
        ) else {
            return Beginning::Of(Box::new(answer));
        };
        let begun = clock::within(HOLD, hold(&mut answer, StreamStart::new(wire), unpacker)).await;
        match begun {
            Ok(Begun::TooLong(overflow)) => Beginning::TooLong(overflow, Box::new(answer)),
            Ok(Begun::NotYet | Begun::Speaks) | Err(_) => Beginning::Of(Box::new(answer)),
        }
    }

    /// Another answer, to a shorter request.
    pub(super) async fn second_stream(
        &self,
        envelope: &Envelope<'_>,
        sent: &Outgoing,
        history: &History,
        overflow: Overflow,
    ) -> Option<(Outgoing, Answer)> {
        let ticket = sent.ticket.as_ref()?;
        let second = self.keeper().recover(ticket, overflow).await.ok()?;
        let answer = self.forward(envelope, &second, history).await.ok()?;
        answer
            .status()
            .is_success()
            .then(|| (second, Answer::from(answer)))
    }
}

async fn hold(answer: &mut Answer, mut start: StreamStart, mut unpacker: Unpacker) -> Begun {
    let mut bytes = 0;
    let mut begun = Begun::NotYet;
    while begun == Begun::NotYet && bytes < HELD_BYTES {
        let frame = poll_fn(|context| Pin::new(&mut answer.rest).poll_frame(context)).await;
        let frame = match frame {
            Some(Ok(frame)) => frame,
            // It is told once: the client has to hear it too, or what broke off looks complete.
            Some(Err(error)) => {
                answer.front.push_back(Err(error));
                return Begun::Speaks;
            }
            None => return Begun::Speaks,
        };
        if let Some(data) = frame.data_ref() {
            bytes += data.len();
            unpacker.feed(data, |plain| begun = start.feed(plain));
        }
        answer.front.push_back(Ok(frame));
    }
    begun
}
