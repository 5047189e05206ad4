//! How large the conversation is, and what a provider's count says about that.

use super::Session;
use crate::gauge::{
    Anchor, Count, Gauge, Learned, OutputCounting, Reading, Target, TurnGrowth, TurnKind,
    UsageFinding,
};
use crate::message::Message;
use crate::plan::{Room, leading_system};
use crate::preset_name::PresetName;
use crate::reason::Reason;
use crate::usage::Usage;
use crate::window::{Lines, Window, WindowSource};

/// The newest counts that are believed: a provider may count by turns more and less.
pub(super) const ANCHORS: usize = 2;

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

impl Session {
    /// The request that the view makes now. Whoever sends it keeps this, and gives it back with what the provider
    /// counted.
    ///
    /// ```
    /// use epitome::{Message, Meter, Role, Session, Usage, Window};
    ///
    /// let mut session = Session::new(Window::configured(20_000), Meter::Estimate);
    /// session.push(Message::text(Role::User, "Count the stars."));
    /// let ticket = session.ticket();
    /// // … the request goes out; meanwhile the conversation may be compacted …
    /// session.observe_sent(ticket, Usage { fresh_tokens: 14, ..Usage::default() });
    /// assert_eq!(session.context_tokens(), 14);
    /// ```
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        let shows_media = !self.media.is_empty()
            && (self.shown.view.positions()).any(|at| self.media.binary_search(&at).is_ok());
        Ticket {
            view: self.view_version,
            estimated_tokens: self.estimated_tokens(),
            kind: self.kind,
            turn: match shows_media {
                true => TurnKind::Media,
                false => TurnKind::Plain,
            },
        }
    }

    /// A provider counted the view as it is now, and its answer. The answer is not pushed by this. Where the view may
    /// have changed since the request was made, [`Session::observe_sent`] is the one to call.
    pub fn observe(&mut self, usage: Usage) -> Option<UsageFinding> {
        self.observe_sent(self.ticket(), usage)
    }

    /// A provider counted the request of `ticket`, and its answer. A count whose view is gone says nothing about the
    /// view that has taken its place.
    pub fn observe_sent(&mut self, ticket: Ticket, usage: Usage) -> Option<UsageFinding> {
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
            let anchor = Anchor {
                real_tokens,
                estimated_tokens: ticket.estimated_tokens,
            };
            self.anchors.insert(0, anchor);
        } else {
            self.anchors.clear();
        }
        finding
    }

    /// What every request has besides the messages: system prompt and tools that are passed apart, by the meter, and a
    /// number that tells one set of them from another.
    pub fn set_frame(&mut self, tokens: u64, kind: u64) {
        if (tokens, kind) != (self.frame_tokens, self.kind) {
            self.frame_tokens = tokens;
            self.kind = kind;
            self.anchors.clear();
        }
    }

    /// What the next requests ask for: so many tokens of output, or nothing in particular.
    pub const fn set_output_tokens(&mut self, output_tokens: Option<u64>) {
        self.output_tokens = output_tokens;
    }

    /// The window that a provider taught, if one is believed.
    #[must_use]
    pub const fn learned_window(&self) -> Option<Learned> {
        self.belief.learned()
    }

    /// How large the next request is, and where its lines are.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.gauge().read(self.estimated_tokens(), &self.anchors)
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

    /// What the view takes, as well as it is known: the provider's own count where there is one, and the
    /// calibrated estimate of what came since.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.reading().size_tokens
    }

    /// What the trigger of the preset looks at: each design has its own way to count.
    #[must_use]
    pub fn due_tokens(&self) -> u64 {
        match (
            self.shown.reference_tokens(),
            self.preset.name,
            self.reported,
        ) {
            (_, PresetName::Vibe, Some(usage)) => usage.context_tokens(),
            (Some(tokens), _, _) => tokens,
            (None, _, _) => self.context_tokens(),
        }
    }

    /// The lines of the window for the next request.
    #[must_use]
    pub fn lines(&self) -> Option<Lines> {
        self.reading().lines
    }

    /// The gauge of the next request.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        self.belief.gauge(
            self.window(),
            self.margins,
            self.output_tokens,
            OutputCounting::Apart,
        )
    }

    /// What a compaction for `reason` should leave, by the meter and without the leading system prompt.
    pub(super) fn room(&self, reason: Reason) -> Room {
        let log = &self.shown.log;
        let total = log.tokens(leading_system(log)..log.len());
        let reading = self.reading();
        let Some((lines, fresh)) = reading.lines.zip(self.gauge().fresh_lines()) else {
            return Room::of(total / 4);
        };
        let ahead = match reason {
            // Made ahead of the line, it should still leave enough when the line is reached.
            Reason::NearLine => lines.hard_tokens.saturating_sub(reading.size_tokens),
            _ => 0,
        };
        let target = Target::below(fresh, ahead, self.growth(&reading), self.cache_prices);
        let apart = self.frame_tokens + log.tokens(0..leading_system(log));
        let usable = |tokens: u64| reading.estimated(tokens).saturating_sub(apart);
        let room = Room {
            target_tokens: usable(target.tokens),
            most_tokens: usable(target.most_tokens),
        };
        match reason {
            Reason::HardLine | Reason::Overflow | Reason::NearLine | Reason::CacheCold => room,
            // Nothing presses: somebody wants less than there is.
            _ => Room::of(room.target_tokens.min(total / 2)),
        }
    }

    /// What the conversation grows by from one request to the next.
    pub(super) fn growth(&self, reading: &Reading) -> TurnGrowth {
        TurnGrowth::recent(&self.shown.log, reading)
    }

    /// What the next request takes by the meter, system prompt and tools included.
    pub(super) const fn estimated_tokens(&self) -> u64 {
        self.frame_tokens
            .saturating_add(self.shown.log.total_tokens())
    }

    /// Remembers that the newest entry holds something that is no text.
    pub(super) fn note_media(&mut self, message: &Message) {
        if message.has_media() {
            self.media.push(self.entries.len());
        }
    }

    /// The view was changed, not only extended: what was counted before is about another one.
    pub(super) fn view_changed(&mut self) {
        self.view_version += 1;
        self.anchors.clear();
        self.reported = None;
    }
}
