use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::fault::Faults;
use super::hook::{Counts, Refuses};
use super::reply::Reply;

/// How a scripted model behaves.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// Input and requested output may not exceed this many tokens, by the server's own count. A server that runs can
    /// be given another with [`ScriptedModel::set_window`](super::ScriptedModel::set_window).
    pub window_tokens: u64,
    /// Windows of models by their exact names, where they are others.
    pub windows: Vec<(String, u64)>,
    /// Whether the output that a request asks for stands against the window together with its input.
    pub counts_output: bool,
    /// What the server counts, where that is not [`tokens::count`](crate::tokens::count).
    pub counts: Counts,
    /// What it refuses whatever the request is like, before anything else is looked at.
    pub refuses: Refuses,
    /// What it answers.
    pub script: Script,
    /// In which pieces a body is sent.
    pub chunking: Chunking,
    /// What goes wrong, by request number.
    pub faults: Faults,
    /// Whether it sends back what it received instead of answering.
    pub echo: Echo,
    /// Whether an invalid request is refused; violations are recorded in any case.
    pub rejects_violations: bool,
    /// Whether usage tells a real prefix cache from the prefixes seen so far. Otherwise the split depends on the
    /// request alone, so that the same request always gets the same bytes.
    pub simulates_cache: bool,
    /// Whether answers of Responses are kept, so that requests may refer to them; they are judged and counted with what
    /// they refer to.
    pub keeps_answers: bool,
    /// Whether requests are kept; a server that runs for long should not.
    pub keeps_records: bool,
    /// Reads the body and answers something tiny without parsing, checking or recording: for load tests.
    pub unchecked: bool,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            window_tokens: 200_000,
            windows: Vec::new(),
            counts_output: true,
            counts: Counts::default(),
            refuses: Refuses::default(),
            script: Script::default(),
            chunking: Chunking::Whole,
            faults: Faults::default(),
            echo: Echo::Off,
            rejects_violations: true,
            simulates_cache: false,
            keeps_answers: false,
            keeps_records: true,
            unchecked: false,
        }
    }
}

/// What a scripted model answers to valid requests.
#[derive(Clone, Debug)]
pub enum Script {
    /// Plays an agent, deterministically from the request alone.
    Agent {
        /// Every how many assistant turns it calls tools, if the request declares any; zero means never.
        tool_every: usize,
        /// Every how many assistant turns such an answer has several calls; zero means never.
        parallel_every: usize,
        /// How many words a text answer has.
        words: usize,
    },
    /// Gives these replies in order, and a server error when they are used up.
    Fixed(Vec<Reply>),
    /// Gives what this makes of the request, so that it does not matter in which order requests come.
    By(Respond),
    /// Gives the same bytes every time, valid or not.
    Raw {
        /// HTTP status.
        status: u16,
        /// Value of the `content-type` header.
        content_type: String,
        /// Exact body.
        body: Bytes,
    },
}

impl Script {
    /// A script that makes each reply from its request.
    pub fn by(respond: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self::By(Respond(Arc::new(respond)))
    }
}

/// Makes a reply from a request.
#[derive(Clone)]
pub struct Respond(pub(super) Arc<dyn Fn(&Value) -> Reply + Send + Sync>);

impl fmt::Debug for Respond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Respond")
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::Agent {
            tool_every: 2,
            parallel_every: 4,
            words: 60,
        }
    }
}

/// In which pieces a response body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunking {
    /// In one piece.
    #[default]
    Whole,
    /// A stream in one piece per event, as providers do.
    Events,
    /// In pieces of this many bytes, each flushed by itself; zero counts as one.
    Bytes(usize),
}

/// Whether and how a request is sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Not at all.
    #[default]
    Off,
    /// The exact body as `application/octet-stream`, for any path and method.
    Body,
    /// `{"length": …, "blake3": "…"}` of the body, for any path and method.
    Digest,
}
