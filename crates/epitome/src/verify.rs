//! Whether a summary is true, and what is done when it is not.
//!
//! A summary is checked both ways: what mattered must be there, and what is there must have been in the source. The
//! check needs no model and takes time in proportion to the source.
//!
//! - what can be looked up: `mark` over `word`; where: `ground`; whether it is there: `support`, `number` over `slot` and `spelled`, `quantity` however it is written
//! - what matters in the source: `weigh`; what the user wants kept: `rule` over `gist` and `denial`, `stances` over `stance`; what is still to be done: `todo`
//! - a summary as lines and sentences: `item`; who is said to have spoken: `voice`; whether he did: `claim`
//! - what is wrong with a sentence: `judge`; what is missing: `restore`; the text that comes out: `repair`
//! - what was found: `report`; how others call it: `host`

mod claim;
mod denial;
mod gist;
mod ground;
mod host;
mod item;
mod judge;
mod mark;
mod number;
mod quantity;
mod repair;
mod report;
mod restore;
mod rule;
mod slot;
mod spelled;
mod stance;
mod stances;
mod support;
mod todo;
mod typed;
mod voice;
mod weigh;
mod word;

pub use host::{covered, repaired};
pub use mark::AnchorKind;
pub use report::{Alarm, AlarmKind, AnchorCounts, Verdict, VerifyReport};

use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::reason::Reason;
use crate::summary::Earlier;
use ground::{Asked, Ground};
use judge::Judge;
use repair::{Repair, Repaired};
use restore::missing;
use rule::Rules;
use weigh::Anchor;

/// How far verification goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyLimits {
    /// How tokens are counted.
    pub meter: Meter,
    /// The most that a summary may take, with what is put in.
    pub most_tokens: Option<u64>,
    /// The most that the names of what a summary left out may take. Instructions and to-dos come on top.
    pub ledger_tokens: u64,
    /// A summary of which more than this share of the anchors is invented is not worth repairing.
    pub invented_percent: usize,
}

impl Default for VerifyLimits {
    fn default() -> Self {
        Self {
            meter: Meter::Estimate,
            most_tokens: None,
            ledger_tokens: 400,
            invented_percent: 25,
        }
    }
}

/// Fewer inventions than this are always struck.
const FEW: usize = 4;

/// A heading that a summary must have, and what stands under it when it is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredHeading {
    /// The heading, without signs: `Completed Work`.
    pub name: String,
    /// What the log says.
    pub fill: String,
}

/// A source, ready to check any number of summaries of it.
///
/// ```
/// use epitome::verify::{Verdict, Verification};
/// use epitome::{Message, Role};
///
/// let messages = [
///     Message::text(Role::User, "Fix the login in src/auth.rs. Never push to main."),
///     Message::text(Role::Assistant, "Fixed: the session in src/auth.rs lived 30 minutes too long."),
/// ];
/// let source: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
/// let verification = Verification::of(&source, None);
///
/// let summary = "The session in src/auth.rs lived 30 minutes too long.\n\
///     The login in src/auth.rs is fixed.\n\
///     Then src/cookies.rs was rewritten.";
/// let checked = verification.check(summary);
/// assert_eq!(checked.verdict, Verdict::Repaired);
/// assert!(!checked.text.contains("src/cookies.rs"));
/// assert!(checked.text.contains("Never push to main."));
/// ```
#[derive(Clone, Debug)]
pub struct Verification {
    ground: Ground,
    anchors: Vec<Anchor>,
    rules: Rules,
    todos: Vec<String>,
    headings: Vec<RequiredHeading>,
    limits: VerifyLimits,
    /// What the rest of the view shows.
    view: Ground,
    view_text: String,
    /// Where the source ends, if its pins are its own: what is said later may take them back.
    last: Option<usize>,
}

/// A summary after verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The summary, repaired where it had to be. What was handed in, when it is rejected.
    pub text: String,
    /// What was found and done.
    pub report: VerifyReport,
    /// What comes of it.
    pub verdict: Verdict,
}

impl Verification {
    /// Reads a source: the entries that a summary stands for, and the summary of the round before, if it is not among
    /// them. The pins are those that the source itself gives.
    #[must_use]
    pub fn of(source: &[(usize, &Message)], previous: Option<&str>) -> Self {
        Self::reading(source, previous, None, None)
    }

    /// Reads a source to check one summary of it: what has nothing to do with that is not kept. The pins are looked for
    /// where they are not known.
    pub(crate) fn of_one(
        source: &[(usize, &Message)],
        previous: Option<&str>,
        summary: &str,
        pins: Option<Vec<Pin>>,
    ) -> Self {
        Self::reading(source, previous, Some(Asked::by(summary)), pins)
    }

    fn reading(
        source: &[(usize, &Message)],
        previous: Option<&str>,
        asked: Option<Asked>,
        pins: Option<Vec<Pin>>,
    ) -> Self {
        let found = || {
            let carried = previous
                .and_then(Earlier::read)
                .into_iter()
                .flat_map(|earlier| earlier.pins)
                .map(|text| Pin::carried(0, text))
                .collect();
            pin::carry(carried, source.iter().copied())
        };
        let is_own = pins.is_none();
        Self {
            last: source.last().map(|(at, _)| *at).filter(|_| is_own),
            ground: Ground::of(source, previous, asked),
            anchors: weigh::anchors(source),
            rules: Rules::of(pins.unwrap_or_else(found)),
            todos: todo::open(source.iter().map(|(_, message)| *message)),
            headings: Vec::new(),
            limits: VerifyLimits::default(),
            view: Ground::default(),
            view_text: String::new(),
        }
    }

