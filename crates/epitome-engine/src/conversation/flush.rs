//! The turn before a compaction in which the model saves what should outlive it. The conversation never sees it.

use epitome::{Message, Role};
use jiff::civil::Date;

use super::Conversation;
use crate::memory_folder::flush::{FlushPrompts, is_silent};
use crate::memory_folder::{MEMORY_TOOL, MemoryFolder};
use crate::model::{Ask, Caller, Form, tool_results};

/// How often the model may write before it has to end its turn.
const TURNS: usize = 10;
/// The most tokens of one answer.
const OUTPUT_TOKENS: u64 = 2_048;

/// What came of a flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flushed {
    /// How it ended.
    pub outcome: FlushOutcome,
    /// How many notes were written.
    pub notes: usize,
    /// What was refused, in words: a path outside the folder, for example.
    pub refused: Vec<String>,
}

/// How a flush ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlushOutcome {
    /// The model had nothing to say to anybody.
    Silent,
    /// It said something, which the host may show.
    Said(String),
    /// The model did not answer. Nothing else depends on it.
    Failed(String),
}

impl Conversation {
    /// Runs the turn on a detached view: the model sees the conversation and the prompts, may write notes to `folder`,
    /// and nothing of it enters the conversation. Fails quietly: a flush never stands in the way of a turn.
    pub async fn flush_memory(
        &self,
        caller: &Caller,
        folder: &MemoryFolder,
        prompts: &FlushPrompts,
        today: Date,
    ) -> Flushed {
        // Also one that fails was the one of its cycle: a flush never stands in the way twice.
        self.state().await.statistics.flushed();
        let mut flushed = Flushed {
            outcome: FlushOutcome::Silent,
            notes: 0,
            refused: Vec::new(),
        };
        let texts = match prompts.render(today) {
            Ok(texts) => texts,
            Err(error) => {
                flushed.outcome = FlushOutcome::Failed(error.to_string());
                return flushed;
            }
        };
        let mut ask = self.flush_ask(&texts).await;
        let asked = self.asked();
        for _ in 0..TURNS {
            let answer = match caller.ask(&ask, &asked).await {
                Ok(answer) => answer,
                Err(error) => {
                    flushed.outcome = FlushOutcome::Failed(error.to_string());
                    return flushed;
                }
            };
            let mut results = Vec::new();
            for call in answer.message.calls() {
                let outcome = if &*call.name == MEMORY_TOOL {
                    folder
                        .call(&call.arguments, today)
                        .map(|written| written.to_string())
                        .map_err(|error| error.to_string())
                } else {
                    Err(format!("there is no tool `{}` in this turn", call.name))
                };
                match &outcome {
                    Ok(_) => flushed.notes += 1,
                    Err(why) => flushed.refused.push(why.clone()),
                }
                results.push((call.id.clone(), outcome));
            }
            if results.is_empty() {
                let text = answer.text();
                flushed.outcome = if text.trim().is_empty() || is_silent(&text) {
                    FlushOutcome::Silent
                } else {
                    FlushOutcome::Said(text)
                };
                return flushed;
            }
            ask.go_on(answer.message, tool_results(results));
        }
        flushed
    }

    async fn flush_ask(&self, texts: &FlushPrompts) -> Ask {
        let view = self.look(|session| session.view_messages()).await;
        let mut system = String::new();
        let mut messages: Vec<Message> = Vec::new();
        for message in &view {
            if message.role == Role::System {
                for text in message.spoken() {
                    system.push_str(text);
                    system.push_str("\n\n");
                }
            } else {
                messages.push((**message).clone());
            }
        }
        system.push_str(&texts.system_prompt);
        messages.push(Message::text(Role::User, texts.prompt.as_str()));
        Ask {
            form: Form::Fresh {
                system: Some(system),
                messages,
            },
            tools: vec![MemoryFolder::tool()],
            max_output_tokens: Some(OUTPUT_TOKENS),
            temperature: None,
        }
    }
}
