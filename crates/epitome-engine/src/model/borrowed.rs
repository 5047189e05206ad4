//! What a client brought along for its own request, lent for one more: held in memory as long as that takes, and shown to
//! nobody.

use std::fmt;
use std::sync::Arc;

use epitome_wire::Wire;
use http::HeaderMap;

use super::call::Caller;
use super::connection::Connections;
use super::endpoint::{CallLimits, Delivery, Endpoint, EndpointError};
use super::key::Key;
use super::spend::{Purse, SpendLedger};
use crate::clock::Clock;

/// The headers that say who asks and how: everything else stays with the client's own request.
const LENT: [&str; 6] = [
    "authorization",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "openai-organization",
    "openai-project",
];
/// Of these, the ones that hold a secret.
const SECRET: [&str; 2] = ["authorization", "x-api-key"];
/// Shorter words are not looked for in what a provider says.
const LEAST_SECRET_CHARS: usize = 6;

/// The headers of a client that a provider knows it by. Neither its text form nor any error holds them.
#[derive(Clone, PartialEq, Eq)]
pub struct Borrowed(Arc<HeaderMap>);

impl Borrowed {
    /// Those of a request.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let mut lent = HeaderMap::new();
        for name in LENT {
            for value in headers.get_all(name) {
                let mut value = value.clone();
                value.set_sensitive(SECRET.contains(&name));
                lent.append(name, value);
            }
        }
        Self(Arc::new(lent))
    }

    /// Puts them into a request, in the place of its own.
    pub(super) fn put_into(&self, headers: &mut HeaderMap) {
        for name in LENT {
            headers.remove(name);
        }
        for (name, value) in self.0.iter() {
            headers.append(name.clone(), value.clone());
        }
    }

    /// A text without them: a server may repeat what it was sent.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for name in SECRET {
            for value in self.0.get_all(name) {
                let value = value.to_str().unwrap_or_default();
                let words = value.split_whitespace();
                for word in words.filter(|word| word.len() >= LEAST_SECRET_CHARS) {
                    out = out.replace(word, "…");
                }
            }
        }
        out
    }
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Borrowed(…)")
    }
}

/// Asks the models of clients with what they lend. A clone shares connections and the ledger of what was spent.
#[derive(Clone, Debug)]
pub struct Lender {
    limits: CallLimits,
    delivery: Delivery,
    model: Option<String>,
    window_tokens: Option<u64>,
    connections: Connections,
    spending: Arc<SpendLedger>,
    clock: Clock,
}

impl Lender {
    /// One that asks within these limits.
    #[must_use]
    pub fn new(
        limits: CallLimits,
        delivery: Delivery,
        spending: Arc<SpendLedger>,
        clock: Clock,
    ) -> Self {
        Self {
            limits,
            delivery,
            model: None,
            window_tokens: None,
            connections: Connections::default(),
            spending,
            clock,
        }
    }

    /// Asks this model, with a window of so many tokens, and not the one that the client asks.
    #[must_use]
    pub fn asking(mut self, model: Option<String>, window_tokens: Option<u64>) -> Self {
        self.model = model;
        self.window_tokens = window_tokens;
        self
    }

    /// The same, spending on this account under its own limits.
    #[must_use]
    pub fn on_account(mut self, earlier: &SpendLedger) -> Self {
        self.spending = Arc::new(self.spending.on_account_of(earlier));
        self
    }

    /// The same, paid for from this purse.
    #[must_use]
    pub fn paid_from(mut self, purse: Arc<Purse>) -> Self {
        self.spending = Arc::new(self.spending.paid_from(purse));
        self
    }

    /// What was spent.
    #[must_use]
    pub fn spending(&self) -> &SpendLedger {
        &self.spending
    }

    /// A caller of the model that a client asks at `base_url`, in the client's name.
    ///
    /// # Errors
    /// [`EndpointError`] when that is no address.
    pub fn caller(
        &self,
        wire: Wire,
        base_url: &str,
        model: &str,
        lent: Borrowed,
    ) -> Result<Caller, EndpointError> {
        let model = self.model.as_deref().unwrap_or(model);
        let mut endpoint = Endpoint::new(wire, base_url, model)?
            .with_key(Key::Borrowed(lent))
            .with_limits(self.limits)
            .with_delivery(self.delivery);
        if let Some(tokens) = self.window_tokens {
            endpoint = endpoint.with_window(tokens);
        }
        let caller = Caller::new(endpoint, Arc::clone(&self.spending), self.clock.clone());
        Ok(caller.over(self.connections.clone()))
    }
}

#[cfg(test)]
#[path = "borrowed_tests.rs"]
mod tests;
