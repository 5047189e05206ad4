//! What decides: a machine that lives on facts (sizes, cuts, counts), never on messages.
//!
//! A [`Course`] is what a conversation was told, what is believed of its model and what was tried. It does no I/O, has
//! no clock and holds no text, so that it is a cheap value: a session has one, and a proxy makes one for every request.
//! What it looks at is a [`Sight`]; what it says is a [`Move`], which the host carries out.
//!
//! - *Input*: [`Course::handle_usage`], [`Course::handle_refusal`], [`Course::handle_written`],
//!   [`Course::handle_failed`]
//! - *Deciding*: [`Course::before_request`], [`Course::due`]; how large it is: [`Course::reading`]
//! - *Planning*: [`Course::plan`]

mod measure;
mod planning;
mod ready;
mod refusal;

pub use measure::{Frame, Ticket};
pub use ready::{CacheState, ReadyFacts, ShowNow};

use crate::design::{Preset, PresetName, Trigger};
use crate::digest::Digest;
use crate::gauge::{Belief, CachePrices, CountedSize};
use crate::guard::{self, Guard};
use crate::ledger::{Breaker, Failure, Ledger, LedgerSettings, Need};
use crate::log::Log;
use crate::plan::{leading_system, percent_of};
use crate::reason::Reason;
use crate::reference::spacebot::{self, Tier};
use crate::usage::Usage;
use crate::window::{Margins, Window};

/// A design's own line is near that of the window from this share of it on.
const NEAR_PERCENT: u64 = 95;
/// How often a request that is too long is compacted and sent again.
const OVERFLOW_ATTEMPTS: u64 = 3;

/// What decides about a conversation.
///
/// ```
/// use epitome::{Course, Facts, Log, Message, Meter, Move, Reason, Role, Sight, Window, Work};
///
/// let course = Course::new(Window::configured(20_000));
/// let mut log = Log::new();
/// for night in 0..2_000 {
///     let text = format!("Night {night}: counted {} stars, and wrote them down.", night * 17);
///     log.push(&Facts::of(&Message::text(Role::User, text), Meter::Chars4));
/// }
/// let sight = Sight::of(&log);
/// assert_eq!(course.before_request(&sight, &Work::built_in()), Move::Compact(Reason::HardLine));
/// ```
#[derive(Clone, Debug)]
pub struct Course {
    preset: Preset,
    guards: bool,
    window: Window,
    margins: Margins,
    cache_prices: CachePrices,
    frame: Frame,
    belief: Belief,
    /// The newest counts of the view as it is, newest first.
    anchors: Vec<CountedSize>,
    /// Counts the changes of the view that are more than one more message.
    view_version: u64,
    /// What the last refusal leaves, until an answer comes.
    refused_tokens: Option<u64>,
    reported: Option<Usage>,
    overflow_attempts: u64,
    overflows: u64,
    ledger: Ledger,
    exhausted_at: Option<usize>,
}

/// What a request looks like: facts about the messages that would go out.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Sizes and cuts of what a compaction would be made from.
    pub log: &'a Log,
    /// What the messages that would go out take, by the meter.
    pub shown_tokens: u64,
    /// What the design's own way of counting says of them, where it has one.
    pub reference_tokens: Option<u64>,
    /// How many entries the conversation has, shown or not.
    pub entries: usize,
    /// The chain of the entries in `log`, where conversations branch: a try belongs to what it would cover.
    pub links: Option<&'a [(usize, Digest)]>,
}

impl<'a> Sight<'a> {
    /// A conversation that is shown as it is.
    #[must_use]
    pub const fn of(log: &'a Log) -> Self {
        Self {
            log,
            shown_tokens: log.total_tokens(),
            reference_tokens: None,
            entries: log.len(),
            links: None,
        }
    }

    /// What tells a span that ends at a position of the log from another.
    fn span_key(&self, end: usize) -> usize {
        let Some(links) = self.links else {
            return (self.entries + end).saturating_sub(self.log.len());
        };
        let covered = links.partition_point(|(index, _)| *index < end);
        let last = covered.checked_sub(1).and_then(|last| links.get(last));
        last.map_or(0, |(_, digest)| digest.prefix() as usize)
    }
}

/// Who writes summaries, and what is under way.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Whether anybody but the built-in summariser is asked.
    pub asks_somebody: bool,
    /// Whether the host waits for them where the design does.
    pub waits: bool,
    /// Whether a compaction is being written.
    pub is_writing: bool,
    /// What is written and not shown yet.
    pub ready: Option<ReadyFacts>,
    /// Whether the provider's cache is surely gone.
    pub cache: CacheState,
}

