//! One conversation, compacted now: what `epitome compact` and `POST /epitome/v1/compact` do.
//!
//! [`Ask`] is what is wanted, [`Given`] the conversation; [`Ask::plan`] says what would go, and [`CompactObject`] is what is
//! told of it, with names that are public surface.

mod object;

pub use object::{AnchorCounts, CompactObject};

use epitome::settings::Settings;
use epitome::{
    Basis, Belief, Compaction, Facts, Log, Message, Meter, NoPlan, OutputCounting, Plan, Preset,
    Reason, Room, Trigger, Usage, Window, leading_system,
};
use epitome_wire::Body;

/// How tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// By this meter.
    By(Meter),
    /// By the estimate; designs that count in a way of their own decide by it.
    #[default]
    AsTheDesign,
}

impl Count {
    /// The meter of sizes.
    #[must_use]
    pub const fn meter(self) -> Meter {
        match self {
            Self::By(meter) => meter,
            Self::AsTheDesign => Meter::Estimate,
        }
    }
}

/// When to compact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Now, as somebody asks for it.
    #[default]
    Now,
    /// If the design would by itself.
    Due,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The design and its settings.
    pub settings: &'a Settings,
    /// The window of the model.
    pub window: Window,
    /// What the result may take, system prompt aside.
    pub budget_tokens: Option<u64>,
    /// How tokens are counted.
    pub count: Count,
    /// When to compact.
    pub when: When,
    /// What to keep in mind.
    pub focus: Option<&'a str>,
}

/// A conversation.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Its messages.
    pub messages: &'a [Message],
    /// Their sizes and cuts, by the meter of the [`Ask`].
    pub log: &'a Log,
    /// The request body that holds them, where there is one.
    pub body: Option<&'a Body>,
}

/// The log of messages.
#[must_use]
pub fn log_of(messages: &[Message], meter: Meter) -> Log {
    let mut log = Log::new();
    for message in messages {
        log.push(&Facts::of(message, meter));
    }
    log
}

impl Ask<'_> {
    /// What would be removed, and how far that gets.
    ///
    /// # Errors
    /// [`NoPlan`] with the reason: nothing is due, nothing can go, the budget cannot be reached, or the provider keeps the
    /// history.
    pub fn plan(&self, given: Given<'_>) -> Result<Plan, NoPlan> {
        let log = given.log;
        let no = |reason| NoPlan {
            reason,
            floor_tokens: 0,
        };
        if let Some(reason) = given.body.and_then(Body::kept_by_provider) {
            return Err(no(reason));
        }
        // What is only named in a file was never seen here.
        if given.body.is_some_and(Body::names_items) {
            return Err(no(Reason::ServerSideHistory));
        }
        let mut preset = Preset::from(self.settings);
        let there = log.tokens(leading_system(log)..log.len());
        // Each design counts in its own way, unless the caller says how.
        let tokens = match preset.design.reference_meter() {
            Some(reference) if self.count == Count::AsTheDesign => {
                reference.tokens(given.messages, Usage::default())
            }
            _ => log.total_tokens(),
        };
        let mut reason = Reason::Manual;
        if self.when == When::Due {
            let margins = self.settings.margins();
            let belief = Belief::default();
            let gauge = belief.gauge(self.window, margins, None, OutputCounting::Apart);
            let lines = gauge.read(tokens, &[]).lines;
            preset.is_due(tokens, self.window, lines).map_err(no)?;
            preset = preset.at_usage(tokens, self.window);
            reason = match preset.trigger {
                Trigger::HardLine => Reason::HardLine,
                _ => Reason::Threshold,
            };
        }
        if self.budget_tokens.is_some_and(|budget| there <= budget) {
            return Err(no(Reason::WithinBudget));
        }
        let target = (self.window.tokens / 4).min(there / 2);
        let plan = Plan::with(&preset, log, self.budget_tokens, Room::of(target), reason);
        let plan = plan.map_err(|no| match (no.reason, self.budget_tokens) {
            // What is there is above the budget, and none of it can go: that is no success.
            (Reason::NothingToRemove, Some(_)) => NoPlan {
                reason: Reason::FloorAboveBudget,
                floor_tokens: there,
            },
            _ => no,
        })?;
        Ok(plan.without_heartbeats(log))
    }

    /// Carries a plan out with the built-in summariser, and checks it.
    ///
    /// # Errors
    /// [`NoPlan`] when what comes of it is not small enough.
    pub fn carry_out(&self, plan: Plan, given: Given<'_>) -> Result<Compaction, NoPlan> {
        let basis = Basis {
            design: self.settings.design(),
            focus: self.focus,
            ..Basis::new(given.log, given.messages, self.count.meter())
        };
        Compaction::extract_verified(plan, &basis)
    }
}
