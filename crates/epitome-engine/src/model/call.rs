//! One question to a model, with its retries and time limits.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use epitome::{ModelTable, Usage};
use epitome_wire::{Accumulator, Answer, Refusal, Unpacker, Wire, sse};
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;

use super::connection::Connections;
use super::endpoint::{Delivery, Endpoint};
use super::error::CallError;
use super::key::Key;
use super::request::{Ask, Form};
use super::retry::Retries;
use super::spend::{Purse, SpendLedger};
use crate::clock::{self, Clock, Instant};
use crate::statistics::cost_nanodollars;

/// What is read of an answer.
const ANSWER_BYTES: usize = 32 << 20;
/// What an error message shows of an answer, in characters.
const SHOWN_CHARS: usize = 200;

/// Asks one model. A clone shares connections and the ledger of what was spent.
#[derive(Clone, Debug)]
pub struct Caller {
    endpoint: Arc<Endpoint>,
    connections: Connections,
    spending: Arc<SpendLedger>,
    clock: Clock,
    first_wait: Option<Duration>,
}

/// On whose behalf a question is asked, and until when.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The conversation, for what it may cost.
    pub conversation: String,
    /// When all of it must be over.
    pub until: Instant,
    /// Calls it off.
    pub cancel: CancellationToken,
}

impl Caller {
    /// A caller of `endpoint`.
    #[must_use]
    pub fn new(endpoint: Endpoint, spending: Arc<SpendLedger>, clock: Clock) -> Self {
        Self {
            endpoint: Arc::new(endpoint),
            connections: Connections::default(),
            spending,
            clock,
            first_wait: None,
        }
    }

    /// With another time before the first retry.
    #[must_use]
    pub const fn with_first_wait(mut self, first_wait: Duration) -> Self {
        self.first_wait = Some(first_wait);
        self
    }

    /// The same caller, spending on this account under its own limits.
    #[must_use]
    pub fn on_account(mut self, earlier: &SpendLedger) -> Self {
        self.spending = Arc::new(self.spending.on_account_of(earlier));
        self
    }

    /// The same caller, paid for from this purse.
    #[must_use]
    pub fn paid_from(mut self, purse: Arc<Purse>) -> Self {
        self.spending = Arc::new(self.spending.paid_from(purse));
        self
    }

