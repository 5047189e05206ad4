//! A preset: the choices of a design, at work on a conversation.

use crate::design::{Design, Keep, Preset, PresetName, SummaryPlace, Trigger};
use crate::log::Log;
use crate::reason::Reason;
use crate::reference::{openclaw, spacebot};
use crate::split::{self, Split};
use crate::window::{Lines, Window};

impl Preset {
    /// The preset of a name, with its reference's own numbers.
    #[must_use]
    pub fn named(name: PresetName) -> Self {
        Self::of(name.design())
    }

    /// A design as it is where nobody says otherwise.
    #[must_use]
    pub const fn of(design: &'static Design) -> Self {
        Self {
            design,
            trigger: design.trigger,
            keep: design.keep,
            place: design.place,
            summary_tokens: design.summary_tokens,
            history_share: None,
            most_messages: design.most_messages,
            counts: design.counts,
            guards: design.guards,
            shows_at_once: design.shows_at_once,
            waits: design.waits,
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

    /// Whether the built-in summariser reads everything again for each compaction, also what an earlier summary stands
    /// for: where the design keeps by size and does not count its rounds. The others are defined on what is shown.
    #[must_use]
    pub fn rereads_originals(&self) -> bool {
        self.keep == Keep::Budget && self.design.form.round_of.is_none()
    }

    /// The window this design assumes where none is known.
    #[must_use]
    pub const fn assumed_window(&self) -> Window {
        self.design.assumed_window
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
        let system_end = log.leading_system();
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
    /// `spacebot` forward, or back where forward leaves too little. What waits for an answer stays, but in the design
    /// that keeps nothing: it repeats the last request behind its summary.
    pub(crate) fn cut(&self, log: &Log, head_end: usize) -> Option<usize> {
        let wanted = self.wanted_cut(log, head_end)?;
        if self.keep == Keep::Nothing {
            return Some(wanted);
        }
        Some(wanted.min(log.last_removal()?))
    }

    fn wanted_cut(&self, log: &Log, head_end: usize) -> Option<usize> {
        let len = log.len();
        let back = |wanted: usize| log.cut_at_or_before(wanted).filter(|cut| *cut > head_end);
        match self.keep {
            Keep::Budget => None,
            // The request that a summary ends with is told once: what comes of it alone would have none.
            Keep::Nothing if log.ends_in_summary() => None,
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
