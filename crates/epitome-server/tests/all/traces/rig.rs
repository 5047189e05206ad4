//! Conversations of a known true size, and what became of each of their requests.

use epitome_server::Config;
use epitome_testkit::{
    Counts, ModelConfig, Random, Received, Recorded, Script, ScriptedModel, Wire, tokens,
};
use serde_json::{Value, json};

use crate::support::{Proxy, action, assistant, conversation, pair, summary, user};

/// A server of this window that answers shortly.
pub(super) fn server(window_tokens: u64) -> ModelConfig {
    ModelConfig {
        window_tokens,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 12,
        },
        ..ModelConfig::default()
    }
}

/// A proxy in front of a server.
pub(super) struct Rig {
    pub(super) model: ScriptedModel,
    pub(super) proxy: Proxy,
}

impl Rig {
    pub(super) async fn start(model: ModelConfig, adjust: impl FnOnce(&mut Config)) -> Self {
        let (model, proxy) = pair(model, adjust).await;
        Self { model, proxy }
    }

    /// A proxy that was told the true window of its server.
    pub(super) async fn of_window(model: ModelConfig) -> Self {
        let window = model.window_tokens;
        Self::start(model, |config| config.window_tokens = Some(window)).await
    }

    /// Sends what a conversation has to say.
    pub(super) async fn ask(&self, talk: &Talk) -> Outcome {
        self.post(talk.wire, talk.request()).await
    }

    pub(super) async fn post(&self, wire: Wire, request: Value) -> Outcome {
        let before = self.model.requests().len();
        let received = self.proxy.post(wire, &request).await;
        let mut sent = self.model.requests();
        sent.drain(..before);
        Outcome {
            body: request.to_string(),
            received,
            sent,
        }
    }
}

/// What became of one request.
pub(super) struct Outcome {
    /// What the client sent.
    pub(super) body: String,
    /// What the client got.
    pub(super) received: Received,
    /// What reached the server because of it.
    pub(super) sent: Vec<Recorded>,
}

impl Outcome {
    /// The last request that reached the server.
    pub(super) fn last(&self) -> &Recorded {
        self.sent.last().expect("something was sent")
    }

    /// What the server counted in it.
    pub(super) fn true_tokens(&self) -> u64 {
        self.last().input_tokens.expect("a request with messages")
    }

    /// The summary that went out, if there was one.
    pub(super) fn summary(&self) -> Option<String> {
        summary(&self.last().body)
    }

    pub(super) fn reason(&self) -> &str {
        action(&self.received).1
    }

    pub(super) fn conversation(&self) -> String {
        conversation(&self.received)
    }

    pub(super) fn is_bare(&self) -> bool {
        self.last().body == self.body
    }

    /// The client got an answer, and nothing that went out broke a rule.
    pub(super) fn assert_answered(&self, what: &str) {
        let Received { status, body, .. } = &self.received;
        let text = String::from_utf8_lossy(body);
        assert_eq!(*status, 200, "{what}: {:?} {text}", action(&self.received));
        for sent in &self.sent {
            assert!(sent.violations.is_empty(), "{what}: {:?}", sent.violations);
        }
    }

    /// The client's own bytes went out, once, and were answered.
    pub(super) fn assert_bare(&self, what: &str) {
        let (sent, said) = (self.true_tokens(), action(&self.received));
        assert!(self.is_bare(), "{what}: {sent} tokens were sent, {said:?}");
        assert_eq!(self.sent.len(), 1, "{what}: sent more than once");
        self.assert_answered(what);
    }

    /// Something shorter went out, at the first try, and was answered.
    pub(super) fn assert_compacted(&self, what: &str) {
        assert!(
            self.summary().is_some(),
            "{what}: {:?}",
            action(&self.received)
        );
        assert_eq!(self.sent.len(), 1, "{what}: sent more than once");
        self.assert_answered(what);
    }
}

/// A conversation that its client sends whole each time.
#[derive(Clone)]
pub(super) struct Talk {
    pub(super) wire: Wire,
    pub(super) model: String,
    pub(super) max_tokens: u64,
    pub(super) system: Option<String>,
    pub(super) tools: Vec<Value>,
    pub(super) messages: Vec<Value>,
    seed: u64,
}

impl Talk {
    /// A conversation that begins with a short task of its own.
    pub(super) fn new(wire: Wire, model: &str, seed: u64) -> Self {
        Self {
            wire,
            model: model.to_owned(),
            max_tokens: 1_000,
            system: None,
            tools: Vec::new(),
            messages: vec![user(format!("Task {seed}: keep the numbers in order."))],
            seed: seed * 10_000,
        }
    }

    /// A conversation that has come to about `tokens` in pieces of about `piece`.
    pub(super) fn of_size(wire: Wire, model: &str, seed: u64, tokens: u64, piece: u64) -> Self {
        let mut talk = Self::new(wire, model, seed);
        for _ in 0..tokens / piece {
            talk.answered(piece);
        }
        talk
    }

