//! How large the conversation is, and what a provider's count says about that.

use super::{Prepared, Session};
use crate::course::{CacheState, ReadyFacts, ShowNow, Ticket};
use crate::gauge::{Belief, CachePrices, Gauge, Learned, Reading, TurnKind, UsageFinding};
use crate::message::Message;
use crate::plan::leading_system;
use crate::usage::Usage;
use crate::window::{Lines, Window};

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
        let turn = match shows_media {
            true => TurnKind::Media,
            false => TurnKind::Plain,
        };
        self.course.ticket(&self.sight(), turn)
    }

    /// A provider counted the view as it is now, and its answer. The answer is not pushed by this. Where the view may
    /// have changed since the request was made, [`Session::observe_sent`] is the one to call.
    pub fn observe(&mut self, usage: Usage) -> Option<UsageFinding> {
        self.observe_sent(self.ticket(), usage)
    }

    /// A provider counted the request of `ticket`, and its answer. A count whose view is gone says nothing about the
    /// view that has taken its place.
    pub fn observe_sent(&mut self, ticket: Ticket, usage: Usage) -> Option<UsageFinding> {
        self.course.handle_usage(ticket, usage)
    }

    /// What every request has besides the messages: system prompt and tools that are passed apart, by the meter, and a
    /// number that tells one set of them from another.
    pub fn set_frame(&mut self, tokens: u64, kind: u64) {
        let frame = self.course.frame();
        self.course.set_frame(crate::Frame {
            tokens,
            kind,
            ..frame
        });
    }

    /// What the next requests ask for: so many tokens of output, or nothing in particular.
    pub fn set_output_tokens(&mut self, output_tokens: Option<u64>) {
        let frame = self.course.frame();
        self.course.set_frame(crate::Frame {
            output_tokens,
            ..frame
        });
    }

    /// What is believed of the model from now on, such as what other conversations with it have learned.
    pub const fn set_belief(&mut self, belief: Belief) {
        self.course.set_belief(belief);
    }

    /// The next requests go to another model: what is known of its window without any provider, and what its cache
    /// costs. What is believed of it is said with [`Session::set_belief`].
    pub fn set_model(&mut self, window: Window, prices: CachePrices) {
        self.course.set_model(window, prices);
    }

    /// The window that a provider taught, if one is believed.
    #[must_use]
    pub const fn learned_window(&self) -> Option<Learned> {
        self.course.belief().learned()
    }

    /// How large the next request is, and where its lines are.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.course.reading(&self.sight())
    }

    /// The window in force: the host's where it was configured, else what providers taught, else the host's.
    #[must_use]
    pub fn window(&self) -> Window {
        self.course.window()
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
        self.course.due_tokens(&self.sight())
    }

    /// The lines of the window for the next request.
    #[must_use]
    pub fn lines(&self) -> Option<Lines> {
        self.reading().lines
    }

    /// The gauge of the next request.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        self.course.gauge()
    }

    /// Whether a compaction that was prepared ahead of the line is to be shown before the next request, and why.
    /// `None`: the request goes out on the view as it is, or, where the line is reached, a fresh compaction leaves more
    /// room.
    #[must_use]
    pub fn shows(&self, prepared: &Prepared, cache: CacheState) -> Option<ShowNow> {
        let ready = self.ready_facts(prepared);
        self.course.shows(&self.sight(), &ready, cache)
    }

    /// What showing a compaction that is ready would make of the next request.
    #[must_use]
    pub fn ready_facts(&self, prepared: &Prepared) -> ReadyFacts {
        let log = &self.shown.log;
        let plan = &prepared.compaction.plan;
        let frame = self.course.frame().tokens;
        let since = log.tokens(prepared.shown.min(log.len())..log.len());
        let system = log.tokens(0..leading_system(log));
        ReadyFacts {
            after_tokens: frame + system + prepared.compaction.tokens_after + since,
            kept_tokens: frame + log.tokens(0..plan.head.end.min(log.len())),
            seen_entries: prepared.shown,
        }
    }

    /// Remembers that the newest entry holds something that is no text.
    pub(super) fn note_media(&mut self, message: &Message) {
        if message.has_media() {
            self.media.push(self.entries.len());
        }
    }

    /// The view was changed, not only extended: what was counted before is about another one.
    pub(super) fn view_changed(&mut self) {
        self.course.view_changed();
    }
}
