//! Who writes a summary, and a writer that asks a model.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use epitome::reference::layer;
use epitome::{Failure, Job, Message, Usage};
use epitome_wire::Body;
use minijinja::{Value, context};

use super::answer;
use super::memory::{self, MEMORY_SAVE, Memory};
use super::parts::Parts;
use super::style::{Style, SummaryForm};
use super::templates::Templates;
use crate::model::{Ask, Asked, CallError, Caller, Form, tool_results};

/// How often a model may save memories before it has to write.
const MEMORY_TURNS: usize = 10;

/// What is to be written.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The frozen span.
    pub job: &'a Job,
    /// What the user wants kept in mind.
    pub focus: Option<&'a str>,
    /// The conversation's own request, for the aligned form.
    pub request: Option<Bytes>,
    /// For whom, and until when.
    pub asked: Asked,
    /// Whether messages that are very large are only noted.
    pub notes_oversized: bool,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The text, not yet checked.
    pub text: String,
    /// What was saved on the way.
    pub memories: Vec<Memory>,
    /// What it took.
    pub usage: Usage,
}

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WriterError {
    /// The kind of failure.
    pub failure: Failure,
    /// What happened.
    pub message: String,
}

impl WriterError {
    pub(super) fn new(failure: Failure, message: impl Into<String>) -> Self {
        Self {
            failure,
            message: message.into(),
        }
    }
}

impl From<CallError> for WriterError {
    fn from(error: CallError) -> Self {
        Self::new(error.failure(), error.to_string())
    }
}

/// A future that is told at once what it gives.
pub type Writing<'a> = Pin<Box<dyn Future<Output = Result<Draft, WriterError>> + Send + 'a>>;

/// Someone who writes summaries. May be dropped in the middle of it.
pub trait Writer: fmt::Debug + Send + Sync {
    /// Writes one. What comes back is checked by whoever asked.
    fn write<'a>(&'a self, task: Task<'a>) -> Writing<'a>;

    /// The window of the writer, where it has one: a message above half of it is very large.
    fn window_tokens(&self) -> Option<u64> {
        None
    }

    /// What calls for a conversation cost since this was asked last, in billionths of a dollar; nothing where that is not
    /// known.
    fn book(&self, conversation: &str) -> u64 {
        let _ = conversation;
        0
    }
}

/// A writer that asks a model.
#[derive(Debug)]
pub struct ModelWriter {
    pub(super) caller: Caller,
    pub(super) templates: Arc<Templates>,
    pub(super) style: Style,
    pub(super) parts: Parts,
    /// The window that the model turned out to have; zero where nothing is known.
    learned_tokens: AtomicU64,
}

impl Writer for ModelWriter {
    fn write<'a>(&'a self, task: Task<'a>) -> Writing<'a> {
        Box::pin(self.draft(task))
    }

    fn window_tokens(&self) -> Option<u64> {
        let known = self.caller.endpoint().window_tokens();
        Some(match self.learned_tokens.load(Ordering::Relaxed) {
            0 => known,
            learned => learned.min(known),
        })
    }

    fn book(&self, conversation: &str) -> u64 {
        self.caller.spending().book(conversation)
    }
}

impl ModelWriter {
    /// A writer in the style of a design.
    #[must_use]
    pub fn new(caller: Caller, templates: Arc<Templates>, style: Style, parts: Parts) -> Self {
        Self {
            caller,
            templates,
            style,
            parts,
            learned_tokens: AtomicU64::new(0),
        }
    }

    async fn draft(&self, task: Task<'_>) -> Result<Draft, WriterError> {
        if self.style.form == SummaryForm::Aligned
            && !task.notes_oversized
            && let Some(request) = self.alignable(&task)
        {
            match self.aligned(&task, request).await {
                Err(error) if error.failure == Failure::SummaryOverflow => {}
                other => return other,
            }
        }
        self.staged(&task).await
    }

    /// The conversation's own request, if the summariser can read it and it leaves room for an answer.
    fn alignable(&self, task: &Task<'_>) -> Option<Bytes> {
        let request = task.request.clone()?;
        Body::scan(request.clone(), self.caller.endpoint().wire()).ok()?;
        let tokens = request.len() as u64 / 4 + self.most_output(task.job);
        (tokens < self.window_tokens()?).then_some(request)
    }

    async fn aligned(&self, task: &Task<'_>, request: Bytes) -> Result<Draft, WriterError> {
        let instruction = self.render(
            "seven_sections",
            context! { budget_tokens => self.budget(task.job), focus => task.focus },
        )?;
        let ask = Ask {
            form: Form::Aligned {
                request,
                instruction,
            },
            tools: Vec::new(),
            max_output_tokens: None,
            temperature: None,
        };
        let answer = self.ask(&ask, &task.asked).await?;
        let text = self.summary(&answer, task.job)?;
        Ok(Draft {
            text,
            memories: Vec::new(),
            usage: answer.usage,
        })
    }