    /// Text of `tokens` by the server's plain count that nobody said before. Two words and a number in turn: what
    /// other meters make of it is near to that count.
    pub(super) fn words(&mut self, tokens: u64) -> String {
        const WORDS: [&str; 12] = [
            "anchor", "basin", "copper", "delta", "ember", "fjord", "gravel", "harbor", "island",
            "jetty", "kelp", "lagoon",
        ];
        self.seed += 1;
        let mut random = Random::new(self.seed);
        // The server counts 3.6 bytes to a token.
        let bytes = usize::try_from(tokens * 18 / 5).expect("a size");
        let mut text = String::with_capacity(bytes + 24);
        while text.len() < bytes {
            let bits = random.bits();
            let word = |shift: u32| WORDS[(bits >> shift) as usize % WORDS.len()];
            let end = if bits & 7 == 0 { '\n' } else { ' ' };
            text.push_str(word(8));
            text.push(' ');
            text.push_str(word(24));
            text.push(' ');
            text.push_str(&(10 + (bits >> 40) % 90).to_string());
            text.push(end);
        }
        text.truncate(bytes);
        text
    }

    /// The model said so much, and the user says to go on.
    pub(super) fn answered(&mut self, tokens: u64) {
        let text = self.words(tokens);
        self.messages.push(assistant(format!("Found: {text}")));
        self.messages
            .push(user(format!("Step {}.", self.messages.len())));
    }

    /// The model called a tool, which gave back so much.
    pub(super) fn stepped(&mut self, tokens: u64) {
        let text = self.words(tokens);
        self.stepped_with(&text);
    }

    /// The model called a tool, which gave back this text.
    pub(super) fn stepped_with(&mut self, text: &str) {
        let id = format!("call_{}_{}", self.seed, self.messages.len());
        let path = format!("src/part_{}.rs", self.messages.len());
        if self.tools.is_empty() {
            self.tools.push(tool(self.wire, "read_file"));
        }
        let [call, result] = match self.wire {
            Wire::Anthropic => [
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": path}},
                ]}),
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": text},
                ]}),
            ],
            Wire::OpenaiChat => [
                json!({"role": "assistant", "content": null, "tool_calls": [{
                    "id": id, "type": "function",
                    "function": {"name": "read_file", "arguments": json!({"path": path}).to_string()},
                }]}),
                json!({"role": "tool", "tool_call_id": id, "content": text}),
            ],
            Wire::OpenaiResponses => [
                json!({"type": "function_call", "call_id": id, "name": "read_file",
                    "arguments": json!({"path": path}).to_string()}),
                json!({"type": "function_call_output", "call_id": id, "output": text}),
            ],
        };
        self.messages.extend([call, result]);
    }

    pub(super) fn request(&self) -> Value {
        let mut messages = self.messages.clone();
        let mut request = json!({"model": self.model});
        let (limit, list) = match self.wire {
            Wire::OpenaiChat => {
                if let Some(system) = &self.system {
                    messages.insert(0, json!({"role": "system", "content": system}));
                }
                ("max_completion_tokens", "messages")
            }
            Wire::OpenaiResponses => {
                if let Some(system) = &self.system {
                    request["instructions"] = json!(system);
                }
                ("max_output_tokens", "input")
            }
            Wire::Anthropic => {
                if let Some(system) = &self.system {
                    request["system"] = json!(system);
                }
                ("max_tokens", "messages")
            }
        };
        if !self.tools.is_empty() {
            request["tools"] = json!(self.tools);
        }
        request[limit] = json!(self.max_tokens);
        request[list] = json!(messages);
        request
    }

    /// What the server counts in the whole conversation, where it counts plainly.
    pub(super) fn plain_tokens(&self) -> u64 {
        tokens::count(self.wire, &self.request())
    }
}

/// A tool of this name.
pub(super) fn tool(wire: Wire, name: &str) -> Value {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let about = "Reads a file of the project and gives back its text.";
    match wire {
        Wire::Anthropic => json!({"name": name, "description": about, "input_schema": schema}),
        Wire::OpenaiChat => json!({"type": "function", "function": {
            "name": name, "description": about, "parameters": schema,
        }}),
        Wire::OpenaiResponses => json!({
            "type": "function", "name": name, "description": about, "parameters": schema,
        }),
    }
}

/// How results of tools count that begin with these words, in percent of their plain count.
pub(super) const WIDE: (&str, u64) = ("wide ", 70);
pub(super) const DENSE: (&str, u64) = ("dense ", 130);

/// Counts each message by the words that its text begins with.
pub(super) fn counts_by_first_words() -> Counts {
    Counts::by(|asked| {
        let list = asked.request.get("messages").and_then(Value::as_array);
        let mut total = asked.plain_tokens;
        for message in list.into_iter().flatten() {
            let text = message.get("content").and_then(Value::as_str);
            for (words, percent) in [WIDE, DENSE] {
                if text.is_some_and(|text| text.starts_with(words)) {
                    let plain = tokens::of_bytes(text.map_or(0, str::len) as u64);
                    total = total.saturating_sub(plain) + plain * percent / 100;
                }
            }
        }
        total
    })
}
