use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::strict::{Rule, Violation};
use crate::wire::{array, block_type, text};

/// What a provider of Responses keeps of its answers, unless it is told not to: what a client may refer to later.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    items: HashMap<String, Value>,
    /// The whole conversation up to an answer, by the answer's identifier.
    conversations: HashMap<String, Vec<Value>>,
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what a request refers to in its place; what is not there is what the provider says about it.
    pub(super) fn resolve(&self, request: &mut Value) -> Vec<Violation> {
        let answers = self.lock();
        let mut missing = Vec::new();
        let mut input = match request.get("previous_response_id").and_then(Value::as_str) {
            None => Vec::new(),
            Some(id) => answers.conversations.get(id).cloned().unwrap_or_else(|| {
                let detail = format!("Previous response with id '{id}' not found.");
                missing.push(Violation::of_request(Rule::UnknownReference, detail));
                Vec::new()
            }),
        };
        match request.get("input") {
            Some(Value::String(text)) => input.push(json!({"role": "user", "content": text})),
            _ => {
                for (index, item) in array(request, "input").iter().enumerate() {
                    let id = text(item, "id");
                    let known = answers.items.get(id);
                    if block_type(item) != "item_reference" {
                        input.push(item.clone());
                    } else if let Some(known) = known {
                        input.push(known.clone());
                    } else {
                        let detail = format!("Item with id '{id}' not found.");
                        missing.push(Violation::of_message(Rule::UnknownReference, index, detail));
                    }
                }
            }
        }
        if let Some(members) = request.as_object_mut() {
            members.insert(String::from("input"), Value::Array(input));
        }
        missing
    }

    /// Keeps an answer to a request that was resolved.
    pub(super) fn keep(&self, request: &Value, id: String, items: Vec<Value>) {
        if request.get("store").and_then(Value::as_bool) == Some(false) {
            return;
        }
        let mut answers = self.lock();
        let conversation = array(request, "input")
            .iter()
            .chain(&items)
            .cloned()
            .collect();
        answers.conversations.insert(id, conversation);
        for item in items {
            answers.items.insert(text(&item, "id").to_owned(), item);
        }
    }
}
