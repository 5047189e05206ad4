//! A model behind an address.

use std::time::Duration;

use epitome_wire::Wire;
use http::Uri;

use super::key::Key;

/// The longest that one operation may take, whatever was configured.
pub(super) const LONGEST_OPERATION: Duration = Duration::from_secs(720);

/// A model, where it is, and how it is spoken to.
///
/// ```
/// use epitome_engine::model::Endpoint;
/// use epitome_wire::Wire;
///
/// let local = Endpoint::new(Wire::OpenAiChat, "http://127.0.0.1:8080/v1", "qwen3")?;
/// assert_eq!(local.address().to_string(), "http://127.0.0.1:8080/v1/chat/completions");
/// # Ok::<(), epitome_engine::model::EndpointError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) wire: Wire,
    pub(super) base: Uri,
    pub(super) model: String,
    pub(super) key: Key,
    pub(super) window_tokens: Option<u64>,
    pub(super) delivery: Delivery,
    pub(super) limits: CallLimits,
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As a stream of events: what hangs is noticed early.
    #[default]
    Streamed,
    /// In one piece.
    Whole,
}

/// How long a model may take and how often it is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// The longest that one request may take.
    pub call: Duration,
    /// The longest that nothing may come in the middle of an answer.
    pub silence: Duration,
    /// The longest that all requests of one operation may take together, at most 720 seconds.
    pub operation: Duration,
    /// How often a request is sent again.
    pub retries: u32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(180),
            silence: Duration::from_secs(60),
            operation: LONGEST_OPERATION,
            retries: 3,
        }
    }
}

/// Why an address is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It cannot be read.
    #[error("`{url}` is not an address: write it like http://127.0.0.1:8080/v1")]
    NotAnAddress {
        /// What was given, without what may be a password in it.
        url: String,
    },
    /// Neither `http` nor `https`.
    #[error("`{scheme}` is not a way to reach a model: use http or https")]
    UnknownScheme {
        /// The scheme.
        scheme: String,
    },
    /// A password in the address.
    #[error(
        "the address holds a name or password before `@`: put the key into a variable or a file instead"
    )]
    HoldsSecret,
}

impl Endpoint {
    /// A model at `base_url`, which may or may not end in `/v1`.
    ///
    /// # Errors
    /// [`EndpointError`] when that is no address.
    pub fn new(
        wire: Wire,
        base_url: &str,
        model: impl Into<String>,
    ) -> Result<Self, EndpointError> {
        if base_url.contains('@') {
            return Err(EndpointError::HoldsSecret);
        }
        let not_an_address = || EndpointError::NotAnAddress {
            url: base_url.to_owned(),
        };
        let base: Uri = base_url.trim().parse().map_err(|_| not_an_address())?;
        base.authority().ok_or_else(not_an_address)?;
        match base.scheme_str() {
            Some("http" | "https") => {}
            Some(scheme) => {
                return Err(EndpointError::UnknownScheme {
                    scheme: scheme.to_owned(),
                });
            }
            None => return Err(not_an_address()),
        }
        Ok(Self {
            wire,
            base,
            model: model.into(),
            key: Key::None,
            window_tokens: None,
            delivery: Delivery::default(),
            limits: CallLimits::default(),
        })
    }

    /// With a key.
    #[must_use]
    pub fn with_key(mut self, key: Key) -> Self {
        self.key = key;
        self
    }

    /// With a window of so many tokens; otherwise the model table is asked.
    #[must_use]
    pub const fn with_window(mut self, tokens: u64) -> Self {
        self.window_tokens = Some(tokens);
        self
    }

    /// With answers that come like this.
    #[must_use]
    pub const fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// With other limits. An operation never takes longer than 720 seconds.
    #[must_use]
    pub fn with_limits(mut self, limits: CallLimits) -> Self {
        let operation = limits.operation.min(LONGEST_OPERATION);
        self.limits = CallLimits {
            operation,
            call: limits.call.min(operation),
            ..limits
        };
        self
    }

    /// The API it speaks.
    #[must_use]
    pub const fn wire(&self) -> Wire {
        self.wire
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The tokens of its window.
    #[must_use]
    pub fn window_tokens(&self) -> u64 {
        self.window_tokens
            .or_else(|| Some(epitome::window_of(&self.model)?.tokens))
            .unwrap_or(epitome::ASSUMED_WINDOW_TOKENS)
    }

    /// Where requests go.
    #[must_use]
    pub fn address(&self) -> Uri {
        self.at(match self.wire {
            Wire::OpenAiChat => "/v1/chat/completions",
            Wire::OpenAiResponses => "/v1/responses",
            Wire::Anthropic => "/v1/messages",
        })
    }

    /// Where tokens are counted, if the API has a place for that.
    #[must_use]
    pub fn count_address(&self) -> Option<Uri> {
        match self.wire {
            Wire::OpenAiChat => None,
            Wire::OpenAiResponses => Some(self.at("/v1/responses/input_tokens")),
            Wire::Anthropic => Some(self.at("/v1/messages/count_tokens")),
        }
    }

    /// The name of the place, for what is learned about it.
    #[must_use]
    pub fn place(&self) -> String {
        let authority = self.base.authority().map_or("", |found| found.as_str());
        format!("{authority}{}", self.base.path().trim_end_matches('/'))
    }

    fn at(&self, path: &str) -> Uri {
        let prefix = self.base.path().trim_end_matches('/');
        let prefix = prefix.strip_suffix("/v1").unwrap_or(prefix);
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = format!("{prefix}{path}").parse().ok();
        Uri::from_parts(parts).unwrap_or_else(|_| self.base.clone())
    }
}
