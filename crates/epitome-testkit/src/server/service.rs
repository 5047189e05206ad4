use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::agent::{self, Pace};
use super::cache::{self, PrefixCache};
use super::config::{Chunking, Echo, ModelConfig, Script};
use super::fault::Fault;
use super::hook::Asked;
use super::kept::Kept;
use super::playback::{Ending, Pieces, Playback};
use super::record::{Delivery, Recorded, Records, Ticket};
use super::rendered::{Exchange, Rendered};
use super::reply::{Answer, Content, Reply};
use super::{anthropic, errors, openai_chat, openai_responses};
use crate::strict::{self, Violation};
use crate::{Wire, tokens};

const GARBAGE: &[u8] = b"<html>\xff\xfe{\"choices\": [{\"delta\"\n\n: nothing you can parse";
const STREAM_GARBAGE: &[u8] = b"event: what\ndata: {\"unfinished\": [\nnonsense \xc3\x28\n\n";

/// Everything the connections of one server share.
#[derive(Debug)]
pub(super) struct Service {
    config: ModelConfig,
    records: Records,
    replies: Mutex<VecDeque<Reply>>,
    cache: PrefixCache,
    kept: Kept,
    received: AtomicUsize,
    windows: Mutex<Windows>,
}

/// The windows as they are now.
#[derive(Debug)]
struct Windows {
    usual: u64,
    named: BTreeMap<String, u64>,
}

/// What a path asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Messages(Wire),
    CountTokens(Wire),
    Models,
    /// A wish to go on over a web socket, which it has none of.
    Upgrade,
    Unknown,
}

/// A request after it was read and checked.
struct Inspected {
    request: Value,
    input_tokens: Option<u64>,
    violations: Vec<Violation>,
}

impl Service {
    pub(super) fn new(config: ModelConfig) -> Self {
        let replies = match &config.script {
            Script::Fixed(replies) => replies.iter().cloned().collect(),
            _ => VecDeque::new(),
        };
        Self {
            windows: Mutex::new(Windows {
                usual: config.window_tokens,
                named: config.windows.iter().cloned().collect(),
            }),
            config,
            records: Records::default(),
            replies: Mutex::new(replies),
            cache: PrefixCache::default(),
            kept: Kept::default(),
            received: AtomicUsize::new(0),
        }
    }

    pub(super) const fn records(&self) -> &Records {
        &self.records
    }

    pub(super) fn set_window(&self, window_tokens: u64) {
        self.windows().usual = window_tokens;
    }

