//! The proxy: a request in, the provider's answer out.

use std::sync::{Arc, PoisonError, RwLock};

use axum::body::{Body, Bytes};
use axum::extract::State;
use epitome::{ContextBeta, Reason};
use epitome_engine::model::Borrowed;
use epitome_wire::{Refusal, Unpacker, Wire};
use futures_util::StreamExt;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue, UPGRADE};
use http::{HeaderName, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;

use crate::answer::Watched;
use crate::clock::now_ms;
use crate::config::Config;
use crate::keeper::{Action, Endpoint, Fault, Keeper, Kind, Lent, Outgoing};
use crate::neighbours::Own;
use crate::shape;
use crate::upstream::{Upstream, UpstreamError, end_to_end};

/// Error answers up to this size are looked into.
const ERROR_LIMIT: usize = 256 * 1024;

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// Another one takes its place when the configuration changes.
    pub(crate) keeper: RwLock<Arc<Keeper>>,
    pub(crate) upstream: Upstream,
    pub(crate) openai: Option<Uri>,
    pub(crate) anthropic: Option<Uri>,
    pub(crate) inspection_limit_bytes: usize,
    /// By what it knows its own requests.
    pub(crate) own: Own,
}

/// A request on its way: everything but the body.
struct Envelope<'a> {
    base: &'a Uri,
    method: Method,
    path: String,
    headers: HeaderMap,
    /// Whether the client asked to keep the request out of the store.
    is_private: bool,
    wire: Wire,
}

/// Handles anything under `/v1/`.
pub(crate) async fn handle(
    State(proxy): State<Arc<Proxy>>,
    request: Request<Body>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let wire = shape::provider(parts.uri.path(), &parts.headers);
    let Some(base) = proxy.base(wire) else {
        let message = match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => {
                "no upstream for OpenAI-shaped requests: start epitome with --openai-upstream URL"
            }
            Wire::Anthropic => {
                "no upstream for Anthropic-shaped requests: start epitome with --anthropic-upstream URL"
            }
        };
        return shape::error(wire, StatusCode::BAD_GATEWAY, "no_upstream", message);
    };
    let is_web_socket = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    if parts.headers.get_all(UPGRADE).iter().any(is_web_socket) {
        // Clients that try a WebSocket first fall back to POST on this answer.
        let message = "WebSocket is not served here; use HTTP";
        return shape::error(
            wire,
            StatusCode::UPGRADE_REQUIRED,
            "upgrade_required",
            message,
        );
    }
    let mut headers = end_to_end(&parts.headers);
    proxy.own.mark(base, &mut headers);
    let envelope = Envelope {
        base,
        path: parts
            .uri
            .path_and_query()
            .map_or_else(|| "/".to_owned(), |path| path.as_str().to_owned()),
        headers,
        is_private: parts
            .headers
            .get("x-epitome-store")
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"no")),
        method: parts.method,
        wire,
    };
    let kind = match (envelope.method.as_str(), parts.uri.path()) {
        ("POST", "/v1/chat/completions" | "/v1/responses" | "/v1/messages") => Kind::Turn,
        ("POST", "/v1/messages/count_tokens" | "/v1/responses/input_tokens") => Kind::Count,
        _ => {
            return proxy
                .stream(
                    envelope,
                    body,
                    Action::Passthrough,
                    Reason::NotAConversation,
                )
                .await;
        }
    };
    let header = |name: &str| parts.headers.get(name).map(HeaderValue::as_bytes);
    if header("x-epitome-bypass") == Some(b"1") {
        return proxy
            .stream(envelope, body, Action::Bypassed, Reason::Bypassed)
            .await;
    }
    if parts
        .headers
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding != "identity")
    {
        return proxy
            .stream(envelope, body, Action::Passthrough, Reason::BodyEncoded)
            .await;
    }
    match collect(body, proxy.inspection_limit_bytes).await {
        Collected::Whole(bytes) => proxy.converse(envelope, bytes, kind).await,
        Collected::TooLarge(body) => {
            proxy
                .stream(envelope, body, Action::Passthrough, Reason::BodyTooLarge)
                .await
        }
        Collected::Broken(_) => {
            let message = "the request body ended before it was complete";
            shape::error(wire, StatusCode::BAD_REQUEST, "incomplete_body", message)
        }
    }
}

