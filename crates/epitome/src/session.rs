//! One conversation kept inside its window, for those who embed the engine.

use crate::compaction::Compaction;
use crate::log::{Facts, Log};
use crate::message::Message;
use crate::meter::Meter;
use crate::plan::{NoPlan, Plan, leading_system};
use crate::preset::{Preset, Trigger};
use crate::preset_name::PresetName;
use crate::reason::Reason;
use crate::view::{View, ViewItem};
use crate::window::Window;

/// How far the default meter may be off before a provider's own count is known.
pub const UNCALIBRATED_ERROR_RATIO: f64 = 0.1;

/// A conversation, its log and its compactions.
///
/// *Input*: [`Session::push`], [`Session::commit`], [`Session::undo`]. *Queries*: [`Session::decide`]
/// (O(1)), [`Session::view`]. *Work that may happen elsewhere*: [`Session::begin`] hands out a [`Job`]
/// that owns all it needs.
///
/// ```
/// use epitome::{Decision, Message, Meter, Role, Session, Window};
///
/// let mut session = Session::new(Window::configured(4_000), Meter::Estimate);
/// session.push(Message::text(Role::User, "Count the stars. Never guess."));
/// for night in 0..200 {
///     session.push(Message::text(Role::Assistant, format!("Night {night}: counted {} stars.", night * 17)));
///     session.push(Message::text(Role::User, "Go on with the next night, please."));
///     if let Decision::Compact(reason) = session.decide() {
///         let job = session.begin(reason)?;
///         session.commit(job.extract()?)?;
///     }
/// }
/// assert!(session.view_tokens() < 4_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    preset: Preset,
    window: Window,
    output_tokens: u64,
    meter: Meter,
    log: Log,
    messages: Vec<Message>,
    compactions: Vec<Compaction>,
    saved_tokens: u64,
    exhausted_at: Option<usize>,
}

/// What to do before the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it.
    Proceed,
    /// Send it, and compact in the background: the line is near.
    Prepare,
    /// Compact first: the hard line is reached.
    Compact(Reason),
}

/// A frozen span and what is to be done with it. Owns everything; runs anywhere, as slowly as it likes.
#[derive(Clone, Debug)]
pub struct Job {
    preset: PresetName,
    plan: Plan,
    log: Log,
    messages: Vec<Message>,
    meter: Meter,
}

/// Why a finished job was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A later compaction has taken its place; the conversation is as it was.
    #[error("a newer compaction already covers this span")]
    Superseded,
    /// There is nothing to take back.
    #[error("there is no compaction to undo")]
    NothingToUndo,
    /// Without the compaction the conversation would not fit its window.
    #[error(
        "without the compaction the conversation takes {tokens} tokens, above the line of {hard_tokens}"
    )]
    UndoAboveHardLine {
        /// What it would take.
        tokens: u64,
        /// The line.
        hard_tokens: u64,
    },
}

impl std::fmt::Display for NoPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "not compacted: {} (floor {} tokens)",
            self.reason, self.floor_tokens
        )
    }
}

impl std::error::Error for NoPlan {}

impl Session {
    /// A new conversation.
    #[must_use]
    pub fn new(window: Window, meter: Meter) -> Self {
        Self {
            preset: Preset::named(PresetName::Default),
            window,
            output_tokens: 0,
            meter,
            log: Log::new(),
            messages: Vec::new(),
            compactions: Vec::new(),
            saved_tokens: 0,
            exhausted_at: None,
        }
    }

    /// The same conversation, compacted as `preset` says.
    #[must_use]
    pub const fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Appends a message and counts it, once.
    pub fn push(&mut self, message: Message) {
        self.log.push(&Facts::of(&message, self.meter));
        self.messages.push(message);
    }