    /// The same caller over connections that others share.
    #[must_use]
    pub(super) fn over(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// What was spent.
    #[must_use]
    pub fn spending(&self) -> &SpendLedger {
        &self.spending
    }

    /// Whom it asks.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A new operation of a conversation, with the endpoint's time limit.
    #[must_use]
    pub fn begin(&self, conversation: impl Into<String>) -> Asked {
        Asked {
            conversation: conversation.into(),
            until: clock::after(self.endpoint.limits.operation),
            cancel: CancellationToken::new(),
        }
    }

    /// Asks, and asks again where that may help. May be dropped at any time.
    ///
    /// # Errors
    /// [`CallError`]: the last one, when asking again did not help.
    pub async fn ask(&self, ask: &Ask, asked: &Asked) -> Result<Answer, CallError> {
        let body = ask.body(&self.endpoint).ok_or_else(|| CallError::Garbage {
            beginning: String::from("the request of the conversation is not one of this API"),
        })?;
        self.check_spend(&body, ask.max_output_tokens, asked)?;
        let seed = asked
            .conversation
            .bytes()
            .fold(u64::from(body.len() as u32), |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
        let mut retries = Retries::new(self.endpoint.limits.retries, seed);
        if let Some(first_wait) = self.first_wait {
            retries = retries.starting_at(first_wait);
        }
        loop {
            let error = match self.once(self.endpoint.address(), &body, ask, asked).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            tracing::warn!(%error, model = self.endpoint.model, "a call to a model failed");
            let Some(wait) = error.retry().and_then(|asked| retries.next_wait(asked)) else {
                return Err(error);
            };
            if clock::after(wait) >= asked.until {
                return Err(error);
            }
            tokio::select! {
                () = clock::sleep(wait) => {}
                () = asked.cancel.cancelled() => return Err(CallError::Cancelled),
            }
        }
    }

    /// Asks a place that counts; the body is that of a request. `None` where there is none, or it does not answer.
    pub(crate) async fn count(&self, body: &Bytes, asked: &Asked) -> Option<u64> {
        let address = self.endpoint.count_address()?;
        let counted = async {
            let received = self.send(address, body, asked).await?;
            received.collected().await
        };
        let counted = clock::until(self.call_end(asked), counted)
            .await
            .ok()?
            .ok()?;
        let value: serde_json::Value = serde_json::from_slice(&counted).ok()?;
        value.get("input_tokens")?.as_u64()
    }

    /// Sends the body of a request and says what the provider counted. `None` when it does not answer.
    pub(crate) async fn probe(&self, body: &Bytes, asked: &Asked) -> Option<Usage> {
        let answer = async {
            let received = self.send(self.endpoint.address(), body, asked).await?;
            received.answer(self.endpoint.wire).await
        };
        let answer = clock::until(self.call_end(asked), answer)
            .await
            .ok()?
            .ok()?;
        self.spend(answer.usage, asked);
        answer.error.is_none().then_some(answer.usage)
    }

    /// When one request must be over that begins now.
    fn call_end(&self, asked: &Asked) -> Instant {
        asked.until.min(clock::after(self.endpoint.limits.call))
    }

    async fn once(
        &self,
        address: Uri,
        body: &Bytes,
        ask: &Ask,
        asked: &Asked,
    ) -> Result<Answer, CallError> {
        let seconds = self.endpoint.limits.call.as_secs();
        let answer = async {
            let received = self.send(address, body, asked).await?;
            received.answer(self.endpoint.wire).await
        };
        let answer = tokio::select! {
            answer = clock::until(self.call_end(asked), answer) => answer,
            () = asked.cancel.cancelled() => return Err(CallError::Cancelled),
        };
        let answer = answer.map_err(|_| CallError::Timeout { seconds })?;
        let answer = answer.map_err(|error| self.hiding(error))?;
        self.spend(answer.usage, asked);
        judged(answer, ask, |text| self.shown(text))
    }

    async fn send(&self, address: Uri, body: &Bytes, asked: &Asked) -> Result<Received, CallError> {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = address;
        *request.headers_mut() = self.headers()?;
        let (response, permit) = tokio::select! {
            sent = self.connections.send(request) => sent?,
            () = asked.cancel.cancelled() => return Err(CallError::Cancelled),
        };
        let (head, incoming) = response.into_parts();
        let received = Received {
            headers: head.headers,
            body: incoming,
            silence: self.endpoint.limits.silence,
            _permit: permit,
        };
        let status = head.status.as_u16();
        if head.status.is_success() {
            return Ok(received);
        }
        let wait = retry_after(&received.headers);
        let text = received.collected().await.unwrap_or_default();
        let shown = |text: &[u8]| self.shown(text);
        Err(match Refusal::read(status, &text, body) {
            Refusal::RateLimit => CallError::RateLimited { wait },
            Refusal::Overflow(overflow) => CallError::TooLong {
                overflow,
                message: shown(&text),
            },
            _ => CallError::Refused {
                status,
                message: shown(&text),
            },
        })
    }

    /// The beginning of what a server said, without what a client lent.
    fn shown(&self, text: &[u8]) -> String {
        match &self.endpoint.key {
            Key::Borrowed(lent) => {
                let text = lent.hidden_in(&String::from_utf8_lossy(text));
                shown(text.as_bytes())
            }
            _ => shown(text),
        }
    }

    fn hiding(&self, error: CallError) -> CallError {
        match error {
            CallError::Garbage { beginning } => CallError::Garbage {
                beginning: self.shown(beginning.as_bytes()),
            },
            other => other,
        }
    }

    fn headers(&self) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accepted = match self.endpoint.delivery {
            Delivery::Streamed => "text/event-stream, application/json",
            Delivery::Whole => "application/json",
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, identity"));
        if self.endpoint.wire == Wire::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Key::Borrowed(lent) = &self.endpoint.key {
            lent.put_into(&mut headers);
        }
        if let Some(secret) = self.endpoint.key.read()? {
            let (name, value) = match self.endpoint.wire {
                Wire::Anthropic => ("x-api-key", secret.expose().to_owned()),
                _ => (
                    AUTHORIZATION.as_str(),
                    format!("Bearer {}", secret.expose()),
                ),
            };
            if let (Ok(name), Ok(mut value)) = (
                http::HeaderName::try_from(name),
                HeaderValue::try_from(value),
            ) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        Ok(headers)
    }

    fn check_spend(
        &self,
        body: &Bytes,
        output: Option<u64>,
        asked: &Asked,
    ) -> Result<(), CallError> {
        let expected = Usage {
            fresh_tokens: body.len() as u64 / 4,
            output_tokens: output.unwrap_or(0),
            ..Usage::default()
        };
        let usd = self.usd(expected);
        self.spending
            .allows(&asked.conversation, usd, self.clock.now_ms())
    }

    fn spend(&self, usage: Usage, asked: &Asked) {
        let usd = self.usd(usage);
        self.spending
            .spent(&asked.conversation, usd, self.clock.now_ms());
    }

    fn usd(&self, usage: Usage) -> f64 {
        let model = ModelTable::builtin().find(&self.endpoint.model);
        let cost = model.and_then(|model| cost_nanodollars(usage, &model.prices));
        cost.unwrap_or(0) as f64 / 1e9
    }
}

/// An answer on its way.
struct Received {
    headers: HeaderMap,
    body: Incoming,
    silence: Duration,
    _permit: tokio::sync::OwnedSemaphorePermit,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    async fn answer(self, wire: Wire) -> Result<Answer, CallError> {
        if !self.header("content-type").starts_with("text/event-stream") {
            let body = self.collected().await?;
            return Answer::read(wire, &body).ok_or_else(|| CallError::Garbage {
                beginning: shown(&body),
            });
        }
        let mut decoder = sse::Decoder::new();
        let mut accumulator = Accumulator::new(wire);
        self.each(|plain| decoder.feed(plain, |event| accumulator.event(event.data)))
            .await?;
        decoder.finish(|event| accumulator.event(event.data));
        Ok(accumulator.finish())
    }

    async fn collected(self) -> Result<Vec<u8>, CallError> {
        let mut out = Vec::new();
        self.each(|plain| out.extend_from_slice(plain)).await?;
        Ok(out)
    }

    async fn each(mut self, mut plain: impl FnMut(&[u8])) -> Result<(), CallError> {
        let encoding = self.header("content-encoding");
        let mut unpacker = Unpacker::of(encoding).ok_or_else(|| CallError::Garbage {
            beginning: format!("content-encoding {encoding}"),
        })?;
        let silence = self.silence;
        let mut read = 0;
        while let Some(frame) = clock::within(silence, self.body.frame())
            .await
            .map_err(|_| {
                let seconds = silence.as_secs();
                CallError::Timeout { seconds }
            })?
        {
            let frame = frame.map_err(|_| CallError::CutOff)?;
            let Some(bytes) = frame.data_ref() else {
                continue;
            };
            read += bytes.len();
            if read > ANSWER_BYTES {
                return Err(CallError::Garbage {
                    beginning: String::from("more than 32 MB"),
                });
            }
            unpacker.feed(bytes, &mut plain);
        }
        Ok(())
    }
}

/// An answer that came through may still be none.
fn judged(answer: Answer, ask: &Ask, shown: impl Fn(&[u8]) -> String) -> Result<Answer, CallError> {
    if let Some(overflow) = answer.overflow {
        return Err(CallError::TooLong {
            overflow,
            message: shown(answer.error.unwrap_or_default().as_bytes()),
        });
    }
    if let Some(message) = &answer.error {
        return Err(CallError::Broken {
            message: shown(message.as_bytes()),
        });
    }
    let is_empty = answer.message.blocks.is_empty();
    let is_aligned = matches!(ask.form, Form::Aligned { .. });
    if answer.stop.is_none() && (is_empty || !is_aligned) {
        return Err(CallError::CutOff);
    }
    Ok(answer)
}

/// How long the provider wants to be left alone.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        let value = headers.get(name)?.to_str().ok()?.trim();
        value
            .parse()
            .ok()
            .filter(|number: &f64| (0.0..1e6).contains(number))
    };
    number("retry-after-ms")
        .map(|ms| Duration::from_secs_f64(ms / 1e3))
        .or_else(|| number("retry-after").map(Duration::from_secs_f64))
}

/// The beginning of a text on one line.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..4 * SHOWN_CHARS).unwrap_or(bytes));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(SHOWN_CHARS).collect()
}