impl Proxy {
    pub(crate) fn keeper(&self) -> Arc<Keeper> {
        let keeper = self.keeper.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&keeper)
    }

    /// Decides by other settings from the next request on.
    pub(crate) fn reconfigure(&self, config: &Config) {
        let next = Arc::new(self.keeper().reconfigured(config));
        *self.keeper.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    const fn base(&self, wire: Wire) -> Option<&Uri> {
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => self.openai.as_ref(),
            Wire::Anthropic => self.anthropic.as_ref(),
        }
    }

    /// A body that is not read: it goes on as it comes.
    async fn stream(
        &self,
        envelope: Envelope<'_>,
        body: Body,
        action: Action,
        reason: Reason,
    ) -> Response<Body> {
        let Envelope {
            base,
            method,
            path,
            headers,
            wire,
            is_private: _,
        } = envelope;
        match self.upstream.send(base, method, &path, headers, body).await {
            Ok(answer) => {
                let (parts, body) = answer.into_parts();
                let mut response = respond(&parts, Body::new(body));
                say(response.headers_mut(), "x-epitome-action", action.as_str());
                say(response.headers_mut(), "x-epitome-reason", reason.as_str());
                response
            }
            Err(error) => unreachable_upstream(wire, &error),
        }
    }

    /// A conversation: what goes out is decided here, and the answer is listened to. At most one more call is made
    /// than the client asked for.
    async fn converse(&self, envelope: Envelope<'_>, bytes: Bytes, kind: Kind) -> Response<Body> {
        let wire = envelope.wire;
        let authority = envelope.base.authority();
        let keeper = self.keeper();
        let endpoint = Endpoint {
            authority: authority.map_or("", |authority| authority.as_str()),
            lent: keeper.borrows().then(|| {
                Arc::new(Lent {
                    base: envelope.base.to_string(),
                    headers: Borrowed::from_headers(&envelope.headers),
                })
            }),
            context: context_beta(&envelope.headers),
            is_private: envelope.is_private,
        };
        let first = keeper.admit(bytes, wire, &endpoint, kind, now_ms()).await;
        let answer = match self.forward(&envelope, &first).await {
            Ok(answer) => answer,
            Err(error) => return unreachable_upstream(wire, &error),
        };
        let may_be_ours = matches!(answer.status().as_u16(), 400 | 413 | 422 | 500);
        // Who only asks for a size is told what the provider says, and nothing follows from it.
        if !may_be_ours || first.ticket.is_none() || kind == Kind::Count {
            return self.pass_on(answer, &first, wire);
        }
        let (parts, body) = answer.into_parts();
        let (text, body) = read_error(body, &parts.headers).await;
        let again = match text {
            Some(text) => self.second_try(&first, parts.status, &text).await,
            None => Again::Nothing,
        };
        let second = match again {
            Again::Send(second) => second,
            Again::Say(reason) => {
                let reason = first.reason_after(reason);
                return refused(&parts, body, &Outgoing { reason, ..first });
            }
            Again::Nothing => return refused(&parts, body, &first),
        };
        let answer = match self.forward(&envelope, &second).await {
            Ok(answer) => answer,
            Err(error) => return unreachable_upstream(wire, &error),
        };
        let second = match answer.status().is_success() {
            true => second,
            false => Outgoing {
                reason: first.reason_after(second.reason),
                ..second
            },
        };
        if let (Some(refused), Some(sent)) = (&first.ticket, &second.ticket) {
            if answer.status().is_success() {
                self.keeper().accepted(refused, sent);
            } else {
                self.keeper().refused_again(refused, sent);
            }
        }
        self.pass_on(answer, &second, wire)
    }

    /// What to send instead of a request that was refused, if anything.
    async fn second_try(&self, outgoing: &Outgoing, status: StatusCode, text: &[u8]) -> Again {
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
        if outgoing.action != Action::Compacted {
            return Again::Nothing;
        }
        let again = self.keeper().refused(ticket, fault);
        again.map_or(Again::Nothing, Again::Send)
    }

    async fn forward(
        &self,
        envelope: &Envelope<'_>,
        outgoing: &Outgoing,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let mut headers = envelope.headers.clone();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(outgoing.bytes.len()));
        let body = Body::from(outgoing.bytes.clone());
        self.upstream
            .send(
                envelope.base,
                envelope.method.clone(),
                &envelope.path,
                headers,
                body,
            )
            .await
    }

    fn pass_on(
        &self,
        answer: Response<Incoming>,
        outgoing: &Outgoing,
        wire: Wire,
    ) -> Response<Body> {
        let (parts, body) = answer.into_parts();
        let body = match outgoing.ticket.clone() {
            Some(ticket) if parts.status.is_success() => {
                let keeper = self.keeper();
                let report = Box::new(move |seen| keeper.saw(&ticket, seen));
                Body::new(Watched::new(body, &parts.headers, wire, report))
            }
            _ => Body::new(body),
        };
        let mut response = respond(&parts, body);
        announce(response.headers_mut(), outgoing);
        response
    }
}

