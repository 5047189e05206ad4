//! A small agent that works in a folder for as long as it likes: its conversation stays inside the model's window.
//!
//! ```text
//! cargo run -p epitome-engine --example agent -- --url http://127.0.0.1:8080/v1 --api openai-chat --model qwen3 \
//!     --preset default --window 32000 --folder work "Write a story in chapters, one file each."
//! ```
//!
//! Further messages are read from standard input, one a line; a heartbeat is one of them. A key, where the endpoint
//! wants one, is read from the environment variable that `--key` names.

#[path = "agent/arguments.rs"]
mod arguments;
#[path = "agent/tools.rs"]
mod tools;

use std::io::{BufRead, Write, stderr, stdin, stdout};
use std::sync::Arc;

use anyhow::Context as _;
use epitome::settings::Settings;
use epitome::{
    Event, HEARTBEAT_SECTION, Message, Preset, Reason, Role, Threshold, Window, is_heartbeat_ok,
};
use epitome_engine::conversation::{Recovery, StepAction};
use epitome_engine::memory_folder::flush::FlushPrompts;
use epitome_engine::model::{Ask, CallError, Caller, Endpoint, Key, SpendLedger, tool_results};
use epitome_engine::pipeline::{
    AutoCompact, ContextWarning, MemoryFlush, Next, Pipeline, PriceLimit, ResetReason, TurnContext,
    TurnLimit,
};
use epitome_engine::{Clock, Conversation, Engine, MemoryFolder};
use epitome_wire::{Answer, Wire};
use serde_json::{Map, Value, json};

use arguments::Arguments;
use tools::Tools;

const SYSTEM: &str = "\
You work in a folder, with tools. Do the task step by step, and say in a sentence what you did when it is done.
";
const MOST_TURNS: u64 = 200;
const MOST_DOLLARS: f64 = 5.0;
const OUTPUT_TOKENS: u64 = 4_096;

struct Agent {
    settings: Settings,
    conversation: Conversation,
    caller: Caller,
    pipeline: Pipeline,
    tools: Tools,
    memories: MemoryFolder,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let settings = Settings::of(arguments.preset);
    let window = Window::configured(arguments.window);
    let endpoint = Endpoint::new(arguments.api, &arguments.url, &arguments.model)?
        .with_window(arguments.window)
        .with_key(arguments.key.map_or(Key::None, Key::Environment));
    let place = endpoint.place();
    let caller = Caller::new(endpoint, Arc::new(SpendLedger::default()), Clock::default());
    let engine = Engine::builder()
        .settings(settings.clone())
        .window(window)
        .wire(arguments.api)
        .model(place, &arguments.model)
        .summariser(caller.clone())
        .build()
        .await?;
    let tools = Tools::open(&arguments.folder)?;
    let conversation = engine.create().await?;
    begin(&conversation, arguments.api, &arguments.model).await?;
    let mut agent = Agent {
        pipeline: pipeline(&settings, window),
        memories: MemoryFolder::open(&arguments.folder)?,
        settings,
        conversation,
        caller,
        tools,
    };
    agent.hear(&arguments.task).await?;
    for line in stdin().lock().lines() {
        agent.hear(line?.trim()).await?;
    }
    agent.report().await?;
    engine.shutdown().await;
    Ok(())
}

/// Limits first, so that nothing is spent behind them; memories before the compaction that would cost them.
fn pipeline(settings: &Settings, window: Window) -> Pipeline {
    let belief = epitome::Belief::default();
    let margins = epitome::Margins::default();
    let counting = epitome::OutputCounting::Apart;
    let lines = belief
        .gauge(window, margins, Some(OUTPUT_TOKENS), counting)
        .lines(0);
    let threshold = Preset::from(settings).threshold_tokens(window, lines);
    let reserve_tokens = window.tokens.saturating_sub(threshold.unwrap_or(0));
    let warning = threshold.map_or(Threshold::Off, Threshold::Tokens);
    Pipeline::default()
        .with(TurnLimit::new(MOST_TURNS))
        .with(PriceLimit::dollars(MOST_DOLLARS))
        .with(ContextWarning::new(warning, window.tokens))
        .with(MemoryFlush::new(window.tokens, reserve_tokens))
        .with(AutoCompact::default())
}

