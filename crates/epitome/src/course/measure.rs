//! How large a conversation is, and what a provider's count says about that.

use super::{Course, Sight};
use crate::design::DueCount;
use crate::gauge::{
    Belief, CachePrices, Count, CountedSize, Gauge, OutputCounting, Reading, Target, TurnGrowth,
    TurnKind, UsageFinding,
};
use crate::plan::{Room, leading_system, percent_of};
use crate::reason::Reason;
use crate::usage::Usage;
use crate::window::{Lines, Window, WindowSource};

/// The newest counts that are believed: a provider may count by turns more and less.
pub(super) const ANCHORS: usize = 2;

/// What a compaction leaves at least of the conversation, in percent of what the window has for it. Tools and a system
/// prompt that nearly fill the target would otherwise leave no word of what the user wants.
const LEAST_TARGET_PERCENT: u64 = 15;

/// What every request of a conversation has besides its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// System prompt and tools that are passed apart, by the meter.
    pub tokens: u64,
    /// Tells one set of them from another.
    pub kind: u64,
    /// The longest answer that is asked for, where it is said.
    pub output_tokens: Option<u64>,
    /// Where the provider counts that.
    pub counting: OutputCounting,
}

/// A request that was made of a view. A provider's count belongs to it, not to whatever the view is when the count
/// comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    view: u64,
    estimated_tokens: u64,
    kind: u64,
    turn: TurnKind,
}

impl Ticket {
    /// The same request, whose count is not that of its text: tools ran at the provider, or several rounds were
    /// counted as one.
    #[must_use]
    pub const fn odd(mut self) -> Self {
        self.turn = TurnKind::Odd;
        self
    }

    /// What the meter said of the request, system prompt and tools included.
    #[must_use]
    pub const fn estimated_tokens(self) -> u64 {
        self.estimated_tokens
    }
}

impl Course {
    /// The request that a view makes now.
    #[must_use]
    pub const fn ticket(&self, sight: &Sight<'_>, turn: TurnKind) -> Ticket {
        Ticket {
            view: self.view_version,
            estimated_tokens: self.estimated_tokens(sight),
            kind: self.frame.kind,
            turn,
        }
    }

    /// A provider counted the request of `ticket`, and its answer. A count whose view is gone says nothing about the
    /// view that has taken its place.
    pub fn handle_usage(&mut self, ticket: Ticket, usage: Usage) -> Option<UsageFinding> {
        self.overflows = 0;
        self.refused_tokens = None;
        if ticket.view != self.view_version {
            return None;
        }
        self.reported = Some(usage);
        let real_tokens = usage.input_tokens();
        let count = Count {
            real_tokens,
            estimated_tokens: ticket.estimated_tokens,
            turn: ticket.turn,
            kind: ticket.kind,
        };
        let window = self.window();
        let finding = self.belief.counted(count, window);
        let is_size = real_tokens > 0
            && ticket.turn != TurnKind::Odd
            && !matches!(finding, Some(UsageFinding::Truncated { .. }));
        if is_size {
            self.anchors.truncate(ANCHORS - 1);
            let anchor = CountedSize {
                real_tokens,
                estimated_tokens: ticket.estimated_tokens,
            };
            self.anchors.insert(0, anchor);
        } else {
            self.anchors.clear();
        }
        finding
    }

    /// What every request has besides its messages, from now on.
    pub fn set_frame(&mut self, frame: Frame) {
        if (frame.tokens, frame.kind) != (self.frame.tokens, self.frame.kind) {
            self.anchors.clear();
        }
        self.frame = frame;
    }

    /// What is believed of the model, from now on. What was counted of this conversation stays.
    pub const fn set_belief(&mut self, belief: Belief) {
        self.belief = belief;
    }

    /// The next requests go to another model, of whose window this is known without any provider. What the one before
    /// counted is not what this one counts.
    pub fn set_model(&mut self, window: Window, prices: CachePrices) {
        self.window = window;
        self.cache_prices = prices;
        self.anchors.clear();
        self.refused_tokens = None;
    }

    /// What every request has besides its messages.
    #[must_use]
    pub const fn frame(&self) -> Frame {
        self.frame
    }

    /// What is believed of the model.
    #[must_use]
    pub const fn belief(&self) -> &Belief {
        &self.belief
    }

