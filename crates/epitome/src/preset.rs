//! A preset: a named bundle of choices. Six designs, one engine.

use crate::log::Log;
use crate::meter::ReferenceMeter;
use crate::plan::leading_system;
use crate::preset_name::PresetName;
use crate::reason::Reason;
use crate::reference::{layer, micro, openclaw, spacebot, vibe};
use crate::split::{self, Split};
use crate::window::{Lines, Window};

/// The choices that make a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Which one it is.
    pub name: PresetName,
    /// When a conversation is due.
    pub trigger: Trigger,
    /// What stays.
    pub keep: Keep,
    /// Where the summary goes.
    pub place: SummaryPlace,
    /// What the summary may take when no budget says otherwise.
    pub summary_tokens: u64,
    /// The share of the window that the history to be summarised may take. What is above it goes first, in chunks, and
    /// is summarised by itself.
    pub history_share: Option<f64>,
    /// Messages that a view shows at most, whatever they take. The oldest behind the first leave it without a word.
    pub most_messages: Option<usize>,
    /// How it counts a conversation.
    pub counts: DueCount,
    /// Whether it refuses to work in very small windows.
    pub guards: bool,
    /// Whether what was written is shown as soon as it is there, instead of when it must be or pays.
    pub shows_at_once: bool,
    /// Whether its host waits for the summary where nothing else is said.
    pub waits: bool,
}

/// How a design counts a conversation when it asks whether it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueCount {
    /// As well as it is known: anchored and calibrated.
    Known,
    /// What the provider reported last, answer included.
    Reported,
    /// In a way of its own.
    Reference(ReferenceMeter),
}

/// When a conversation is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// Never: it is switched off.
    Never,
    /// The hard line of the window.
    HardLine,
    /// A fixed number of tokens, reached or passed.
    AtLeast(i64),
    /// A fixed number of tokens, passed.
    Above(u64),
    /// The window less a reserve, passed.
    WindowLess(u64),
    /// The lowest tier of usage, reached or passed.
    Tiers(spacebot::Thresholds),
    /// A share of the window after reserves, reached or passed.
    Share(layer::Settings),
}

/// What stays of a conversation besides its system prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// The task and as many of the newest tokens as the budget allows.
    Budget,
    /// Nothing.
    Nothing,
    /// The newest entries of about so many tokens.
    RecentTokens(u64),
    /// The first message and the newest `n`.
    FirstAndLast(usize),
    /// The newest `n` messages.
    Last(usize),
    /// All but the oldest share.
    AllButOldest(f64),
}

/// Where the summary goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPlace {
    /// A user message after what stays in front.
    UserMessage,
    /// Into the first message, between marks.
    FirstMessage,
    /// A user message behind the earlier summaries.
    Stack,
    /// An assistant message after the system prompt.
    AssistantMessage,
    /// No summary at all: a marker behind the earlier summaries, which counts what went.
    Marker,
}

impl Preset {
    /// The preset of a name, with its reference's own numbers.
    #[must_use]
    pub fn named(name: PresetName) -> Self {
        let (trigger, keep, place, summary_tokens) = match name {
            PresetName::Default => (
                Trigger::HardLine,
                Keep::Budget,
                SummaryPlace::UserMessage,
                u64::MAX,
            ),
            PresetName::Vibe => (
                Trigger::AtLeast(vibe::THRESHOLD_TOKENS),
                Keep::Nothing,
                SummaryPlace::UserMessage,
                8_000,
            ),
            PresetName::Openclaw => (
                Trigger::WindowLess(openclaw::RESERVE_FLOOR_TOKENS),
                Keep::RecentTokens(openclaw::KEEP_RECENT_TOKENS),
                SummaryPlace::UserMessage,
                openclaw::RESERVE_FLOOR_TOKENS * 8 / 10,
            ),
            PresetName::Micro => (
                Trigger::Above(micro::THRESHOLD_TOKENS),
                Keep::FirstAndLast(micro::TAIL_MESSAGES),
                SummaryPlace::FirstMessage,
                4_096,
            ),
            PresetName::Spacebot => (
                Trigger::Tiers(spacebot::Thresholds::default()),
                Keep::AllButOldest(spacebot::Tier::Background.fraction()),
                SummaryPlace::Stack,
                2_000,
            ),
            PresetName::Layer => {
                let settings = layer::Settings::default();
                (
                    Trigger::Share(settings),
                    Keep::Last(settings.recent_messages_to_keep),
                    SummaryPlace::AssistantMessage,
                    1_000,
                )
            }
        };
        Self {
            name,
            trigger,
            keep,
            place,
            summary_tokens,
            history_share: None,
            most_messages: (name == PresetName::Micro).then_some(micro::MAX_MESSAGES),
            counts: match (name, name.reference_meter()) {
                (PresetName::Vibe, _) => DueCount::Reported,
                (_, Some(meter)) => DueCount::Reference(meter),
                (_, None) => DueCount::Known,
            },
            guards: matches!(name, PresetName::Default | PresetName::Openclaw),
            shows_at_once: name != PresetName::Default,
            waits: !matches!(name, PresetName::Default | PresetName::Spacebot),
        }
    }