/// What follows a refusal.
enum Again {
    /// This is sent instead.
    Send(Outgoing),
    /// Nothing helps, for this reason: the provider's answer is passed on.
    Say(Reason),
    /// It is not about us: the provider's answer is passed on.
    Nothing,
}

enum Collected {
    Whole(Bytes),
    TooLarge(Body),
    /// What came of it, ending in the same error.
    Broken(Body),
}

/// Reads a body up to `limit`; a larger one is handed back whole, with what was read in front.
async fn collect(body: Body, limit: usize) -> Collected {
    let expected = http_body::Body::size_hint(&body).lower();
    let expected = usize::try_from(expected).unwrap_or(usize::MAX);
    if expected > limit {
        return Collected::TooLarge(body);
    }
    let mut stream = body.into_data_stream();
    let mut first: Option<Bytes> = None;
    let mut buffer: Vec<u8> = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                let read = [first.unwrap_or_default(), buffer.into()];
                let front = futures_util::stream::iter(read.map(Ok));
                // What came is sent before the error closes the connection.
                let end = futures_util::stream::once(async {
                    tokio::task::yield_now().await;
                    Err(error)
                });
                return Collected::Broken(Body::from_stream(front.chain(end)));
            }
        };
        if buffer.len() + first.as_ref().map_or(0, Bytes::len) + chunk.len() > limit {
            let read = [first.unwrap_or_default(), buffer.into(), chunk];
            let front = futures_util::stream::iter(read.map(Ok::<_, axum::Error>));
            return Collected::TooLarge(Body::from_stream(front.chain(stream)));
        }
        // A body that arrives in one piece is not copied.
        match first.take() {
            None if buffer.is_empty() => first = Some(chunk),
            None => buffer.extend_from_slice(&chunk),
            Some(earlier) => {
                buffer.reserve(expected.max(earlier.len() + chunk.len()));
                buffer.extend_from_slice(&earlier);
                buffer.extend_from_slice(&chunk);
            }
        }
    }
    Collected::Whole(first.unwrap_or_else(|| buffer.into()))
}

/// What a body says, whatever it is packed in; `None` where that is not known.
fn unpacked(bytes: &Bytes, headers: &HeaderMap) -> Option<Bytes> {
    let encoding = headers.get(CONTENT_ENCODING);
    let encoding = encoding.map_or("", |value| value.to_str().unwrap_or("unknown"));
    let mut unpacker = Unpacker::of(encoding)?;
    let mut plain = Vec::new();
    unpacker.feed(bytes, |part| plain.extend_from_slice(part));
    (!unpacker.is_broken()).then(|| plain.into())
}

/// The text of an error answer, and the answer to be passed on all the same.
async fn read_error(body: Incoming, headers: &HeaderMap) -> (Option<Bytes>, Body) {
    match collect(Body::new(body), ERROR_LIMIT).await {
        Collected::Whole(bytes) => (unpacked(&bytes, headers), Body::from(bytes)),
        Collected::TooLarge(body) | Collected::Broken(body) => (None, body),
    }
}

/// Whether a request asks for the long context that some models have only then.
fn context_beta(headers: &HeaderMap) -> ContextBeta {
    let values = headers.get_all("anthropic-beta").iter();
    let betas = values.filter_map(|value| value.to_str().ok());
    let asked = betas.map(ContextBeta::of_header);
    asked
        .rev()
        .find(|beta| *beta != ContextBeta::None)
        .unwrap_or_default()
}

/// A refusal as the provider sent it, with what was done about it.
fn refused(parts: &http::response::Parts, body: Body, outgoing: &Outgoing) -> Response<Body> {
    let mut response = respond(parts, body);
    announce(response.headers_mut(), outgoing);
    response
}

/// The provider's answer, with its own status and headers.
fn respond(parts: &http::response::Parts, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = parts.status;
    *response.headers_mut() = end_to_end(&parts.headers);
    response
}

/// Says in the headers what was done and why.
fn announce(headers: &mut HeaderMap, outgoing: &Outgoing) {
    say(headers, "x-epitome-action", outgoing.action.as_str());
    say(headers, "x-epitome-reason", outgoing.reason.as_str());
    if let Some(size) = outgoing.size {
        say(
            headers,
            "x-epitome-tokens",
            &format!("{};{}", size.before, size.after),
        );
    }
    if let Some(ticket) = &outgoing.ticket {
        say(
            headers,
            "x-epitome-conversation",
            ticket.place.conversation.as_str(),
        );
    }
}

fn say(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

fn unreachable_upstream(wire: Wire, error: &UpstreamError) -> Response<Body> {
    let message = format!("epitome: {error}");
    shape::error(
        wire,
        StatusCode::BAD_GATEWAY,
        "upstream_unreachable",
        &message,
    )
}