impl Work {
    /// Only the built-in summariser, and nothing under way.
    #[must_use]
    pub const fn built_in() -> Self {
        Self {
            asks_somebody: false,
            waits: false,
            is_writing: false,
            ready: None,
            cache: CacheState::Warm,
        }
    }
}

/// What to do before a request goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Send it as it is, for this reason.
    Send(Reason),
    /// Put what is ready in force, then send.
    Show(ShowNow),
    /// Send it as it is, and begin to write a compaction.
    Prepare {
        /// What for.
        reason: Reason,
        /// What has to happen at once where none can be begun.
        otherwise: Option<Reason>,
    },
    /// Compact with the built-in summariser, then send.
    Compact(Reason),
    /// Wait for whoever writes summaries, then send.
    Await(Reason),
}

/// What to do before the next request, whoever writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it.
    Proceed,
    /// Send it, and compact in the background: the line is near.
    Prepare,
    /// Compact first: the line is reached.
    Compact(Reason),
}

impl Course {
    /// The course of a new conversation in `default`.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self {
            preset: Preset::named(PresetName::default()),
            guards: true,
            window,
            margins: Margins::default(),
            cache_prices: CachePrices::UNKNOWN,
            frame: Frame::default(),
            belief: Belief::default(),
            anchors: Vec::new(),
            view_version: 0,
            refused_tokens: None,
            reported: None,
            overflow_attempts: OVERFLOW_ATTEMPTS,
            overflows: 0,
            ledger: Ledger::new(LedgerSettings::default()),
            exhausted_at: None,
        }
    }

    /// The same, as a design says.
    #[must_use]
    pub const fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// The same, with so much kept free.
    #[must_use]
    pub const fn with_margins(mut self, margins: Margins) -> Self {
        self.margins = margins;
        self
    }

    /// The same, with what is believed of its model.
    #[must_use]
    pub const fn with_belief(mut self, belief: Belief) -> Self {
        self.belief = belief;
        self
    }

    /// The same, where the provider's cache costs this.
    #[must_use]
    pub const fn with_cache_prices(mut self, prices: CachePrices) -> Self {
        self.cache_prices = prices;
        self
    }

    /// The same, with what every request has besides its messages.
    #[must_use]
    pub const fn with_frame(mut self, frame: Frame) -> Self {
        self.frame = frame;
        self
    }

    /// The same, with what a provider counted of the view as it is, newest first.
    #[must_use]
    pub fn with_anchors(mut self, anchors: Vec<CountedSize>) -> Self {
        self.anchors = anchors;
        self
    }

    /// The same, whose last request was counted at so much.
    #[must_use]
    pub const fn with_reported(mut self, usage: Option<Usage>) -> Self {
        self.reported = usage;
        self
    }

    /// The same, with what was tried before.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// The same, which answers a refusal so many times.
    #[must_use]
    pub const fn with_overflow_attempts(mut self, attempts: u64) -> Self {
        self.overflow_attempts = attempts;
        self
    }

    /// The same, in a window however small.
    #[must_use]
    pub const fn without_guard(mut self) -> Self {
        self.guards = false;
        self
    }

    /// The design.
    #[must_use]
    pub const fn preset(&self) -> &Preset {
        &self.preset
    }

    /// What was tried.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What to do before a request, given who writes and what is under way. O(1).
    #[must_use]
    pub fn before_request(&self, sight: &Sight<'_>, work: &Work) -> Move {
        if let Some(ready) = &work.ready
            && let Some(shown) = self.shows(sight, ready, work.cache)
        {
            return Move::Show(shown);
        }
        let is_busy = work.is_writing || work.ready.is_some();
        match self.due(sight) {
            Err(reason) => Move::Send(reason),
            Ok(Decision::Proceed) => Move::Send(Reason::BelowLine),
            Ok(Decision::Prepare) if is_busy => Move::Send(Reason::NearLine),
            Ok(Decision::Prepare) => Move::Prepare {
                reason: Reason::NearLine,
                otherwise: None,
            },
            // Trimming tells nothing of what leaves: what is due anyway is summarised first.
            Ok(Decision::Compact(Reason::TooManyMessages))
                if work.asks_somebody && self.is_due_by_size(sight) =>
            {
                self.write(Reason::Threshold, Some(Reason::TooManyMessages), work)
            }
            Ok(Decision::Compact(reason))
                if !work.asks_somebody
                    || matches!(reason, Reason::HardLine | Reason::TooManyMessages) =>
            {
                Move::Compact(reason)
            }
            Ok(Decision::Compact(reason)) => self.write(reason, None, work),
        }
    }

    /// Has somebody write, or lets them go on.
    fn write(&self, reason: Reason, otherwise: Option<Reason>, work: &Work) -> Move {
        if work.waits {
            Move::Await(reason)
        } else if work.is_writing || work.ready.is_some() {
            Move::Send(Reason::NearLine)
        } else {
            Move::Prepare { reason, otherwise }
        }
    }

    fn is_due_by_size(&self, sight: &Sight<'_>) -> bool {
        let tokens = self.due_tokens(sight);
        self.preset.is_due(tokens, self.window, None).is_ok()
    }

    /// What is to be done whoever writes, with the reason where nothing is. O(1).
    ///
    /// # Errors
    /// Why nothing is to be done.
    pub fn due(&self, sight: &Sight<'_>) -> Result<Decision, Reason> {
        if self.exhausted_at == Some(sight.entries) {
            return Err(Reason::AlreadyTried);
        }
        self.guard().map_err(guard::WindowTooSmall::reason)?;
        let reading = self.reading(sight);
        let (lines, tokens) = (reading.lines, reading.size_tokens);
        if self.is_over_hard_line(&reading) {
            return Ok(Decision::Compact(Reason::HardLine));
        }
        if self.most_messages(sight.log).is_some() {
            return Ok(Decision::Compact(Reason::TooManyMessages));
        }
        let is_wanted = match self.preset.trigger {
            Trigger::HardLine => {
                let lines = lines.ok_or(Reason::WindowBelowReserves)?;
                if tokens <= lines.prepare_tokens {
                    return Err(Reason::BelowLine);
                }
                true
            }
            Trigger::Tiers(thresholds) => {
                let due = self.due_tokens(sight);
                match spacebot::tier(due, self.window().tokens, thresholds) {
                    None => return Err(Reason::BelowLine),
                    // The highest tier is the hard line of this design.
                    Some(Tier::Emergency) => return Ok(Decision::Compact(Reason::HardLine)),
                    Some(Tier::Background | Tier::Aggressive) => true,
                }
            }
            _ => {
                let due = self.due_tokens(sight);
                self.preset.is_due(due, self.window(), lines)?;
                false
            }
        };
        if is_wanted {
            self.ledger.allows(Need::Wanted, tokens)?;
            return Ok(Decision::Prepare);
        }
        Ok(Decision::Compact(Reason::Threshold))
    }

    /// A try failed. Says what that did to the breaker.
    pub fn handle_failed(&mut self, failure: Failure, sight: &Sight<'_>) -> Breaker {
        let tokens = self.reading(sight).size_tokens;
        self.ledger.failed(failure, tokens)
    }

    /// A compaction is in force, and `sight` is what it left. Counts of what was shown before it are of no use.
    pub fn handle_written(&mut self, sight: &Sight<'_>) {
        self.view_changed();
        let tokens = self.reading(sight).size_tokens;
        self.ledger.compacted(tokens);
    }

    /// The view was changed, not only extended: what was counted before is about another one.
    pub fn view_changed(&mut self) {
        self.view_version += 1;
        self.anchors.clear();
        self.reported = None;
    }

    /// Nothing more can be done until the conversation grows.
    pub(crate) const fn exhausted(&mut self, entries: Option<usize>) {
        self.exhausted_at = entries;
    }

    /// What the guard says of the window.
    ///
    /// # Errors
    /// When it is too small to work in.
    pub fn guard(&self) -> Result<Guard, guard::WindowTooSmall> {
        if self.guards && self.preset.guards {
            guard::looked_at(self.window().tokens)
        } else {
            Ok(Guard::Fine)
        }
    }

    /// How many messages may be shown, where there are more.
    pub(crate) fn most_messages(&self, log: &Log) -> Option<usize> {
        let shown = log.len() - leading_system(log);
        self.preset.most_messages.filter(|most| shown > *most)
    }

    /// Whether a request may not go out. That is the line of the window; a design whose own line lies above that one
    /// would never come to its own way, so that its hard line lies between its own and the window.
    pub(crate) fn is_over_hard_line(&self, reading: &crate::gauge::Reading) -> bool {
        let Some(lines) = reading.lines else {
            // Nothing of it is sure to fit; a smaller one may.
            return self.gauge().fresh_lines().is_some();
        };
        let own = match self.preset.trigger {
            Trigger::HardLine => None,
            Trigger::Tiers(thresholds) => {
                Some((self.window().tokens as f64 * thresholds.emergency) as u64)
            }
            _ => {
                let window = self.window().tokens;
                let own = self.preset.threshold_tokens(self.window(), Some(lines));
                // One that lies just below would be overtaken by a single long message.
                let near = percent_of(lines.hard_tokens, NEAR_PERCENT);
                let above = own.filter(|own| (near..window).contains(own));
                above.map(|own| own + (window - own) / 2)
            }
        };
        reading.size_tokens > own.unwrap_or(0).max(lines.hard_tokens)
    }
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