/// Everything of a request that is not the conversation; where the API has no place for the system prompt, that is.
async fn begin(conversation: &Conversation, api: Wire, model: &str) -> anyhow::Result<()> {
    let system = format!("{SYSTEM}\n{HEARTBEAT_SECTION}");
    let mut frame = Map::new();
    frame.insert("model".to_owned(), json!(model));
    let tools = Tools::declared().into_iter().map(|tool| tool.json(api));
    frame.insert("tools".to_owned(), tools.collect());
    match api {
        Wire::OpenAiChat => frame.insert("max_tokens".to_owned(), json!(OUTPUT_TOKENS)),
        Wire::Anthropic => {
            frame.insert("system".to_owned(), json!(system));
            frame.insert("max_tokens".to_owned(), json!(OUTPUT_TOKENS))
        }
        Wire::OpenAiResponses => frame.insert("instructions".to_owned(), json!(system)),
    };
    conversation
        .set_frame(&Value::Object(frame).to_string())
        .await?;
    if api == Wire::OpenAiChat {
        conversation
            .push(&Message::text(Role::System, system))
            .await?;
    }
    Ok(())
}

impl Agent {
    /// Takes a message of the user, and works until the model has nothing more to do.
    async fn hear(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let message = Message::text(Role::User, text);
        self.conversation.push(&message).await?;
        while self.may_go_on().await? {
            let answer = self.turn().await?;
            let results = self.tools.answer(&answer.message);
            if results.is_empty() {
                if !is_heartbeat_ok(&answer.text()) {
                    writeln!(stdout(), "{}", answer.text())?;
                }
                break;
            }
            self.conversation.push(&tool_results(results)).await?;
        }
        self.pipeline.reset(ResetReason::Stop);
        Ok(())
    }

    /// Asks the middleware, and does what it wants before a turn.
    async fn may_go_on(&mut self) -> anyhow::Result<bool> {
        let statistics = self.conversation.statistics().await;
        let pipeline = &mut self.pipeline;
        let outcome = self
            .conversation
            .look(|session| pipeline.before_turn(&TurnContext::of(session, &statistics)))
            .await;
        if outcome.is_flush_due {
            let today = jiff::Zoned::now().date();
            let prompts = FlushPrompts::default();
            let flush =
                self.conversation
                    .flush_memory(&self.caller, &self.memories, &prompts, today);
            let flushed = flush.await;
            writeln!(stderr(), "Memories: {} notes saved", flushed.notes)?;
        }
        match outcome.next {
            // `prepare_step` compacts, in the way that the settings say.
            Next::Continue | Next::Compact { .. } => Ok(true),
            Next::Inject(text) => {
                let note = format!("<system-reminder>{text}</system-reminder>");
                let note = Message::text(Role::User, note);
                self.conversation.push(&note).await?;
                Ok(true)
            }
            Next::Stop { message, .. } => {
                writeln!(stderr(), "{message}")?;
                Ok(false)
            }
        }
    }

    /// One answer of the model. A request that turns out to be too long is compacted and sent again.
    async fn turn(&mut self) -> anyhow::Result<Answer> {
        loop {
            let step = self.conversation.prepare_step().await?;
            if let StepAction::Unchanged(reason) = step.action
                && reason != Reason::NothingToRemove
            {
                writeln!(stderr(), "The request goes out as it is: {reason}")?;
            }
            self.tell().await?;
            let ask = Ask::own(self.conversation.request().await);
            let asked = self.caller.begin(self.conversation.id().as_str());
            let began = tokio::time::Instant::now();
            match self.caller.ask(&ask, &asked).await {
                Ok(answer) => {
                    let seconds = began.elapsed().as_secs_f64();
                    self.conversation.observe(answer.usage, seconds).await;
                    let pushed = self.conversation.push(&answer.message).await;
                    pushed.context("the model gave an empty answer")?;
                    return Ok(answer);
                }
                Err(CallError::TooLong { overflow, message }) => {
                    match self.conversation.too_long(&overflow).await? {
                        Recovery::Retry => self.tell().await?,
                        Recovery::GiveUp(_) | Recovery::NotAnOverflow => anyhow::bail!(message),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What happened, in the words of the preset; a compaction begins a new cycle of the middleware.
    async fn tell(&mut self) -> anyhow::Result<()> {
        for event in self.conversation.take_events().await {
            if matches!(event, Event::Finished(_) | Event::Truncated { .. }) {
                self.pipeline.reset(ResetReason::Compact);
            }
            for line in event.lines(self.settings.design()) {
                writeln!(stderr(), "{line}")?;
            }
        }
        Ok(())
    }

    async fn report(&mut self) -> anyhow::Result<()> {
        self.tell().await?;
        let taken = self.conversation.statistics().await;
        writeln!(
            stderr(),
            "{} turns, {} compactions, {} summaries by the model; {} tokens in, {} out, ${:.4}",
            taken.turns(),
            taken.compactions,
            taken.summary_calls,
            taken.tokens.session_prompt_tokens,
            taken.tokens.session_completion_tokens,
            taken.spent_nanodollars() as f64 / 1e9,
        )?;
        Ok(())
    }
}
