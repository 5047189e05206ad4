//! The provider's answer on its way to the client: passed on as it comes, watched in passing.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use epitome_wire::{AnswerItems, Counted, Overflow, StreamWatch, Unpacker, Wire, counted};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

/// Answers larger than this are not collected to read their usage.
const COLLECT_LIMIT: usize = 4 << 20;

/// What was read of an answer before it is passed on, an error at its end included.
pub(crate) type Front = VecDeque<Result<Frame<Bytes>, hyper::Error>>;

/// A body that goes through unchanged. What was seen in it is reported once, when it is known for good.
pub(crate) struct Watched {
    /// What was taken from the front of it.
    front: Front,
    inner: Incoming,
    unpacker: Unpacker,
    watch: Watch,
    look_for: LookFor,
    report: Option<Report>,
}

/// What an answer says about its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// What the provider counted.
    pub(crate) counted: Option<Counted>,
    /// That the request is too long, said after the answer began.
    pub(crate) overflow: Option<Overflow>,
    /// What later requests may name instead of sending it.
    pub(crate) items: AnswerItems,
}

/// What is looked for in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookFor {
    /// What the provider counted.
    Counts,
    /// And the items that later requests may name.
    Items,
}

type Report = Box<dyn FnOnce(Seen) + Send>;

enum Watch {
    Events(Box<StreamWatch>),
    Json(Wire, Vec<u8>),
    Nothing,
}

impl Watched {
    pub(crate) fn new(
        (front, inner): (Front, Incoming),
        headers: &HeaderMap,
        wire: Wire,
        look_for: LookFor,
        report: Report,
    ) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = header("content-type").unwrap_or_default();
        let unpacker = Unpacker::of(header("content-encoding").unwrap_or_default());
        let watch = if unpacker.is_none() {
            Watch::Nothing
        } else if content_type.starts_with("text/event-stream") {
            let watch = StreamWatch::new(wire);
            Watch::Events(Box::new(match look_for {
                LookFor::Counts => watch,
                LookFor::Items => watch.with_items(),
            }))
        } else if content_type.starts_with("application/json") {
            Watch::Json(wire, Vec::new())
        } else {
            Watch::Nothing
        };
        Self {
            front,
            inner,
            unpacker: unpacker.unwrap_or_default(),
            watch,
            look_for,
            report: Some(report),
        }
    }

    fn look(&mut self, bytes: &Bytes) {
        let Self {
            unpacker, watch, ..
        } = self;
        if matches!(watch, Watch::Nothing) {
            return;
        }
        unpacker.feed(bytes, |plain| match watch {
            Watch::Events(events) => events.feed(plain),
            Watch::Json(_, collected) if collected.len() + plain.len() <= COLLECT_LIMIT => {
                collected.extend_from_slice(plain);
            }
            Watch::Json(..) => *watch = Watch::Nothing,
            Watch::Nothing => {}
        });
    }

    fn finish(&mut self) {
        let Some(report) = self.report.take() else {
            return;
        };
        report(match &mut self.watch {
            Watch::Events(watch) => Seen {
                counted: watch.counted(),
                overflow: watch.overflow(),
                items: watch.take_items(),
            },
            Watch::Json(wire, collected) => Seen {
                counted: counted(*wire, collected),
                overflow: Overflow::in_success(collected),
                items: match self.look_for {
                    LookFor::Counts => AnswerItems::default(),
                    LookFor::Items => AnswerItems::of(*wire, collected),
                },
            },
            Watch::Nothing => Seen::default(),
        });
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match self.front.pop_front() {
            Some(frame) => Some(frame),
            None => std::task::ready!(Pin::new(&mut self.inner).poll_frame(context)),
        };
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.look(data);
                }
            }
            None => self.finish(),
            Some(Err(_)) => {}
        }
        if self.is_end_stream() {
            self.finish();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.front.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.front.is_empty() {
            true => self.inner.size_hint(),
            false => SizeHint::default(),
        }
    }
}

/// A client that hangs up early still tells what the request took.
impl Drop for Watched {
    fn drop(&mut self) {
        self.finish();
    }
}