    /// The same design as it acts on a conversation of `tokens`: tiers take more the fuller the window is, and the
    /// highest waits for no summary.
    #[must_use]
    pub fn at_usage(mut self, tokens: u64, window: Window) -> Self {
        if let Trigger::Tiers(thresholds) = self.trigger
            && let Some(tier) = spacebot::tier(tokens, window.tokens, thresholds)
        {
            self.keep = Keep::AllButOldest(tier.fraction());
            if tier == spacebot::Tier::Emergency {
                self.place = SummaryPlace::Marker;
            }
        }
        self
    }

    /// The window this design assumes where none is known.
    #[must_use]
    pub const fn assumed_window(&self) -> Window {
        match self.name {
            PresetName::Openclaw => Window::configured(openclaw::DEFAULT_WINDOW_TOKENS),
            _ => Window::assumed(),
        }
    }

    /// The size from which a conversation is due, `None` where that is switched off or the reserves leave nothing.
    #[must_use]
    pub fn threshold_tokens(&self, window: Window, lines: Option<Lines>) -> Option<u64> {
        let tokens = match self.trigger {
            Trigger::Never => return None,
            Trigger::HardLine => lines?.hard_tokens,
            Trigger::AtLeast(threshold) => u64::try_from(threshold).ok()?,
            Trigger::Above(threshold) => threshold,
            Trigger::WindowLess(reserve) => window.tokens.checked_sub(reserve)?,
            Trigger::Tiers(thresholds) => {
                (window.tokens as f64 * thresholds.background).ceil() as u64
            }
            Trigger::Share(settings) => u64::try_from(settings.within(window).threshold()).ok()?,
        };
        (tokens > 0).then_some(tokens)
    }

    /// Whether a conversation of `tokens` is due.
    ///
    /// # Errors
    /// The reason why it is not.
    pub fn is_due(&self, tokens: u64, window: Window, lines: Option<Lines>) -> Result<(), Reason> {
        let reached = match self.trigger {
            Trigger::Never => return Err(Reason::SwitchedOff),
            Trigger::HardLine => tokens > lines.ok_or(Reason::WindowBelowReserves)?.hard_tokens,
            Trigger::AtLeast(..=0) => return Err(Reason::SwitchedOff),
            Trigger::AtLeast(threshold) => tokens >= threshold.unsigned_abs(),
            Trigger::Above(threshold) => tokens > threshold,
            Trigger::WindowLess(reserve) => {
                if window.tokens <= reserve {
                    return Err(Reason::WindowBelowReserves);
                }
                openclaw::is_due(tokens, window.tokens, reserve)
            }
            Trigger::Tiers(thresholds) => {
                spacebot::tier(tokens, window.tokens, thresholds).is_some()
            }
            Trigger::Share(settings) => {
                let threshold = settings.within(window).threshold();
                if threshold <= 0 {
                    return Err(Reason::WindowBelowReserves);
                }
                tokens >= threshold.unsigned_abs()
            }
        };
        if reached {
            Ok(())
        } else {
            Err(Reason::BelowLine)
        }
    }

    /// What stays in front: the system prompt, and what the design keeps behind it.
    pub(crate) fn head_end(&self, log: &Log) -> usize {
        let system_end = leading_system(log);
        match self.place {
            SummaryPlace::FirstMessage => match log.first_typed() {
                Some(first) if log.is_cut(first + 1) => first + 1,
                _ => system_end,
            },
            SummaryPlace::Stack | SummaryPlace::Marker => {
                system_end + log.stacked_summaries(system_end)
            }
            SummaryPlace::UserMessage | SummaryPlace::AssistantMessage => system_end,
        }
    }

    /// Where the turn begins that `cut` splits, for the design that summarises its beginning by itself.
    pub(crate) fn turn_start(&self, log: &Log, head_end: usize, cut: usize) -> usize {
        match self.keep {
            Keep::RecentTokens(_) => split::turn_start(log, head_end, cut),
            _ => cut,
        }
    }

    /// Where the design would cut, moved to a legal cut as the design wants it: `micro` and `layer` back,
    /// `spacebot` forward, or back where forward leaves too little.
    pub(crate) fn cut(&self, log: &Log, head_end: usize) -> Option<usize> {
        let len = log.len();
        let back = |wanted: usize| log.cut_at_or_before(wanted).filter(|cut| *cut > head_end);
        match self.keep {
            Keep::Budget => None,
            Keep::Nothing => {
                if log.is_cut(len) {
                    Some(len)
                } else {
                    log.last_cut()
                }
            }
            Keep::RecentTokens(tokens) => {
                // Where less than that is there, but somebody asked, half of it stays.
                let there = log.tokens(head_end..len);
                let split = Split::keeping(log, head_end, tokens.min(there / 2));
                split.map(|split| split.kept.start)
            }
            Keep::FirstAndLast(count) | Keep::Last(count) => back(len.checked_sub(count)?),
            Keep::AllButOldest(share) => {
                let count = len.checked_sub(head_end)?;
                let most = count.checked_sub(2).filter(|most| *most > 0)?;
                let wanted = ((count as f64 * share).floor() as usize).clamp(1, most);
                log.cut_at_or_after(head_end + wanted)
                    .filter(|cut| *cut <= head_end + most)
                    .or_else(|| back(head_end + wanted))
            }
        }
    }
}
