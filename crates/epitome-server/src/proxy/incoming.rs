//! Requests on their way in: bodies read up to a limit and unpacked where they are packed, and what heads ask for.

use axum::body::{Body, Bytes};
use epitome::{ContextBeta, Reason};
use epitome_wire::Unpacker;
use futures_util::StreamExt;
use http::header::{CONTENT_ENCODING, HeaderMap};
use hyper::body::Incoming;
use tokio::sync::Semaphore;

/// Error answers up to this size are looked into.
const ERROR_LIMIT: usize = 256 * 1024;
/// What an error answer may unpack to.
const PLAIN_ERROR_LIMIT: usize = 1 << 20;
/// A body that unpacks to more than this is measured before there is room made for it.
const UNMEASURED: usize = 1 << 20;
/// How many bodies are unpacked at once: each may ask for some megabytes to look back on.
const AT_ONCE: usize = 2;

pub(super) enum Collected {
    Whole(Bytes),
    TooLarge(Body),
    /// What came of it, ending in the same error.
    Broken(Body),
}

/// Reads a body up to `limit`; a larger one is handed back whole, with what was read in front.
pub(super) async fn collect(body: Body, limit: usize) -> Collected {
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

/// What a body is packed in, if it is.
pub(super) fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names: Vec<&str> = values
        .map(|value| value.to_str().unwrap_or("unknown"))
        .collect();
    let encoding = names.join(",");
    let mut names = encoding.split(',').map(str::trim);
    let is_plain = names.all(|name| name.is_empty() || name.eq_ignore_ascii_case("identity"));
    (!is_plain).then_some(encoding)
}

/// Whether what is packed so can be unpacked.
pub(super) fn is_known(encoding: &str) -> bool {
    Unpacker::of(encoding).is_some()
}

/// Unpacks requests, a few at a time, where nobody else has to wait for it.
#[derive(Debug)]
pub(crate) struct Unpacking {
    turns: Semaphore,
}

impl Unpacking {
    pub(crate) const fn new() -> Self {
        Self {
            turns: Semaphore::const_new(AT_ONCE),
        }
    }

    /// What a request says that came packed.
    ///
    /// # Errors
    /// Why it cannot be looked into: [`Reason::BodyTooLarge`], or [`Reason::BodyEncoded`] where it is not what its
    /// header says.
    pub(super) async fn unpack(
        &self,
        bytes: Bytes,
        encoding: String,
        limit: usize,
    ) -> Result<Bytes, Reason> {
        let _turn = self.turns.acquire().await;
        let work = move || unpack(&bytes, &encoding, limit);
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or(Err(Reason::BodyEncoded))
    }
}

/// Never holds more than what is below the limit, and of what is not hardly anything.
fn unpack(bytes: &[u8], encoding: &str, limit: usize) -> Result<Bytes, Reason> {
    let again = || {
        let unpacker = Unpacker::of(encoding).ok_or(Reason::BodyEncoded)?;
        Ok::<_, Reason>(unpacker.up_to(limit))
    };
    let (mut plain, mut size) = (Vec::new(), 0);
    let mut unpacker = again()?;
    unpacker.feed(bytes, |piece| {
        size += piece.len();
        if size <= UNMEASURED {
            plain.extend_from_slice(piece);
        } else {
            plain = Vec::new();
        }
    });
    if unpacker.is_too_large() {
        return Err(Reason::BodyTooLarge);
    }
    if !unpacker.is_whole() {
        return Err(Reason::BodyEncoded);
    }
    if size > UNMEASURED {
        plain.reserve_exact(size);
        again()?.feed(bytes, |piece| plain.extend_from_slice(piece));
    }
    Ok(plain.into())
}

/// What an answer says, whatever it is packed in; `None` where that is not known.
fn unpacked(bytes: &Bytes, headers: &HeaderMap) -> Option<Bytes> {
    let Some(encoding) = encoding(headers) else {
        return Some(bytes.clone());
    };
    let mut unpacker = Unpacker::of(&encoding)?.up_to(PLAIN_ERROR_LIMIT);
    let mut plain = Vec::new();
    unpacker.feed(bytes, |part| plain.extend_from_slice(part));
    (!unpacker.is_broken()).then(|| plain.into())
}

/// The text of an error answer, and the answer to be passed on all the same.
pub(super) async fn read_error(body: Incoming, headers: &HeaderMap) -> (Option<Bytes>, Body) {
    match collect(Body::new(body), ERROR_LIMIT).await {
        Collected::Whole(bytes) => (unpacked(&bytes, headers), Body::from(bytes)),
        Collected::TooLarge(body) | Collected::Broken(body) => (None, body),
    }
}

/// Whether a request asks for the long context that some models have only then.
pub(super) fn context_beta(headers: &HeaderMap) -> ContextBeta {
    let values = headers.get_all("anthropic-beta").iter();
    let betas = values.filter_map(|value| value.to_str().ok());
    let asked = betas.map(ContextBeta::of_header);
    asked
        .rev()
        .find(|beta| *beta != ContextBeta::None)
        .unwrap_or_default()
}
