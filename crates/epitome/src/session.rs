//! One conversation kept inside its window, for those who embed the engine.

mod change;
mod job;
mod measure;
mod numbers;
mod overflow;
mod replay;
mod shown;
mod work;

use std::collections::HashSet;
use std::sync::Arc;

use crate::course::{Course, Decision, Move, Sight, Work};
use crate::design::{DueCount, Preset, Trigger};
use crate::digest::Digest;
use crate::event::Event;
use crate::gauge::{Belief, CachePrices};
use crate::guard::Guard;
use crate::ledger::{Breaker, Failure};
use crate::log::{Facts, Log};
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::Pin;
use crate::prune::{Cache, Frozen};
use crate::pruning::PruneSettings;
use crate::reason::Reason;
use crate::reference::openclaw;
use crate::reference::vibe::{self, BeforeTurn, Warnings};
use crate::settings::Settings;
use crate::threshold::Threshold;
use crate::view::View;
use crate::warning::WarningCycle;
use crate::window::Window;

pub use change::{Change, CommitError, Record};
pub use job::{Job, Prepared};
pub use replay::KeptElsewhere;
use shown::Shown;

/// A conversation: every message it ever had, and what of it a model gets.
///
/// *Input*: [`Session::push`], [`Session::observe_sent`], [`Session::commit`], [`Session::undo`], [`Session::fork`].
/// *Queries*: [`Session::decide`] (O(1)), [`Session::view`]. *Work that may happen elsewhere*: [`Session::begin`]
/// hands out a [`Job`] that owns all it needs. What happened is told by [`Session::take_events`].
///
/// ```
/// use epitome::{Decision, Message, Meter, Role, Session, Window};
///
/// let mut session = Session::new(Window::configured(20_000), Meter::Estimate);
/// session.push(Message::text(Role::User, "Count the stars. Never guess."));
/// for night in 0..2_000 {
///     session.push(Message::text(Role::Assistant, format!("Night {night}: counted {} stars.", night * 17)));
///     session.push(Message::text(Role::User, "Go on with the next night, please."));
///     if let Decision::Compact(reason) = session.decide() {
///         let job = session.begin(reason)?;
///         session.commit(job.extract()?)?;
///     }
/// }
/// assert!(session.view_tokens() < 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    course: Course,
    meter: Meter,
    answers_calls: bool,
    entries: Vec<Arc<Message>>,
    shown: Shown,
    /// The newest summary of a conversation that was kept elsewhere.
    resumed_summary: String,
    links: Vec<(usize, Digest)>,
    counted_from: usize,
    sent_tokens: Option<u64>,
    frozen: Option<Frozen>,
    /// What the view was before each compaction in force, oldest first.
    before: Vec<Before>,
    records: Vec<Record>,
    changes: Vec<Change>,
    /// The entries that hold something other than text, in order.
    media: Vec<usize>,
    warnings: WarningCycle,
    flushed_at: Option<u64>,
    host_pins: Vec<Pin>,
    dropped_pins: Arc<[String]>,
    events: Vec<Event>,
}

/// What undo goes back to.
#[derive(Clone, Debug)]
struct Before {
    shown: Shown,
    /// How many messages were shown right after it; what came later stands behind them.
    since: usize,
    /// The compaction that followed.
    record: usize,
}

impl Session {
    /// A new conversation.
    #[must_use]
    pub fn new(window: Window, meter: Meter) -> Self {
        Self {
            course: Course::new(window),
            meter,
            answers_calls: false,
            entries: Vec::new(),
            shown: Shown::default(),
            resumed_summary: String::new(),
            links: Vec::new(),
            counted_from: 0,
            sent_tokens: None,
            frozen: None,
            before: Vec::new(),
            records: Vec::new(),
            changes: Vec::new(),
            media: Vec::new(),
            warnings: WarningCycle::new(Threshold::Off, window.tokens, Warnings::Off),
            flushed_at: None,
            host_pins: Vec::new(),
            dropped_pins: Arc::default(),
            events: Vec::new(),
        }
    }

    /// A new conversation that follows settings. `window` counts where they name none.
    #[must_use]
    pub fn from_settings(settings: &Settings, window: Window, meter: Meter) -> Self {
        let window = settings.window().unwrap_or(window);
        let mut session = Self::new(window, meter)
            .with_preset(Preset::from(settings))
            .with_pruning(settings.pruning(window));
        session.course = session
            .course
            .with_overflow_attempts(settings.common.overflow_attempts)
            .with_margins(settings.margins());
        if settings.warns() {
            session = session.with_warnings();
        }
        session
    }