    /// How large the next request is, and where its lines are.
    #[must_use]
    pub fn reading(&self, sight: &Sight<'_>) -> Reading {
        self.gauge()
            .read(self.estimated_tokens(sight), &self.anchors)
    }

    /// The window in force: the host's where it was configured, else what providers taught, else the host's.
    #[must_use]
    pub fn window(&self) -> Window {
        let configured = match self.window.source {
            WindowSource::Configured => Some(self.window.tokens),
            _ => None,
        };
        let believed = self.belief.window(configured, Some(self.window));
        match self.refused_tokens {
            Some(refused) if refused < believed.tokens => Window {
                tokens: refused,
                source: WindowSource::Learned,
            },
            _ => believed,
        }
    }

    /// What the trigger of the design looks at: each has its own way to count.
    #[must_use]
    pub fn due_tokens(&self, sight: &Sight<'_>) -> u64 {
        match (self.preset.counts, self.reported) {
            (DueCount::Reported, Some(usage)) => usage.context_tokens(),
            (DueCount::Reference(_), _) if sight.reference_tokens.is_some() => {
                sight.reference_tokens.unwrap_or(0)
            }
            _ => self.reading(sight).size_tokens,
        }
    }

    /// The gauge of the next request.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        self.belief.gauge(
            self.window(),
            self.margins,
            self.frame.output_tokens,
            self.frame.counting,
        )
    }

    /// The size from which the design acts, and the lines of the window.
    #[must_use]
    pub fn threshold_tokens(&self, lines: Option<Lines>) -> Option<u64> {
        self.preset.threshold_tokens(self.window(), lines)
    }

    /// What a compaction for `reason` should leave, by the meter and without the leading system prompt.
    pub(super) fn room(&self, sight: &Sight<'_>, reason: Reason) -> Room {
        let log = sight.log;
        let system = leading_system(log);
        // What goes out may be less than what a compaction is made from.
        let shown = sight.shown_tokens.saturating_sub(log.tokens(0..system));
        let total = log.tokens(system..log.len()).min(shown);
        let Some(target) = self.target(sight, reason) else {
            return Room::of(total / 4);
        };
        let most_tokens = self.usable(sight, target.most_tokens);
        let room = Room {
            target_tokens: self
                .usable(sight, target.tokens)
                .max(percent_of(most_tokens, LEAST_TARGET_PERCENT)),
            most_tokens,
        };
        match reason {
            Reason::HardLine | Reason::Overflow | Reason::NearLine | Reason::CacheCold => room,
            // Nothing presses: somebody wants less than there is.
            _ => Room::of(room.target_tokens.min(total / 2)),
        }
    }

    /// What a compaction for `reason` should leave of the whole request, in real tokens.
    pub(super) fn target(&self, sight: &Sight<'_>, reason: Reason) -> Option<Target> {
        let reading = self.reading(sight);
        let (lines, fresh) = reading.lines.zip(self.gauge().fresh_lines())?;
        let growth = self.growth(sight, &reading);
        let ahead = match reason {
            // Made ahead of the line, it should still leave enough when the line is reached; the request that reaches
            // it goes past it by a part of a turn.
            Reason::NearLine => {
                let left = lines.hard_tokens.saturating_sub(reading.size_tokens);
                left.saturating_add(growth.tokens)
            }
            _ => 0,
        };
        Some(Target::below(fresh, ahead, growth, self.cache_prices))
    }

    /// Real tokens of a whole request as what the meter may count without frame and leading system prompt.
    pub(super) fn usable(&self, sight: &Sight<'_>, real_tokens: u64) -> u64 {
        let reading = self.reading(sight);
        reading
            .estimated(real_tokens)
            .saturating_sub(self.apart_tokens(sight))
    }

    /// What no compaction can touch: frame and leading system prompt, by the meter.
    pub(super) fn apart_tokens(&self, sight: &Sight<'_>) -> u64 {
        self.frame.tokens + sight.log.tokens(0..leading_system(sight.log))
    }

    /// What the conversation grows by from one request to the next.
    pub(super) fn growth(&self, sight: &Sight<'_>, reading: &Reading) -> TurnGrowth {
        TurnGrowth::recent(sight.log, reading)
    }

    /// What the next request takes by the meter, system prompt and tools included.
    pub(crate) const fn estimated_tokens(&self, sight: &Sight<'_>) -> u64 {
        self.frame.tokens.saturating_add(sight.shown_tokens)
    }
}
