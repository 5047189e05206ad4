//! What is asked of a model, and the bytes of it in each API.

use bytes::Bytes;
use epitome::{Block, Message, ResultPart, Role, ToolResult};
use epitome_wire::{Body, Field, Wire, encode};
use serde_json::{Value, json};

use super::endpoint::{Delivery, Endpoint};

/// What an Anthropic request asks for where nobody says how much: the API wants a number.
const OUTPUT_TOKENS: u64 = 4_096;

/// A question to a model.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What it is about.
    pub form: Form,
    /// The tools it may call.
    pub tools: Vec<Tool>,
    /// The most tokens of the answer.
    pub max_output_tokens: Option<u64>,
    /// How much chance there may be in the answer.
    pub temperature: Option<f64>,
}

/// Where the text of a question comes from.
#[derive(Clone, Debug)]
pub enum Form {
    /// Written for the occasion.
    Fresh {
        /// The system prompt.
        system: Option<String>,
        /// The conversation with the model.
        messages: Vec<Message>,
    },
    /// A request of the conversation itself, as it is. Everything else of an [`Ask`] is in it already.
    Own {
        /// The body of the request.
        request: Bytes,
    },
    /// A request of the conversation itself with one more message of the user: everything before it is the same, byte
    /// for byte, so that the provider's cache is warm.
    Aligned {
        /// The body of the request.
        request: Bytes,
        /// The one more message.
        instruction: String,
    },
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

impl Ask {
    /// A question of one text.
    #[must_use]
    pub fn new(system: Option<String>, text: impl Into<String>) -> Self {
        Self {
            form: Form::Fresh {
                system,
                messages: vec![Message::text(Role::User, text)],
            },
            tools: Vec::new(),
            max_output_tokens: None,
            temperature: None,
        }
    }

    /// The next turn of a conversation: its own request, byte for byte.
    #[must_use]
    pub const fn own(request: Bytes) -> Self {
        Self {
            form: Form::Own { request },
            tools: Vec::new(),
            max_output_tokens: None,
            temperature: None,
        }
    }

    /// Goes on after an answer that called tools. A question about a whole request has no more to say.
    pub(crate) fn go_on(&mut self, answer: Message, results: Message) {
        if let Form::Fresh { messages, .. } = &mut self.form {
            messages.push(answer);
            messages.push(results);
        }
    }

    /// The body of the request; `None` where a request of the conversation is none of this API.
    pub(super) fn body(&self, endpoint: &Endpoint) -> Option<Bytes> {
        match &self.form {
            Form::Fresh { system, messages } => {
                Some(self.fresh(endpoint, system.as_deref(), messages))
            }
            Form::Own { request } => Some(request.clone()),
            Form::Aligned {
                request,
                instruction,
            } => self.aligned(endpoint, request, instruction),
        }
    }

    fn fresh(&self, endpoint: &Endpoint, system: Option<&str>, messages: &[Message]) -> Bytes {
        let wire = endpoint.wire;
        let is_streamed = endpoint.delivery == Delivery::Streamed;
        let mut body = json!({"model": endpoint.model, "stream": is_streamed});
        let mut put = |name: &str, value: Value| {
            if let Some(members) = body.as_object_mut() {
                members.insert(name.to_owned(), value);
            }
        };
        let mut list: Vec<Value> = Vec::new();
        match (wire, system) {
            (Wire::OpenAiChat, Some(system)) => {
                list.push(json!({"role": "system", "content": system}));
            }
            (Wire::OpenAiResponses, Some(system)) => put("instructions", json!(system)),
            (Wire::Anthropic, Some(system)) => put("system", json!(system)),
            (_, None) => {}
        }
        let encoded = messages.iter().flat_map(|message| encode(wire, message));
        list.extend(encoded.filter_map(|raw| serde_json::from_slice(&raw).ok()));
        put(wire.list_name(), Value::Array(list));
        match (wire, self.max_output_tokens) {
            (Wire::OpenAiChat, Some(most)) => put("max_tokens", json!(most)),
            (Wire::OpenAiResponses, Some(most)) => put("max_output_tokens", json!(most)),
            (Wire::Anthropic, most) => put("max_tokens", json!(most.unwrap_or(OUTPUT_TOKENS))),
            (_, None) => {}
        }
        if let Some(temperature) = self.temperature {
            put("temperature", json!(temperature));
        }
        match wire {
            Wire::OpenAiChat if is_streamed => {
                put("stream_options", json!({"include_usage": true}));
            }
            // What is asked here is nobody's to look up later.
            Wire::OpenAiResponses => put("store", json!(false)),
            _ => {}
        }
        if !self.tools.is_empty() {
            let tools = self.tools.iter().map(|tool| tool.json(wire));
            put("tools", tools.collect());
        }
        Bytes::from(body.to_string())
    }

    fn aligned(&self, endpoint: &Endpoint, request: &Bytes, instruction: &str) -> Option<Bytes> {
        let body = Body::scan(request.clone(), endpoint.wire).ok()?;
        let last = body.messages().last()?.clone();
        let message = Message::text(Role::User, instruction);
        let mut added = Vec::new();
        for raw in encode(endpoint.wire, &message) {
            added.push(b',');
            added.extend(raw);
        }
        let mut edits = vec![(last.end..last.end, added)];
        // Tools stay, because they are a part of what is cached; none may be called.
        let none: &[u8] = match endpoint.wire {
            Wire::Anthropic => br#"{"type":"none"}"#,
            Wire::OpenAiChat | Wire::OpenAiResponses => br#""none""#,
        };
        let at = |slice: &[u8]| {
            let start = (slice.as_ptr() as usize).checked_sub(request.as_ptr() as usize)?;
            Some(start..start + slice.len())
        };
        if body.field(Field::Tools).is_some() {
            match body.field(Field::ToolChoice) {
                Some(choice) => edits.push((at(choice)?, none.to_vec())),
                None => {
                    let end = request.iter().rposition(|byte| *byte == b'}')?;
                    let mut member = br#","tool_choice":"#.to_vec();
                    member.extend(none);
                    edits.push((end..end, member));
                }
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        let mut out = Vec::with_capacity(request.len() + 512);
        let mut from = 0;
        for (range, with) in edits {
            out.extend(request.get(from..range.start)?);
            out.extend(with);
            from = range.end;
        }
        out.extend(request.get(from..)?);
        Some(Bytes::from(out))
    }
}

/// What tools returned, as the message that answers their calls: for each its id, and its text or why there is none.
pub fn tool_results(
    outcomes: impl IntoIterator<Item = (Box<str>, Result<String, String>)>,
) -> Message {
    let results = outcomes.into_iter().map(|(call_id, outcome)| {
        Block::Result(ToolResult {
            call_id,
            is_error: outcome.is_err(),
            parts: vec![ResultPart::Text(outcome.unwrap_or_else(|why| why))],
        })
    });
    Message {
        role: Role::Tool,
        blocks: results.collect(),
    }
}

impl Tool {
    /// The tool as requests of an API declare it.
    #[must_use]
    pub fn json(&self, wire: Wire) -> Value {
        match wire {
            Wire::OpenAiChat => json!({"type": "function", "function": {
                "name": self.name, "description": self.description, "parameters": self.schema,
            }}),
            Wire::OpenAiResponses => json!({
                "type": "function", "name": self.name, "description": self.description,
                "parameters": self.schema, "strict": false,
            }),
            Wire::Anthropic => json!({
                "name": self.name, "description": self.description, "input_schema": self.schema,
            }),
        }
    }
}
