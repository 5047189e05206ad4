//! The middleware of an agent loop: what happens before and after each turn.
//!
//! ```text
//! loop:  before_turn ─▶ stop? compact? flush? inject? ─▶ the model's turn ─▶ tools ─▶ after_turn
//! ```

mod compaction;
mod limits;

use epitome::{Decision, Reason, Session};

use crate::statistics::Statistics;

pub use compaction::{AutoCompact, ContextWarning, MemoryFlush};
pub use limits::{PriceLimit, TurnLimit};

/// One part of a [`Pipeline`].
pub trait Middleware: Send {
    /// Its name in logs.
    fn name(&self) -> &str;

    /// What it wants before a turn.
    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action;

    /// What it wants after a turn.
    fn after_turn(&mut self, _context: &TurnContext<'_>) -> Action {
        Action::Continue
    }

    /// Something ended that it may have counted.
    fn reset(&mut self, _reason: ResetReason) {}
}

/// What is known around a turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnContext<'a> {
    /// What the conversation took so far.
    pub statistics: &'a Statistics,
    /// What the session would do.
    pub decision: Decision,
    /// The size of the context, as the trigger of the preset counts it.
    pub context_tokens: u64,
    /// Messages in view.
    pub message_count: usize,
    /// Compactions so far, undone ones too.
    pub compactions: u64,
}

impl<'a> TurnContext<'a> {
    /// The context of a session's next turn.
    #[must_use]
    pub fn of(session: &Session, statistics: &'a Statistics) -> Self {
        Self {
            statistics,
            decision: session.decide(),
            context_tokens: session.due_tokens(),
            message_count: session.log().len(),
            compactions: session.records().len() as u64,
        }
    }
}

/// What a middleware wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Continue,
    /// The loop ends.
    Stop {
        /// Why.
        reason: StopReason,
        /// Why, for people.
        message: String,
    },
    /// The conversation is compacted.
    Compact {
        /// Why.
        reason: Reason,
    },
    /// The model is told something with its next turn.
    Inject(String),
    /// The model gets a turn to save memories, before anything is compacted.
    FlushMemory,
}

/// Why a loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// It had all its turns.
    TurnLimit,
    /// It spent all its money.
    PriceLimit,
    /// A middleware of the host wants it.
    Host,
}

/// What ended, for those who count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResetReason {
    /// The loop: another run begins.
    Stop,
    /// A cycle: the conversation was compacted.
    Compact,
}

/// What the host does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the model gets a turn to save memories first, before [`Outcome::next`].
    pub is_flush_due: bool,
    /// What then.
    pub next: Next,
}

/// What the host does after a flush, if one is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    #[default]
    Continue,
    /// It goes on and tells the model this.
    Inject(String),
    /// It compacts, and goes on.
    Compact {
        /// Why.
        reason: Reason,
    },
    /// It ends the loop.
    Stop {
        /// Why.
        reason: StopReason,
        /// Why, for people.
        message: String,
    },
}

/// Middlewares in order.
///
/// They are asked one after the other. The first that wants to stop or to compact ends the pass: those behind it are
/// not asked, and what was to be injected is dropped. Other injections are joined, a blank line between them. A flush
/// is due if anybody before the end of the pass wants one, except when the loop stops, because nothing is spent then.
/// So limits come first, the flush before the compaction.
///
/// The host calls [`Pipeline::reset`] when it has compacted and when its loop has ended.
///
/// ```
/// use epitome::{Message, Meter, Role, Session, Window};
/// use epitome_engine::Statistics;
/// use epitome_engine::pipeline::{AutoCompact, Next, Pipeline, TurnContext, TurnLimit};
///
/// let mut pipeline = Pipeline::default().with(TurnLimit::new(50)).with(AutoCompact::default());
/// let mut session = Session::new(Window::configured(20_000), Meter::Estimate);
/// session.push(Message::text(Role::User, "Count the stars."));
/// let statistics = Statistics::default();
/// let outcome = pipeline.before_turn(&TurnContext::of(&session, &statistics));
/// assert_eq!(outcome.next, Next::Continue);
/// ```
#[derive(Default)]
pub struct Pipeline(Vec<Box<dyn Middleware>>);

impl Pipeline {
    /// The same pipeline with one more at its end.
    #[must_use]
    pub fn with(mut self, middleware: impl Middleware + 'static) -> Self {
        self.push(middleware);
        self
    }

    /// Adds one at its end.
    pub fn push(&mut self, middleware: impl Middleware + 'static) {
        self.0.push(Box::new(middleware));
    }

    /// Asks what to do before a turn.
    pub fn before_turn(&mut self, context: &TurnContext<'_>) -> Outcome {
        self.pass(|middleware| middleware.before_turn(context))
    }

    /// Asks what to do after a turn.
    pub fn after_turn(&mut self, context: &TurnContext<'_>) -> Outcome {
        self.pass(|middleware| middleware.after_turn(context))
    }

    /// Tells everybody what ended.
    pub fn reset(&mut self, reason: ResetReason) {
        for middleware in &mut self.0 {
            middleware.reset(reason);
        }
    }

    fn pass(&mut self, mut ask: impl FnMut(&mut dyn Middleware) -> Action) -> Outcome {
        let mut is_flush_due = false;
        let mut injections = Vec::new();
        for middleware in &mut self.0 {
            let action = ask(middleware.as_mut());
            if action != Action::Continue {
                tracing::debug!(middleware = middleware.name(), ?action, "middleware");
            }
            match action {
                Action::Continue => {}
                Action::Inject(text) => injections.push(text),
                Action::FlushMemory => is_flush_due = true,
                Action::Compact { reason } => {
                    return Outcome {
                        is_flush_due,
                        next: Next::Compact { reason },
                    };
                }
                Action::Stop { reason, message } => {
                    return Outcome {
                        is_flush_due: false,
                        next: Next::Stop { reason, message },
                    };
                }
            }
        }
        let next = if injections.is_empty() {
            Next::Continue
        } else {
            Next::Inject(injections.join("\n\n"))
        };
        Outcome { is_flush_due, next }
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|middleware| middleware.name());
        f.debug_list().entries(names).finish()
    }
}
