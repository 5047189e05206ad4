use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::strict::Violation;

/// One request as the server received it, and what it made of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Position among all requests of this server, from zero.
    pub number: usize,
    /// HTTP method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The exact body.
    pub body: Bytes,
    /// The status it answered; none while it waits, and for good when it hangs or closes.
    pub status: Option<u16>,
    /// Its own count of the input, for requests with messages.
    pub input_tokens: Option<u64>,
    /// What it found wrong.
    pub violations: Vec<Violation>,
    /// How far the answer got.
    pub delivery: Delivery,
}

impl Recorded {
    /// The body as JSON, or null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// A header as text, or the empty string.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    }
}

/// How far an answer got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Still at it.
    Pending,
    /// The whole body was handed to the connection.
    Complete,
    /// The client went away, or a fault ended the answer.
    Abandoned,
}

/// The requests of one server.
#[derive(Clone, Debug, Default)]
pub(super) struct Records(Arc<Mutex<Vec<Recorded>>>);

impl Records {
    /// A panic in a test thread must not hide the records from the others.
    fn lock(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    pub(super) fn add(&self, recorded: Recorded) -> Ticket {
        let number = recorded.number;
        self.lock().push(recorded);
        Ticket {
            number,
            records: Some(self.clone()),
        }
    }

    fn update(&self, number: usize, change: impl FnOnce(&mut Recorded)) {
        let mut records = self.lock();
        if let Some(recorded) = records
            .iter_mut()
            .rev()
            .find(|recorded| recorded.number == number)
        {
            change(recorded);
        }
    }
}

/// The way from an answer to its record. Dropped before completion, it marks the answer abandoned.
#[derive(Debug)]
pub(super) struct Ticket {
    number: usize,
    records: Option<Records>,
}

impl Ticket {
    /// A ticket for an answer that is not recorded.
    pub(super) const fn blank() -> Self {
        Self {
            number: 0,
            records: None,
        }
    }

    pub(super) fn answered(&self, status: u16) {
        if let Some(records) = &self.records {
            records.update(self.number, |recorded| recorded.status = Some(status));
        }
    }

    pub(super) fn complete(&mut self) {
        self.end(Delivery::Complete);
    }

    fn end(&mut self, delivery: Delivery) {
        if let Some(records) = self.records.take() {
            records.update(self.number, |recorded| recorded.delivery = delivery);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.end(Delivery::Abandoned);
    }
}