    /// Asks about one transcript, and lets the model save memories on the way.
    pub(super) async fn ask_about(
        &self,
        task: &Task<'_>,
        previous: Option<&str>,
        transcript: &str,
    ) -> Result<Draft, WriterError> {
        let values = context! {
            budget_tokens => self.budget(task.job),
            focus => task.focus,
            previous => previous,
            transcript => transcript,
            task => original_task(task.job),
            round => round(previous),
        };
        let asking = &self.style.design.asking;
        let system = self.render(asking.system_template, values.clone())?;
        let text = self.render(asking.text_template, values)?;
        let mut ask = Ask::new(Some(system), text);
        ask.max_output_tokens = Some(self.most_output(task.job));
        ask.temperature = self.style.temperature;
        if self.style.saves_memories {
            ask.tools = vec![memory::tool()];
        }
        self.converse(ask, task).await
    }

    async fn converse(&self, mut ask: Ask, task: &Task<'_>) -> Result<Draft, WriterError> {
        let mut draft = Draft::default();
        for _ in 0..MEMORY_TURNS {
            let answer = self.ask(&ask, &task.asked).await?;
            add(&mut draft.usage, answer.usage);
            let saved: Vec<_> = answer
                .message
                .calls()
                .filter(|call| self.style.saves_memories && &*call.name == MEMORY_SAVE)
                .map(|call| (call.id.clone(), Memory::from_call(&call.arguments)))
                .collect();
            if saved.is_empty() {
                draft.text = self.summary(&answer, task.job)?;
                return Ok(draft);
            }
            // Calls that are not answered would make the next request invalid.
            let results = tool_results(answer.message.calls().map(|call| {
                let found = saved.iter().find(|(id, _)| *id == call.id);
                let outcome = match found {
                    Some((_, Ok(_))) => Ok(String::from("saved")),
                    Some((_, Err(why))) => Err(why.clone()),
                    None => Err(format!("there is no tool `{}`", call.name)),
                };
                (call.id.clone(), outcome)
            }));
            ask.go_on(answer.message, results);
            draft
                .memories
                .extend(saved.into_iter().filter_map(|(_, memory)| memory.ok()));
        }
        Err(WriterError::new(
            Failure::SummaryCalledTools,
            "the model saved memories and never wrote a summary",
        ))
    }

    pub(super) async fn ask(
        &self,
        ask: &Ask,
        asked: &Asked,
    ) -> Result<epitome_wire::Answer, WriterError> {
        let answer = self.caller.ask(ask, asked).await;
        if let Err(CallError::TooLong { overflow, .. }) = &answer
            && let Some(tokens) = overflow.window_tokens
        {
            self.learned_tokens.store(tokens, Ordering::Relaxed);
        }
        Ok(answer?)
    }

    pub(super) fn summary(
        &self,
        answer: &epitome_wire::Answer,
        job: &Job,
    ) -> Result<String, WriterError> {
        let source = job.tokens(job.plan().span.clone());
        answer::summary(answer, source, job.meter()).map_err(|failure| {
            let message = match failure {
                Failure::SummaryCutOff => "the summary was cut off by its own limit",
                Failure::SummaryCalledTools => "the model called a tool instead of writing",
                Failure::SummaryRefused => "the model would not write a summary",
                Failure::SummaryTooLong => "the summary is longer than what it stands for",
                _ => "the answer has no text",
            };
            WriterError::new(failure, message)
        })
    }

    pub(super) fn render(&self, name: &str, values: Value) -> Result<String, WriterError> {
        let rendered = self.templates.render(name, values);
        rendered.map_err(|error| WriterError::new(Failure::SummaryFailed, error.to_string()))
    }

    /// How long the text may be.
    pub(super) fn budget(&self, job: &Job) -> u64 {
        let percent = self.style.design.asking.told_percent;
        let told = |most: u64| most.saturating_mul(percent) / 100;
        let most = self.style.most_tokens.map_or(u64::MAX, told);
        let planned = job.summary_tokens().min(most);
        planned.min(self.window_tokens().unwrap_or(u64::MAX) / 5)
    }

    /// The most tokens of an answer. Never more than a quarter of the writer's own window.
    pub(super) fn most_output(&self, job: &Job) -> u64 {
        let most = self.style.most_tokens.unwrap_or_else(|| {
            let budget = self.budget(job);
            budget + budget / 4 + 256
        });
        most.min(self.window_tokens().unwrap_or(u64::MAX) / 4)
    }
}

/// The round that comes after the one that a summary says it is.
fn round(previous: Option<&str>) -> u32 {
    let number = previous.and_then(|text| {
        let (_, rest) = text.split_once("(Compaction Round ")?;
        rest.split(')').next()?.parse::<u32>().ok()
    });
    number.unwrap_or(0) + 1
}

/// The task that the conversation began with: once a summary stands for it, as that summary has it, because what the
/// user typed first of what is in view is then a later request.
fn original_task(job: &Job) -> String {
    let told = job.previous_summary().and_then(|text| {
        let (_, behind) = text.split_once("### Original Task\n")?;
        let task = behind.split("\n### ").next()?.trim();
        (!task.is_empty()).then(|| task.to_owned())
    });
    told.unwrap_or_else(|| {
        let mut messages = job.messages().iter();
        let first = messages.find(|message| message.is_typed_by_user());
        let first: Vec<Message> = first
            .map(|message| (**message).clone())
            .into_iter()
            .collect();
        layer::original_task(&first)
    })
}

pub(super) fn add(sum: &mut Usage, more: Usage) {
    sum.fresh_tokens += more.fresh_tokens;
    sum.cache_read_tokens += more.cache_read_tokens;
    sum.cache_write_tokens += more.cache_write_tokens;
    sum.output_tokens += more.output_tokens;
}