    /// With these pins instead of those that the source gives.
    #[must_use]
    pub fn with_pins(mut self, pins: Vec<Pin>) -> Self {
        self.rules = Rules::of(pins);
        self.last = None;
        self
    }

    /// Without the pins of these texts: nobody asks for them.
    #[must_use]
    pub fn without_pins<T: AsRef<str>>(mut self, dropped: &[T]) -> Self {
        if !dropped.is_empty() {
            self.rules = self.rules.without(|text| {
                let mut dropped = dropped.iter();
                dropped.any(|one| one.as_ref().trim() == text.trim())
            });
        }
        self
    }

    /// With headings that a summary must have.
    #[must_use]
    pub fn with_headings(mut self, headings: Vec<RequiredHeading>) -> Self {
        self.headings = headings;
        self
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: VerifyLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With entries outside the span of which the summary tells what is no longer shown of them.
    #[must_use]
    pub fn with_trimmed(mut self, entries: &[(usize, &Message)]) -> Self {
        self.ground.add(entries);
        self
    }

    /// With what stands in view beside the summary: it need not be in the summary too, and what the user takes back in
    /// what stands behind the source is no longer in force. Pins that were handed in stay as they are.
    #[must_use]
    pub fn with_view(mut self, entries: &[(usize, &Message)]) -> Self {
        self.view = Ground::of(entries, None, None);
        let spoken = entries.iter().flat_map(|(_, message)| message.spoken());
        self.view_text = rule::single_spaced(&spoken.collect::<Vec<_>>().join("\n"));
        if let Some(last) = self.last {
            let later = entries.iter().copied().filter(|(at, _)| *at > last);
            self.rules = self.rules.changed_by(later, last);
        }
        self
    }

    /// With what stands around the summary and was not said by anybody: it need not be in the summary too.
    pub(crate) fn with_frame(mut self, text: &str) -> Self {
        if !text.is_empty() {
            let frame = Message::text(Role::User, text);
            self.view.add(&[(0, &frame)]);
            self.view_text.push(' ');
            self.view_text.push_str(&rule::single_spaced(text));
        }
        self
    }

    /// Checks a summary and repairs it. The same text always comes out the same.
    #[must_use]
    pub fn check(&self, text: &str) -> Checked {
        if !rule::says_something(text) {
            return empty(text);
        }
        let lines = item::lines(text);
        let mut report = VerifyReport::default();
        let mut repair = Repair::new(&lines);
        let mut judge = Judge {
            verification: self,
            report: &mut report,
            repair: &mut repair,
            text,
            scope: Vec::new(),
        };
        for (at, line) in lines.iter().enumerate() {
            judge.line(at, line);
        }
        let invented = report.total().invented;
        let is_much = invented * 100 > report.checked * self.limits.invented_percent;
        let kept = repair.kept();
        let is_worthless = invented >= FEW && is_much || !rule::says_something(&kept);

        self.restore_headings(&lines, &mut report, &mut repair);
        self.restore_pins(&kept, &mut report, &mut repair);
        self.restore_todos(&kept, &mut report, &mut repair);
        let repaired = self.with_ledger(repair, &kept, text);

        self.count_anchors(&repaired.text, &mut report);
        report.struck = repaired.struck;
        report.appended = repaired.appended;
        let tokens = self.limits.meter.text(&repaired.text);
        let is_long = self.limits.most_tokens.is_some_and(|most| tokens > most);
        if is_long {
            let size = format!("{tokens} tokens");
            report.alarms.push(missing(AlarmKind::TooLong, &size));
        }
        let (verdict, text) = if is_worthless || is_long {
            (Verdict::Rejected(Reason::SummaryRejected), text.to_owned())
        } else if repaired.text == text {
            (Verdict::Accepted, repaired.text)
        } else {
            (Verdict::Repaired, repaired.text)
        };
        Checked {
            text,
            report,
            verdict,
        }
    }

    /// The repaired text with the names of what it left out, as far as there is room.
    fn with_ledger(&self, mut repair: Repair<'_>, kept: &str, text: &str) -> Repaired {
        let limits = self.limits;
        let bare = repair.clone().finish(text);
        let taken = limits.meter.text(&bare.text);
        let room = limits.most_tokens.map_or(limits.ledger_tokens, |most| {
            let left = most.saturating_sub(taken + repair::LEDGER_FRAME_TOKENS);
            left.min(limits.ledger_tokens)
        });
        let shown = Ground::of_text(kept);
        let is_shown = |anchor: &Anchor| anchor.is_in(&shown) || anchor.is_in(&self.view);
        let lacking = self.anchors.iter().filter(|anchor| !is_shown(anchor));
        if repair.ledger(lacking, limits.meter, room) {
            repair.finish(text)
        } else {
            bare
        }
    }

    fn count_anchors(&self, text: &str, report: &mut VerifyReport) {
        let shown = Ground::of_text(text);
        for anchor in &self.anchors {
            let counts = report.of_mut(anchor.kind);
            counts.anchors += 1;
            if anchor.is_in(&shown) || anchor.is_in(&self.view) {
                counts.retained += 1;
            } else if anchor.is_heavy() {
                counts.missing += 1;
            } else {
                counts.recoverable += 1;
            }
        }
    }
}

fn empty(text: &str) -> Checked {
    Checked {
        text: text.to_owned(),
        report: VerifyReport {
            alarms: vec![missing(AlarmKind::Empty, "")],
            ..VerifyReport::default()
        },
        verdict: Verdict::Rejected(Reason::SummaryEmpty),
    }
}