    pub(super) fn set_window_of(&self, model: &str, window_tokens: u64) {
        self.windows().named.insert(model.to_owned(), window_tokens);
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request; an error closes the connection without an answer.
    pub(super) async fn serve(&self, request: Request<Incoming>) -> io::Result<Response<Playback>> {
        let (parts, mut body) = request.into_parts();
        let endpoint = match endpoint(&parts.method, parts.uri.path()) {
            Endpoint::Unknown if parts.headers.contains_key("upgrade") => Endpoint::Upgrade,
            endpoint => endpoint,
        };
        if self.config.unchecked {
            while let Some(frame) = body.frame().await {
                frame.map_err(io::Error::other)?;
            }
            return Ok(self.respond(tiny(endpoint), Ending::Complete, None, Ticket::blank()));
        }
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let number = self.received.fetch_add(1, Ordering::Relaxed);
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let kept = self.config.keeps_answers.then_some(&self.kept);
        let mut inspected = inspect(endpoint, &body, kept);
        let wire = wire_of(endpoint, &parts.headers);
        let refusal = self.ask_hooks(number, path, wire, &body, &mut inspected);
        let ticket = if self.config.keeps_records {
            self.records.add(Recorded {
                number,
                method: parts.method.clone(),
                path: path.to_owned(),
                headers: parts.headers.clone(),
                body: body.clone(),
                status: None,
                input_tokens: inspected.input_tokens,
                violations: inspected.violations.clone(),
                delivery: Delivery::Pending,
            })
        } else {
            Ticket::blank()
        };
        let faults = self.config.faults.of(number);
        for fault in &faults {
            match fault {
                Fault::Delay(time) => tokio::time::sleep(*time).await,
                Fault::Hang => std::future::pending().await,
                Fault::Close => return Err(io::Error::other("closed by the script")),
                _ => {}
            }
        }
        let replaced = faults.iter().find_map(|fault| replacement(wire, *fault));
        let mut rendered = match (replaced, refusal) {
            (Some(rendered), _) => rendered,
            (None, _) if self.config.echo != Echo::Off => self.echo(body),
            (None, Some(reply)) => fixed(&exchange(wire, &body, &inspected), reply),
            (None, None) => self.answer(endpoint, wire, &parts.method, path, &body, &inspected),
        };
        let mut ending = Ending::Complete;
        for fault in &faults {
            match fault {
                Fault::Cut => ending = Ending::Cut,
                Fault::Stall => ending = Ending::Stall,
                Fault::GarbageInStream => rendered.insert_in_stream(STREAM_GARBAGE, false),
                Fault::ErrorInStream => {
                    rendered.insert_in_stream(errors::stream_event(wire).as_bytes(), true);
                }
                _ => {}
            }
        }
        let pause = faults.iter().find_map(|fault| match fault {
            Fault::Drip(pause) => Some(*pause),
            _ => None,
        });
        Ok(self.respond(rendered, ending, pause, ticket))
    }

    /// Counts a request as the configuration says, and asks it for a refusal.
    fn ask_hooks(
        &self,
        number: usize,
        path: &str,
        wire: Wire,
        body: &Bytes,
        inspected: &mut Inspected,
    ) -> Option<Reply> {
        let asked = Asked {
            number,
            path,
            wire,
            request: &inspected.request,
            body,
            plain_tokens: inspected.input_tokens?,
        };
        let refusal = self.config.refuses.of(asked);
        inspected.input_tokens = Some(self.config.counts.of(asked));
        refusal
    }

    fn answer(
        &self,
        endpoint: Endpoint,
        wire: Wire,
        method: &Method,
        path: &str,
        body: &Bytes,
        inspected: &Inspected,
    ) -> Rendered {
        match endpoint {
            Endpoint::Models => Rendered::json(
                200,
                &match wire {
                    Wire::OpenaiChat | Wire::OpenaiResponses => openai_chat::models(),
                    Wire::Anthropic => anthropic::models(),
                },
            ),
            Endpoint::Upgrade => errors::error(wire, 426, "invalid_request_error", "No WebSocket"),
            Endpoint::Unknown => errors::not_found(wire, method.as_str(), path),
            Endpoint::CountTokens(_) | Endpoint::Messages(_) => {
                let is_raw = matches!(self.config.script, Script::Raw { .. });
                if self.config.rejects_violations
                    && !is_raw
                    && let Some(violation) = inspected.violations.first()
                {
                    return errors::refusal(wire, violation);
                }
                if matches!(endpoint, Endpoint::CountTokens(_)) {
                    return Rendered::json(200, &json!({"input_tokens": inspected.input_tokens}));
                }
                self.scripted(exchange(wire, body, inspected))
            }
        }
    }

    fn scripted(&self, mut exchange: Exchange<'_>) -> Rendered {
        if let Script::Raw {
            status,
            content_type,
            body,
        } = &self.config.script
        {
            return Rendered::raw(*status, content_type, body.clone()).recognise_stream();
        }
        let window = self.window_of(exchange.model());
        if let Some(overflow) = errors::overflow(&exchange, window, self.config.counts_output) {
            return overflow;
        }
        if self.config.simulates_cache {
            exchange.split = self.cache.split(&exchange);
        }
        if let Script::Agent {
            tool_every,
            parallel_every,
            words,
        } = self.config.script
        {
            let pace = Pace {
                tool_every,
                parallel_every,
                words,
            };
            let answer = agent::answer(&exchange, pace);
            self.keep(&exchange, &answer);
            return render(&exchange, &answer);
        }
        if let Script::By(respond) = &self.config.script {
            let reply = (respond.0)(exchange.request);
            if let Content::Answer(answer) = &reply.content {
                self.keep(&exchange, answer);
            }
            return fixed(&exchange, reply);
        }
        let next = self
            .replies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        next.map_or_else(
            || errors::server_error(exchange.wire, "the script has no reply left"),
            |reply| fixed(&exchange, reply),
        )
    }

    fn keep(&self, exchange: &Exchange<'_>, answer: &Answer) {
        if self.config.keeps_answers && exchange.wire == Wire::OpenaiResponses {
            let items = openai_responses::items(exchange, answer);
            let id = openai_responses::identifier(exchange);
            self.kept.keep(exchange.request, id, items);
        }
    }

    fn window_of(&self, model: &str) -> u64 {
        let windows = self.windows();
        windows.named.get(model).copied().unwrap_or(windows.usual)
    }

    fn echo(&self, body: Bytes) -> Rendered {
        let length = body.len();
        let digest = blake3::hash(&body).to_hex();
        let rendered = match self.config.echo {
            Echo::Digest => {
                Rendered::json(200, &json!({"length": length, "blake3": digest.as_str()}))
            }
            Echo::Body | Echo::Off => Rendered::raw(200, "application/octet-stream", body),
        };
        rendered
            .with_header("x-received-length", &length.to_string())
            .with_header("x-received-blake3", &digest)
    }

    fn respond(
        &self,
        mut rendered: Rendered,
        ending: Ending,
        pause: Option<Duration>,
        ticket: Ticket,
    ) -> Response<Playback> {
        ticket.answered(rendered.status);
        if ending != Ending::Complete {
            rendered.body.truncate(rendered.body.len() / 2);
        }
        let is_stream = rendered.events.is_some();
        let pieces = match (self.config.chunking, rendered.events) {
            (Chunking::Bytes(length), _) => Pieces::Equal(length),
            (Chunking::Events, Some(lengths)) => Pieces::Lengths(lengths.into()),
            _ => Pieces::Whole,
        };
        let mut playback = Playback::new(rendered.body, pieces, ending, ticket);
        if is_stream {
            playback = playback.without_length();
        }
        if let Some(pause) = pause {
            playback = playback.dripping(pause);
        }
        let mut response = Response::new(playback);
        *response.status_mut() =
            StatusCode::from_u16(rendered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = rendered.headers;
        response
    }
}

fn exchange<'a>(wire: Wire, body: &Bytes, inspected: &'a Inspected) -> Exchange<'a> {
    let input_tokens = inspected.input_tokens.unwrap_or(0);
    Exchange {
        wire,
        request: &inspected.request,
        input_tokens,
        split: cache::pretend(wire, &inspected.request, input_tokens),
        digest: blake3::hash(body),
    }
}

