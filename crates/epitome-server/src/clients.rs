//! Which program holds a conversation, by what its requests say of themselves.

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::USER_AGENT;

/// Of so many conversations it is known, the newest.
const MOST_CONVERSATIONS: usize = 20_000;
/// A program that nobody knows is shown by so much of its own name.
const MOST_CHARS: usize = 30;

/// How programs begin to call themselves, and what people call them. Agents come before the libraries that they are made with.
const KNOWN: &[(&str, &str)] = &[
    ("claude-cli", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("codex", "Codex"),
    ("opencode", "OpenCode"),
    ("aider", "aider"),
    ("geminicli", "Gemini CLI"),
    ("goose", "Goose"),
    ("cline", "Cline"),
    ("roocode", "Roo Code"),
    ("openhands", "OpenHands"),
    ("copilot", "Copilot"),
    ("openclaw", "OpenClaw"),
    ("pi-coding-agent", "pi"),
    ("pi/", "pi"),
    ("litellm", "LiteLLM"),
    ("ai-sdk", "AI SDK"),
    ("openai/python", "OpenAI for Python"),
    ("asyncopenai/python", "OpenAI for Python"),
    ("openai/js", "OpenAI for JavaScript"),
    ("anthropic/python", "Anthropic for Python"),
    ("asyncanthropic/python", "Anthropic for Python"),
    ("anthropic/js", "Anthropic for JavaScript"),
    ("curl", "curl"),
];

/// The programs of the conversations that were seen since the start.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    names: HashMap<String, Arc<str>>,
    /// The oldest first.
    order: VecDeque<String>,
}

impl Clients {
    /// A request of this conversation came with these headers. The newest program counts.
    pub(crate) fn saw(&self, conversation: &str, headers: &HeaderMap) {
        let said = headers.get(USER_AGENT).and_then(|said| said.to_str().ok());
        let Some(name) = said.and_then(name) else {
            return;
        };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.names.get_mut(conversation) {
            if **known != *name {
                *known = name.into();
            }
            return;
        }
        if seen.order.len() >= MOST_CONVERSATIONS
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.names.remove(&oldest);
        }
        seen.order.push_back(conversation.to_owned());
        seen.names.insert(conversation.to_owned(), name.into());
    }

    /// The program that holds a conversation, in words.
    pub(crate) fn of(&self, conversation: &str) -> Option<Arc<str>> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.names.get(conversation).cloned()
    }
}

/// What people call the program that calls itself so.
fn name(user_agent: &str) -> Option<String> {
    let said = user_agent.to_ascii_lowercase();
    let is_there = |begin: &str| said.split_whitespace().any(|word| word.starts_with(begin));
    if let Some((_, known)) = KNOWN.iter().find(|(begin, _)| is_there(begin)) {
        return Some((*known).to_owned());
    }
    let own = user_agent.split_whitespace().next()?;
    let own = own.split('/').next().unwrap_or(own);
    let own: String = own.chars().take(MOST_CHARS).collect();
    (!own.is_empty()).then_some(own)
}
