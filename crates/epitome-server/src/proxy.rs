//! The proxy: a request in, the provider's answer out.

mod again;
mod beginning;
mod forward;
mod history;
mod incoming;
mod steering;

use again::Again;
use beginning::{Answer, Beginning};
use history::History;
pub(crate) use incoming::Unpacking;
use incoming::{Collected, collect, context_beta, encoding, is_known, read_error};

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use axum::body::{Body, Bytes};
use axum::extract::State;
use epitome::Reason;
use epitome_engine::model::Borrowed;
use epitome_wire::Wire;
use http::header::{HeaderMap, HeaderValue, UPGRADE};
use http::{Method, Request, Response, StatusCode, Uri};

use crate::answer::{LookFor, Seen, Watched};

use crate::clock::{Stopwatch, now_ms};
use crate::config::ShownSetting;
use crate::keeper::{Action, Endpoint, Keeper, Kind, Lent, Outgoing, SecondRefusal};
use crate::neighbours::Own;
use crate::shape::{self, say};
use crate::tally::{Answered, Reached};
use crate::tenants::{Founder, Peer, Register, Tenant};
use crate::upstream::{Head, Upstream, UpstreamError, end_to_end};

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// Who asks. Another one takes its place when the configuration changes.
    pub(crate) register: RwLock<Arc<Register>>,
    pub(crate) founder: Founder,
    pub(crate) upstream: Upstream,
    pub(crate) openai: Option<Uri>,
    pub(crate) anthropic: Option<Uri>,
    pub(crate) inspection_limit_bytes: usize,
    /// How the upstreams have been doing, whoever asked.
    pub(crate) reached: Reached,
    /// Requests of nobody that is known.
    pub(crate) strangers: AtomicU64,
    /// The settings as they are shown, each with where it comes from.
    pub(crate) shown: RwLock<Arc<[ShownSetting]>>,
    pub(crate) unpacking: Unpacking,
    /// By what it knows its own requests.
    pub(crate) own: Own,
}

/// A request of a tenant, and what it is held with.
struct Exchange<'p> {
    proxy: &'p Proxy,
    tenant: &'p Tenant,
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
    /// The body as it came, where it is packed.
    packed: Option<Bytes>,
}

/// Handles anything under `/v1/`.
pub(crate) async fn handle(
    State(proxy): State<Arc<Proxy>>,
    request: Request<Body>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let wire = shape::provider(parts.uri.path(), &parts.headers);
    let register = proxy.register();
    let peer = parts.extensions.get::<Peer>().copied();
    let Some(tenant) = register.of_request(&parts.headers, peer) else {
        return proxy.stranger(wire, peer);
    };
    let exchange = Exchange {
        proxy: &proxy,
        tenant,
    };
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
    register.hide(&mut headers);
    proxy.own.mark(base, &mut headers);
    let mut envelope = Envelope {
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
        packed: None,
    };
    let kind = match (envelope.method.as_str(), parts.uri.path()) {
        ("POST", "/v1/chat/completions" | "/v1/responses" | "/v1/messages") => Kind::Turn,
        ("POST", "/v1/messages/count_tokens" | "/v1/responses/input_tokens") => Kind::Count,
        _ => {
            return exchange
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
        return exchange
            .stream(envelope, body, Action::Bypassed, Reason::Bypassed)
            .await;
    }
    let encoding = encoding(&parts.headers);
    if encoding.as_deref().is_some_and(|names| !is_known(names)) {
        return exchange
            .stream(envelope, body, Action::Passthrough, Reason::BodyEncoded)
            .await;
    }
    let bytes = match collect(body, proxy.inspection_limit_bytes).await {
        Collected::Whole(bytes) => bytes,
        Collected::TooLarge(body) => {
            return exchange
                .stream(envelope, body, Action::Passthrough, Reason::BodyTooLarge)
                .await;
        }
        Collected::Broken(_) => {
            let message = "the request body ended before it was complete";
            return shape::error(wire, StatusCode::BAD_REQUEST, "incomplete_body", message);
        }
    };
    let plain = match encoding {
        None => bytes,
        Some(encoding) => {
            let limit = proxy.inspection_limit_bytes;
            match proxy.unpacking.unpack(bytes.clone(), encoding, limit).await {
                Ok(plain) => {
                    envelope.packed = Some(bytes);
                    plain
                }
                Err(reason) => {
                    let body = Body::from(bytes);
                    return exchange
                        .stream(envelope, body, Action::Passthrough, reason)
                        .await;
                }
            }
        }
    };
    // By far the largest future here, which connections that only wait should not hold room for.
    Box::pin(exchange.converse(envelope, plain, kind)).await
}

impl Proxy {
    pub(crate) const fn base(&self, wire: Wire) -> Option<&Uri> {
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => self.openai.as_ref(),
            Wire::Anthropic => self.anthropic.as_ref(),
        }
    }

    /// A request that nobody known sent: it goes nowhere. What it brought to be known by is not said.
    fn stranger(&self, wire: Wire, peer: Option<Peer>) -> Response<Body> {
        let count = self.strangers.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            let peer = peer.map(|Peer(address)| address);
            tracing::warn!(count, ?peer, "a request of nobody that is known is refused");
        }
        let message = "this proxy does not know who asks: send the key that its operator gave you in the header x-epitome-key";
        shape::error(wire, StatusCode::UNAUTHORIZED, "unknown_tenant", message)
    }
}

