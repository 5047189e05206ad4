use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::record::Ticket;

/// What follows the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    Cut,
    Stall,
}

/// A response body that is sent in chosen pieces and may end badly.
#[derive(Debug)]
pub(super) struct Playback {
    rest: Bytes,
    pieces: Pieces,
    ending: Ending,
    has_length: bool,
    is_flushing: bool,
    /// The time between two pieces, and what is left of it.
    pause: Option<(Duration, Pin<Box<Sleep>>)>,
    ticket: Ticket,
}

#[derive(Debug)]
pub(super) enum Pieces {
    Whole,
    Equal(usize),
    Lengths(VecDeque<usize>),
}

impl Pieces {
    fn next(&mut self, available: usize) -> usize {
        let length = match self {
            Self::Whole => available,
            Self::Equal(length) => *length,
            Self::Lengths(lengths) => lengths.pop_front().unwrap_or(available),
        };
        length.clamp(1, available)
    }
}

impl Playback {
    pub(super) fn new(body: Bytes, pieces: Pieces, ending: Ending, ticket: Ticket) -> Self {
        Self {
            has_length: matches!(pieces, Pieces::Whole) && matches!(ending, Ending::Complete),
            rest: body,
            pieces,
            ending,
            is_flushing: false,
            pause: None,
            ticket,
        }
    }

    /// Waits so long before every piece but the first.
    pub(super) fn dripping(mut self, pause: Duration) -> Self {
        self.pause = Some((pause, Box::pin(tokio::time::sleep(Duration::ZERO))));
        self
    }

    /// Sends the body without announcing its length, as streams are sent.
    pub(super) fn without_length(mut self) -> Self {
        self.has_length = false;
        self
    }
}

impl Body for Playback {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        // One pause after each piece makes the connection flush it, so that pieces are not joined on the way.
        if std::mem::take(&mut self.is_flushing) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some((pause, sleep)) = &mut self.pause {
            ready!(sleep.as_mut().poll(context));
            let pause = *pause;
            sleep.as_mut().reset(Instant::now() + pause);
        }
        if self.rest.is_empty() {
            return match self.ending {
                Ending::Complete => {
                    self.ticket.complete();
                    Poll::Ready(None)
                }
                Ending::Cut => Poll::Ready(Some(Err(io::Error::other("cut by the script")))),
                Ending::Stall => Poll::Pending,
            };
        }
        let available = self.rest.len();
        let length = self.pieces.next(available);
        let piece = self.rest.split_to(length);
        if self.is_end_stream() {
            self.ticket.complete();
        } else {
            self.is_flushing = true;
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.ending == Ending::Complete
    }

    fn size_hint(&self) -> SizeHint {
        if self.has_length {
            SizeHint::with_exact(self.rest.len() as u64)
        } else {
            SizeHint::default()
        }
    }
}
