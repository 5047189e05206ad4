use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::reply::Reply;
use crate::Wire;
use crate::wire::{block_type, blocks, messages, text};

/// A request as the hooks of a server see it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Position among all requests of this server, from zero.
    pub number: usize,
    /// Path and query.
    pub path: &'a str,
    /// Its format.
    pub wire: Wire,
    /// The request.
    pub request: &'a Value,
    /// Its exact bytes.
    pub body: &'a Bytes,
    /// What [`tokens::count`](crate::tokens::count) says of it.
    pub plain_tokens: u64,
}

impl Asked<'_> {
    /// The model it is for, or the empty string.
    #[must_use]
    pub fn model(&self) -> &str {
        text(self.request, "model")
    }

    /// Whether only the size is asked for.
    #[must_use]
    pub fn is_count(&self) -> bool {
        self.path.contains("/count_tokens") || self.path.contains("/input_tokens")
    }

    /// Whether a message has a block of this type.
    #[must_use]
    pub fn has_block(&self, kind: &str) -> bool {
        let mut all = messages(self.request).iter().flat_map(blocks);
        all.any(|block| block_type(block) == kind)
    }
}

/// How a server counts the input of a request.
#[derive(Clone, Default)]
pub struct Counts(Option<Arc<Count>>);

type Count = dyn Fn(Asked<'_>) -> u64 + Send + Sync;

impl Counts {
    /// Counts as this says.
    pub fn by(count: impl Fn(Asked<'_>) -> u64 + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(count)))
    }

    /// So many percent of the plain count.
    #[must_use]
    pub fn percent(percent: u64) -> Self {
        Self::by(move |asked| asked.plain_tokens * percent / 100)
    }

    pub(super) fn of(&self, asked: Asked<'_>) -> u64 {
        self.0
            .as_ref()
            .map_or(asked.plain_tokens, |count| count(asked))
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counts")
    }
}

/// Which requests a server refuses, and in which words.
#[derive(Clone, Default)]
pub struct Refuses(Option<Arc<Refuse>>);

type Refuse = dyn Fn(Asked<'_>) -> Option<Reply> + Send + Sync;

impl Refuses {
    /// Gives this reply instead of an answer, where there is one.
    pub fn by(refuse: impl Fn(Asked<'_>) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(refuse)))
    }

    /// Refuses two messages of one role in a row, in the words of the chat templates of Gemma and Mistral.
    #[must_use]
    pub fn equal_neighbours() -> Self {
        Self::by(|asked| has_equal_neighbours(asked.request).then(alternation_error))
    }

    pub(super) fn of(&self, asked: Asked<'_>) -> Option<Reply> {
        self.0.as_ref()?(asked)
    }
}

impl fmt::Debug for Refuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refuses")
    }
}

/// Whether the roles of a request fail to go `user, assistant, user, …` after the system prompt; results of tools
/// count as the user's.
#[must_use]
pub fn has_equal_neighbours(request: &Value) -> bool {
    let roles: Vec<&str> = messages(request)
        .iter()
        .map(|message| text(message, "role"))
        .skip_while(|role| matches!(*role, "system" | "developer"))
        .collect();
    roles
        .iter()
        .enumerate()
        .any(|(at, role)| (*role == "assistant") != (at % 2 == 1))
}

fn alternation_error() -> Reply {
    Reply::error(
        400,
        "BadRequestError",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    )
}
