//! The provider's answer on its way to the client: passed on as it comes, watched in passing.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use epitome_wire::{UsageWatch, Wire, input_tokens};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

/// Answers larger than this are not collected to read their usage.
const COLLECT_LIMIT: usize = 4 << 20;

/// A body that goes through unchanged. What the provider counted is reported once, when it is known for good.
pub(crate) struct Watched {
    inner: Incoming,
    watch: Watch,
    report: Option<Report>,
}

type Report = Box<dyn FnOnce(u64) + Send>;

enum Watch {
    Events(UsageWatch),
    Json(Wire, Vec<u8>),
    Nothing,
}

impl Watched {
    pub(crate) fn new(inner: Incoming, headers: &HeaderMap, wire: Wire, report: Report) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = header("content-type").unwrap_or_default();
        let is_encoded = header("content-encoding").is_some_and(|coding| coding != "identity");
        let watch = if is_encoded {
            Watch::Nothing
        } else if content_type.starts_with("text/event-stream") {
            Watch::Events(UsageWatch::new(wire))
        } else if content_type.starts_with("application/json") {
            Watch::Json(wire, Vec::new())
        } else {
            Watch::Nothing
        };
        Self {
            inner,
            watch,
            report: Some(report),
        }
    }

    fn look(&mut self, bytes: &Bytes) {
        match &mut self.watch {
            Watch::Events(watch) => watch.feed(bytes),
            Watch::Json(_, collected) if collected.len() + bytes.len() <= COLLECT_LIMIT => {
                collected.extend_from_slice(bytes);
            }
            Watch::Json(..) => self.watch = Watch::Nothing,
            Watch::Nothing => {}
        }
    }

    fn finish(&mut self) {
        let counted = match &self.watch {
            Watch::Events(watch) => watch.input_tokens(),
            Watch::Json(wire, collected) => input_tokens(*wire, collected),
            Watch::Nothing => None,
        };
        if let Some(report) = self.report.take()
            && let Some(tokens) = counted
        {
            report(tokens);
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.look(data);
                }
            }
            None => self.finish(),
            Some(Err(_)) => {}
        }
        if self.inner.is_end_stream() {
            self.finish();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A client that hangs up early still tells what the request took.
impl Drop for Watched {
    fn drop(&mut self) {
        self.finish();
    }
}
