//! A request on its way to the provider: packed as it came, or plain.

use http::Response;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use hyper::body::Incoming;

use super::history::History;
use super::{Envelope, Exchange};
use crate::keeper::Outgoing;
use crate::upstream::{Head, UpstreamError};

impl Exchange<'_> {
    /// Sends a request on.
    ///
    /// # Errors
    /// When no answer comes.
    pub(super) async fn forward(
        &self,
        envelope: &Envelope<'_>,
        outgoing: &Outgoing,
        history: &History,
    ) -> Result<Response<Incoming>, UpstreamError> {
        if let Some(ticket) = outgoing.ticket.as_ref().filter(|_| !envelope.is_private) {
            let conversation = ticket.place.conversation.as_str();
            self.tenant.clients.saw(conversation, &envelope.headers);
        }
        let is_own = history.is_own(outgoing);
        let bytes = match &envelope.packed {
            Some(packed) if is_own => packed,
            _ => &outgoing.bytes,
        };
        let head = || {
            let mut headers = envelope.headers.clone();
            if !is_own {
                // What we made of a packed request goes out plain.
                headers.remove(CONTENT_ENCODING);
            }
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            Head {
                base: envelope.base,
                method: envelope.method.clone(),
                path_and_query: &envelope.path,
                headers,
            }
        };
        let sent = self.proxy.upstream.whole(head, bytes).await;
        self.reached(envelope.wire, sent.is_ok());
        sent
    }
}
