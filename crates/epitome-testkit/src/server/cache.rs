use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::rendered::Exchange;
use crate::wire::messages;
use crate::{Wire, tokens};

/// How the input of a request divides for the bill. The three numbers add up to the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) read: u64,
    pub(super) created: u64,
    pub(super) plain: u64,
}

/// A split that depends on the request alone, so that the same request is always answered with the same bytes.
pub(super) fn pretend(wire: Wire, request: &Value, input_tokens: u64) -> Split {
    let (read, created) = if wire == Wire::Anthropic && is_marked(request) {
        let is_first_turn = messages(request).len() <= 1;
        let read = if is_first_turn {
            0
        } else {
            input_tokens * 7 / 10
        };
        (read, (input_tokens - read) * 8 / 10)
    } else {
        (0, 0)
    };
    Split {
        read,
        created,
        plain: input_tokens - read - created,
    }
}

/// Remembers the prefixes of all requests, as a provider's prompt cache that never forgets.
#[derive(Debug, Default)]
pub(super) struct PrefixCache(Mutex<HashSet<blake3::Hash>>);

impl PrefixCache {
    /// Looks a request up, then remembers it.
    ///
    /// Anthropic stores up to the last mark only; OpenAI stores everything, and creating costs nothing extra.
    pub(super) fn split(&self, exchange: &Exchange<'_>) -> Split {
        let prefixes = prefixes(exchange);
        let stored = match exchange.wire {
            Wire::OpenaiChat | Wire::OpenaiResponses => prefixes.len(),
            Wire::Anthropic => prefixes
                .iter()
                .rposition(|prefix| prefix.is_marked)
                .map_or(0, |position| position + 1),
        };
        let stored_tokens = |end: usize| {
            end.checked_sub(1)
                .and_then(|last| prefixes.get(last))
                .map_or(0, |prefix| prefix.tokens)
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = prefixes
            .iter()
            .take(stored)
            .rposition(|prefix| known.contains(&prefix.digest))
            .map_or(0, |position| position + 1);
        known.extend(prefixes.iter().take(stored).map(|prefix| prefix.digest));
        drop(known);
        let read = stored_tokens(found);
        let created = match exchange.wire {
            Wire::OpenaiChat | Wire::OpenaiResponses => 0,
            Wire::Anthropic => stored_tokens(stored) - read,
        };
        Split {
            read,
            created,
            plain: exchange.input_tokens - read - created,
        }
    }
}

/// A request up to the end of its head or of one message.
struct Prefix {
    digest: blake3::Hash,
    tokens: u64,
    is_marked: bool,
}

fn prefixes(exchange: &Exchange<'_>) -> Vec<Prefix> {
    let request = exchange.request;
    let mut hasher = blake3::Hasher::new();
    hasher.update(exchange.model().as_bytes());
    let mut is_marked_head = false;
    let mut head = serde_json::Map::new();
    for key in ["tools", "system", "instructions"] {
        if let Some(value) = request.get(key) {
            absorb(value, &mut hasher);
            is_marked_head |= is_marked(value);
            head.insert(key.to_owned(), value.clone());
        }
    }
    let mut total = tokens::count(exchange.wire, &Value::Object(head));
    let mut prefixes = vec![Prefix {
        digest: hasher.finalize(),
        tokens: total.min(exchange.input_tokens),
        is_marked: is_marked_head,
    }];
    for message in messages(request) {
        absorb(message, &mut hasher);
        let alone = serde_json::json!({exchange.wire.list_name(): [message]});
        // Each message alone includes the three tokens that every request costs, and is rounded up.
        total += tokens::count(exchange.wire, &alone) - 3;
        prefixes.push(Prefix {
            digest: hasher.finalize(),
            tokens: total.min(exchange.input_tokens),
            is_marked: is_marked(message),
        });
    }
    prefixes
}

/// Feeds a value without its cache marks; a string content counts as one text block, as for the provider.
fn absorb(value: &Value, hasher: &mut blake3::Hasher) {
    match value {
        Value::Object(fields) => {
            hasher.update(b"{");
            for (key, field) in fields.iter().filter(|(key, _)| *key != "cache_control") {
                hasher.update(key.as_bytes());
                match field {
                    Value::String(text) if key == "content" || key == "system" => {
                        absorb(&serde_json::json!([{"type": "text", "text": text}]), hasher);
                    }
                    other => absorb(other, hasher),
                }
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| absorb(item, hasher));
            hasher.update(b"]");
        }
        other => {
            hasher.update(other.to_string().as_bytes());
        }
    }
}

/// Whether any part of a value carries a cache mark.
fn is_marked(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.contains_key("cache_control") || fields.values().any(is_marked)
        }
        Value::Array(items) => items.iter().any(is_marked),
        _ => false,
    }
}