fn endpoint(method: &Method, path: &str) -> Endpoint {
    match (method.as_str(), path) {
        ("POST", "/v1/chat/completions") => Endpoint::Messages(Wire::OpenaiChat),
        ("POST", "/v1/responses") => Endpoint::Messages(Wire::OpenaiResponses),
        ("POST", "/v1/messages") => Endpoint::Messages(Wire::Anthropic),
        ("POST", "/v1/messages/count_tokens") => Endpoint::CountTokens(Wire::Anthropic),
        ("POST", "/v1/responses/input_tokens") => Endpoint::CountTokens(Wire::OpenaiResponses),
        ("GET", "/v1/models") => Endpoint::Models,
        _ => Endpoint::Unknown,
    }
}

/// Whose error shape a request gets: by endpoint, and by the version header where the path does not tell.
fn wire_of(endpoint: Endpoint, headers: &HeaderMap) -> Wire {
    match endpoint {
        Endpoint::Messages(wire) | Endpoint::CountTokens(wire) => wire,
        _ if headers.contains_key("anthropic-version") => Wire::Anthropic,
        _ => Wire::OpenaiChat,
    }
}

fn inspect(endpoint: Endpoint, body: &[u8], kept: Option<&Kept>) -> Inspected {
    let wire = match endpoint {
        Endpoint::Messages(wire) | Endpoint::CountTokens(wire) => Some(wire),
        Endpoint::Models | Endpoint::Upgrade | Endpoint::Unknown => None,
    };
    match wire.map(|wire| (wire, strict::check_bytes(wire, body))) {
        Some((wire, Ok((mut request, mut violations)))) => {
            if let Some(kept) = kept.filter(|_| wire == Wire::OpenaiResponses) {
                violations = kept.resolve(&mut request);
                violations.extend(strict::check(wire, &request));
            }
            Inspected {
                input_tokens: Some(tokens::count(wire, &request)),
                request,
                violations,
            }
        }
        Some((_, Err(violation))) => Inspected {
            request: Value::Null,
            input_tokens: None,
            violations: vec![violation],
        },
        None => Inspected {
            request: Value::Null,
            input_tokens: None,
            violations: Vec::new(),
        },
    }
}

/// The response that a fault puts in place of the scripted one.
fn replacement(wire: Wire, fault: Fault) -> Option<Rendered> {
    match fault {
        Fault::RateLimited {
            retry_after_seconds,
        } => Some(errors::rate_limited(wire, retry_after_seconds)),
        Fault::ServerError => Some(errors::server_error(wire, "Internal server error")),
        Fault::Overloaded => Some(errors::overloaded(wire)),
        Fault::GarbageBody => Some(Rendered::raw(
            200,
            "application/json",
            Bytes::from_static(GARBAGE),
        )),
        _ => None,
    }
}

fn render(exchange: &Exchange<'_>, answer: &Answer) -> Rendered {
    match exchange.wire {
        Wire::OpenaiChat => openai_chat::render(exchange, answer),
        Wire::OpenaiResponses => openai_responses::render(exchange, answer),
        Wire::Anthropic => anthropic::render(exchange, answer),
    }
}

fn fixed(exchange: &Exchange<'_>, reply: Reply) -> Rendered {
    let mut rendered = match reply.content {
        Content::Answer(answer) => render(exchange, &answer),
        Content::Error { kind, message } => {
            errors::error(exchange.wire, reply.status, &kind, &message)
        }
        Content::Raw(body) => Rendered::raw(reply.status, "application/octet-stream", body),
    };
    rendered.status = reply.status;
    for (name, value) in &reply.headers {
        rendered = rendered.with_header(name, value);
    }
    if rendered.events.is_none() {
        rendered = rendered.recognise_stream();
    }
    rendered
}

/// The smallest answer that clients of the endpoint accept.
fn tiny(endpoint: Endpoint) -> Rendered {
    let body: &'static [u8] = match endpoint {
        Endpoint::Messages(Wire::Anthropic) => {
            br#"{"id":"msg_01","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#
        }
        Endpoint::Messages(Wire::OpenaiResponses) => {
            br#"{"id":"resp_1","object":"response","created_at":1767225600,"status":"completed","model":"scripted","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}"#
        }
        Endpoint::CountTokens(_) => br#"{"input_tokens":1}"#,
        _ => {
            br#"{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"scripted","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#
        }
    };
    Rendered::raw(200, "application/json", Bytes::from_static(body))
}