    /// The same conversation, compacted as `preset` says.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        self.course = self.course.with_preset(preset);
        let reference = match preset.counts {
            DueCount::Reference(meter) => Some(meter),
            DueCount::Known | DueCount::Reported => None,
        };
        self.shown.measure_as(reference, &self.entries);
        self
    }

    /// The same conversation, whose requests ask for so many tokens of output.
    #[must_use]
    pub fn with_output_tokens(mut self, output_tokens: u64) -> Self {
        self.set_output_tokens((output_tokens > 0).then_some(output_tokens));
        self
    }

    /// The same conversation, with what is believed of its model, such as from another conversation.
    #[must_use]
    pub fn with_belief(mut self, belief: Belief) -> Self {
        self.course = self.course.with_belief(belief);
        self
    }

    /// The same conversation, where the provider's cache costs this.
    #[must_use]
    pub fn with_cache_prices(mut self, prices: CachePrices) -> Self {
        self.course = self.course.with_cache_prices(prices);
        self
    }

    /// The same conversation, with a warning once per cycle when half of the threshold is reached.
    #[must_use]
    pub fn with_warnings(mut self) -> Self {
        let threshold = self.course.threshold_tokens(self.lines());
        let threshold = threshold.map_or(Threshold::Off, Threshold::Tokens);
        self.warnings = WarningCycle::new(threshold, self.window().tokens, Warnings::On);
        self
    }

    /// The same conversation, with long tool results cut when they arrive and old ones replaced, as `settings` say.
    #[must_use]
    pub fn with_pruning(mut self, settings: PruneSettings) -> Self {
        self.frozen = Some(Frozen::new(settings, self.meter));
        self.prune(Cache::Warm);
        self
    }

    /// The same conversation, with a response in the view for every call that was abandoned, as `vibe` cleans a
    /// history. For providers that pair results by place; where a result may still come later, it would be a second
    /// one.
    #[must_use]
    pub const fn answering_abandoned_calls(mut self) -> Self {
        self.answers_calls = true;
        self
    }

    /// The same conversation, in a window however small: without the guard of `default` and `openclaw`.
    #[must_use]
    pub fn without_guard(mut self) -> Self {
        self.course = self.course.without_guard();
        self
    }

    /// Adds an instruction of the host, kept word for word in every summary from the next compaction on.
    pub fn pin(&mut self, text: impl Into<String>) {
        self.host_pins.push(Pin::host(text));
    }

    /// From now on these sentences, and no others, are no pins whatever they read like: the user dropped them. A compaction
    /// in force stays as it is; [`Session::undo`] or [`Session::replay_undo`] takes one back.
    pub fn set_dropped_pins(&mut self, texts: impl IntoIterator<Item = String>) {
        self.dropped_pins = texts.into_iter().collect();
    }

    /// The sentences that the user dropped.
    #[must_use]
    pub fn dropped_pins(&self) -> &[String] {
        &self.dropped_pins
    }

    /// Appends a message and counts it, once.
    pub fn push(&mut self, message: Message) {
        self.answer_abandoned_calls(&message);
        let facts = Facts::of(&message, self.meter);
        self.note_media(&message);
        self.shown.push(self.entries.len(), &facts, &message);
        self.entries.push(Arc::new(message));
        self.prune(Cache::Warm);
    }

    /// What is in flight at the end is left alone: only when the conversation goes on is a call abandoned.
    fn answer_abandoned_calls(&mut self, next: &Message) {
        // Several entries of the assistant in a row may be one answer.
        let is_same_answer = next.role == Role::Assistant
            && self
                .entries
                .last()
                .is_some_and(|last| last.role == Role::Assistant);
        let goes_on =
            next.results().next().is_none() && next.role != Role::System && !is_same_answer;
        if !self.answers_calls || !goes_on || !self.shown.log.is_in_flight() {
            return;
        }
        let mut answered: HashSet<&str> = HashSet::new();
        let mut abandoned: Vec<String> = Vec::new();
        for message in self.entries.iter().rev() {
            answered.extend(message.results().map(|result| result.call_id.as_ref()));
            let calls = message.calls().map(|call| call.id.as_ref());
            let open = calls.filter(|id| !answered.contains(id));
            abandoned.extend(open.map(str::to_owned));
            if message.calls().next().is_some() || message.is_typed_by_user() {
                break;
            }
        }
        for id in abandoned {
            self.shown.answer(&id, vibe::NO_RESPONSE, self.meter);
        }
    }

    /// Decides what is shown of long and old tool results, where [`Session::with_pruning`] asks for that. A push does
    /// so by itself; a host that knows the provider's cache to be cold says so here.
    pub fn prune(&mut self, cache: Cache) {
        if let Some(frozen) = &mut self.frozen {
            let new = frozen.prune(&self.entries, cache);
            if !new.is_empty() {
                self.shown.prune(new, &self.entries, self.meter);
                self.view_changed();
            }
        }
    }

    /// Whether something must happen before the next request. O(1), no I/O.
    #[must_use]
    pub fn decide(&self) -> Decision {
        match self.due() {
            Ok(decision) => decision,
            Err(_) => Decision::Proceed,
        }
    }

    /// What [`Session::decide`] says, with the reason where nothing is to be done.
    ///
    /// # Errors
    /// Why nothing is to be done.
    pub fn due(&self) -> Result<Decision, Reason> {
        self.course.due(&self.sight())
    }

    /// What to do before the next request, given who writes summaries and what is under way.
    #[must_use]
    pub fn before_request(&self, work: &Work) -> Move {
        self.course.before_request(&self.sight(), work)
    }

    /// Decides before a turn and tells what people should know: the warning of the cycle, a small window, a memory
    /// flush that is due.
    pub fn before_turn(&mut self) -> Decision {
        if self.entries.len() <= 1
            && let Ok(Guard::Small { window_tokens }) = self.course.guard()
        {
            self.events.push(Event::SmallWindow { window_tokens });
        }
        let context_tokens = self.due_tokens();
        if self.warnings.before_turn(context_tokens) == BeforeTurn::Warn
            && let Some(threshold_tokens) = self.warnings.threshold_tokens()
        {
            self.events.push(Event::Warning {
                context_tokens,
                threshold_tokens,
            });
        }
        let compaction_count = self.before.len() as u64;
        if let Trigger::WindowLess(reserve) = self.course.preset().trigger
            && openclaw::is_flush_due(
                context_tokens,
                self.window().tokens,
                reserve,
                openclaw::FLUSH_SOFT_TOKENS,
                compaction_count,
                self.flushed_at,
            )
        {
            self.flushed_at = Some(compaction_count);
            self.events.push(Event::MemoryFlushDue {
                context_tokens,
                compaction_count,
            });
        }
        self.decide()
    }

    /// A job of this conversation failed; the conversation is as it was.
    pub fn failed(&mut self, failure: Failure, error: impl Into<String>) {
        let reason = Reason::from(failure);
        self.events.push(Event::Failed {
            reason,
            error: error.into(),
        });
        let sight = sight(
            &self.shown,
            self.entries.len(),
            &self.links,
            self.sent_tokens,
        );
        let breaker = self.course.handle_failed(failure, &sight);
        if let Breaker::Opened { failures } = breaker {
            self.events.push(Event::BreakerOpened { reason, failures });
        }
    }

    /// What happened since the last call, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// What the model gets: positions of messages, and where the summary stands.
    #[must_use]
    pub fn view(&self) -> View {
        self.shown.view.clone()
    }

    /// The messages of the view, as the model gets them. Entries are shared, not copied.
    #[must_use]
    pub fn view_messages(&self) -> Vec<Arc<Message>> {
        self.shown.messages(&self.entries, self.summary_text())
    }

    /// What the view takes, by the meter.
    #[must_use]
    pub const fn view_tokens(&self) -> u64 {
        self.shown.log.total_tokens()
    }

    /// Every message ever pushed.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.entries
    }

    /// Sizes and cuts of the view.
    #[must_use]
    pub const fn log(&self) -> &Log {
        &self.shown.log
    }

    /// The view as facts.
    pub(super) fn sight(&self) -> Sight<'_> {
        sight(
            &self.shown,
            self.entries.len(),
            &self.links,
            self.sent_tokens,
        )
    }
}

/// What is shown, as facts; apart from the session, so that its course can be changed while it looks.
fn sight<'s>(
    shown: &'s Shown,
    entries: usize,
    links: &'s [(usize, Digest)],
    sent_tokens: Option<u64>,
) -> Sight<'s> {
    let sight = shown.sight(entries, links);
    Sight {
        shown_tokens: sent_tokens.unwrap_or(sight.shown_tokens),
        ..sight
    }
}