    /// Whether something must happen before the next request. O(1), no I/O.
    #[must_use]
    pub fn decide(&self) -> Decision {
        if self.exhausted_at == Some(self.log.len()) {
            return Decision::Proceed;
        }
        let lines = self
            .window
            .lines(self.output_tokens, UNCALIBRATED_ERROR_RATIO);
        let tokens = self.view_tokens();
        if self.preset.is_due(tokens, self.window, lines).is_ok() {
            return Decision::Compact(Reason::HardLine);
        }
        let is_near = lines.is_some_and(|lines| tokens > lines.prepare_tokens);
        if is_near && self.preset.trigger == Trigger::HardLine {
            Decision::Prepare
        } else {
            Decision::Proceed
        }
    }

    /// Freezes the span that is to be compacted.
    ///
    /// # Errors
    /// [`NoPlan`] when there is nothing to remove; asking again before the log grows is pointless, and
    /// [`Session::decide`] will not suggest it.
    pub fn begin(&mut self, reason: Reason) -> Result<Job, NoPlan> {
        let system_tokens = self.log.tokens(0..leading_system(&self.log));
        let total = self.log.total_tokens() - system_tokens;
        let target = (self.window.tokens / 4).min(total / 2);
        let plan = Plan::with(&self.preset, &self.log, None, target, reason).inspect_err(|_| {
            self.exhausted_at = Some(self.log.len());
        })?;
        Ok(Job {
            preset: self.preset.name,
            plan,
            log: self.log.clone(),
            messages: self.messages.clone(),
            meter: self.meter,
        })
    }

    /// Puts a compaction in force. Messages that arrived since [`Session::begin`] stay as they are.
    ///
    /// # Errors
    /// [`CommitError::Superseded`] when a compaction that covers more is in force.
    pub fn commit(&mut self, compaction: Compaction) -> Result<(), CommitError> {
        let covered = |compaction: &Compaction| compaction.plan.span.end;
        if self
            .compactions
            .last()
            .is_some_and(|last| covered(last) >= covered(&compaction))
        {
            return Err(CommitError::Superseded);
        }
        self.saved_tokens = compaction
            .plan
            .tokens_before
            .saturating_sub(compaction.tokens_after);
        self.compactions.push(compaction);
        Ok(())
    }

    /// Takes the newest compaction back. The originals were never gone.
    ///
    /// # Errors
    /// When there is none, or when the conversation would not fit without it.
    pub fn undo(&mut self) -> Result<Compaction, CommitError> {
        let saved = |compaction: &Compaction| {
            compaction
                .plan
                .tokens_before
                .saturating_sub(compaction.tokens_after)
        };
        let before = self.compactions.iter().rev().nth(1).map_or(0, saved);
        let tokens = self.log.total_tokens() - before;
        if let Some(lines) = self
            .window
            .lines(self.output_tokens, UNCALIBRATED_ERROR_RATIO)
            && tokens > lines.hard_tokens
            && !self.compactions.is_empty()
        {
            return Err(CommitError::UndoAboveHardLine {
                tokens,
                hard_tokens: lines.hard_tokens,
            });
        }
        let undone = self.compactions.pop().ok_or(CommitError::NothingToUndo)?;
        self.saved_tokens = before;
        Ok(undone)
    }

    /// What the model gets: positions of messages, and where the summary stands.
    #[must_use]
    pub fn view(&self) -> View {
        match self.compactions.last() {
            Some(compaction) => compaction.view(self.log.len()),
            None => View {
                items: vec![ViewItem::Entries(0..self.log.len())],
            },
        }
    }

    /// What the view takes.
    #[must_use]
    pub const fn view_tokens(&self) -> u64 {
        self.log.total_tokens().saturating_sub(self.saved_tokens)
    }

    /// Every message ever pushed.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The compaction in force.
    #[must_use]
    pub fn compaction(&self) -> Option<&Compaction> {
        self.compactions.last()
    }

    /// Sizes and cuts.
    #[must_use]
    pub const fn log(&self) -> &Log {
        &self.log
    }
}

impl Job {
    /// What is to be done.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Does it with the built-in summariser.
    ///
    /// # Errors
    /// When the result would not be clearly smaller.
    pub fn extract(self) -> Result<Compaction, NoPlan> {
        let Self {
            preset,
            plan,
            log,
            messages,
            meter,
        } = self;
        Compaction::extract_as(preset, plan, &log, &messages, meter, None)
    }
}