impl Exchange<'_> {
    fn keeper(&self) -> Arc<Keeper> {
        self.tenant.keeper()
    }

    fn reached(&self, wire: Wire, has_answered: bool) {
        self.proxy.reached.note(wire, has_answered);
        self.tenant.tally.reached().note(wire, has_answered);
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
            packed: _,
        } = envelope;
        self.tenant.tally.streamed(action, reason);
        let head = Head {
            base,
            method,
            path_and_query: &path,
            headers,
        };
        let sent = self.proxy.upstream.stream(head, body).await;
        self.reached(wire, sent.is_ok());
        match sent {
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
        let stopwatch = Stopwatch::start();
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
        let body = epitome_wire::Body::scan(bytes.clone(), wire);
        let history = self.history(&envelope, &bytes, &body, kind).await;
        let (asked, body) = match history.in_full() {
            Some(full) => (full.clone(), epitome_wire::Body::scan(full.clone(), wire)),
            None => (bytes, body),
        };
        let first = keeper.admit(asked, body, &endpoint, kind, now_ms()).await;
        let first = history.as_sent(first);
        self.tenant.tally.held_for(stopwatch.taken());
        let answer = match self.forward(&envelope, &first, &history).await {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(wire, &error, &first),
        };
        let answer = match self.beginning(answer, &first, wire, kind).await {
            Beginning::TooLong(overflow, held) => {
                match self
                    .second_stream(&envelope, &first, &history, overflow)
                    .await
                {
                    Some((second, answer)) => {
                        self.note_taken(&answer, &second, kind).await;
                        return self.pass_on(answer, &second, (wire, kind), history);
                    }
                    None => *held,
                }
            }
            Beginning::Of(answer) => *answer,
        };
        self.note_taken(&answer, &first, kind).await;
        let may_be_ours = matches!(answer.status().as_u16(), 400 | 413 | 422 | 500);
        // Who only asks for a size is told what the provider says, and nothing follows from it.
        if !may_be_ours || first.ticket.is_none() || kind == Kind::Count {
            return self.pass_on(answer, &first, (wire, kind), history);
        }
        let Answer { parts, rest, .. } = answer;
        let (text, body) = read_error(rest, &parts.headers).await;
        let again = match text {
            Some(text) => self.second_try(&first, &history, parts.status, &text).await,
            None => Again::Nothing,
        };
        let second = match again {
            Again::Send(second) => second,
            Again::Say(reason) => {
                let reason = first.reason_after(reason);
                return self.refused(&parts, body, &Outgoing { reason, ..first });
            }
            Again::Nothing => return self.refused(&parts, body, &first),
        };
        let answer = match self.forward(&envelope, &second, &history).await {
            Ok(answer) => Answer::from(answer),
            Err(error) => return self.unanswered(wire, &error, &second),
        };
        let second = match answer.status().is_success() {
            true => second,
            false => Outgoing {
                reason: first.reason_after(second.reason),
                ..second
            },
        };
        if answer.status().is_success() {
            history.note_refused(&first, &second);
        }
        if let (Some(refused), Some(sent)) = (&first.ticket, &second.ticket) {
            self.note_taken(&answer, &second, kind).await;
            if answer.status().is_success() {
                self.keeper().accepted(refused, sent);
            } else {
                let why = SecondRefusal::of(second.reason, answer.status());
                self.keeper().refused_again(refused, sent, why);
            }
        }
        self.pass_on(answer, &second, (wire, kind), history)
    }

    /// Keeps a turn that the provider took, and what it was shown.
    async fn note_taken(&self, answer: &Answer, outgoing: &Outgoing, kind: Kind) {
        if let Some(ticket) = &outgoing.ticket
            && answer.status().is_success()
            && kind == Kind::Turn
        {
            self.keeper().went_out(ticket).await;
        }
    }

    fn pass_on(
        &self,
        answer: Answer,
        outgoing: &Outgoing,
        (wire, kind): (Wire, Kind),
        history: History,
    ) -> Response<Body> {
        let Answer { parts, front, rest } = answer;
        let answered = match parts.status.is_success() && kind == Kind::Turn {
            true => Answered::Turn,
            false => Answered::Nothing,
        };
        let ticket = outgoing.ticket.clone();
        let open = history.open(outgoing);
        let is_named = ticket
            .as_ref()
            .is_some_and(|ticket| ticket.body.lets_items_be_named());
        let look_for = match is_named || open.is_some() {
            true => LookFor::Items,
            false => LookFor::Counts,
        };
        let body = match parts.status.is_success() && (ticket.is_some() || open.is_some()) {
            true => {
                let (keeper, histories) = (self.keeper(), Arc::clone(&self.tenant.histories));
                let tally = Arc::clone(&self.tenant.tally);
                let report = Box::new(move |seen: Seen| {
                    if let Some(counted) = seen.counted {
                        tally.counted(counted);
                    }
                    if let Some(open) = open {
                        histories.close(open, &seen.items);
                    }
                    if let Some(ticket) = ticket {
                        keeper.saw(&ticket, seen);
                    }
                });
                let watched = (front, rest);
                Body::new(Watched::new(
                    watched,
                    &parts.headers,
                    wire,
                    look_for,
                    report,
                ))
            }
            false => Body::new(rest),
        };
        let mut response = respond(&parts, body);
        self.announce(response.headers_mut(), outgoing, answered);
        response
    }

    /// A refusal as the provider sent it, with what was done about it.
    fn refused(
        &self,
        parts: &http::response::Parts,
        body: Body,
        outgoing: &Outgoing,
    ) -> Response<Body> {
        let mut response = respond(parts, body);
        self.announce(response.headers_mut(), outgoing, Answered::Nothing);
        response
    }

    fn unanswered(&self, wire: Wire, error: &UpstreamError, outgoing: &Outgoing) -> Response<Body> {
        let mut response = unreachable_upstream(wire, error);
        self.announce(response.headers_mut(), outgoing, Answered::Nothing);
        response
    }

    /// Says in the headers what was done and why, and counts it.
    fn announce(&self, headers: &mut HeaderMap, outgoing: &Outgoing, answered: Answered) {
        self.tenant.tally.went_out(outgoing, answered);
        say(headers, "x-epitome-action", outgoing.action.as_str());
        say(headers, "x-epitome-reason", outgoing.reason.as_str());
        if let Some(size) = outgoing.size {
            let size = format!("{};{}", size.before, size.after);
            say(headers, "x-epitome-tokens", &size);
        }
        if let Some(ticket) = &outgoing.ticket {
            let conversation = ticket.place.conversation.as_str();
            say(headers, "x-epitome-conversation", conversation);
        }
    }
}

/// The provider's answer, with its own status and headers.
fn respond(parts: &http::response::Parts, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = parts.status;
    *response.headers_mut() = end_to_end(&parts.headers);
    response
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
