//! Designs as data: everything that makes one of them stands in one file of this room, and nowhere else is asked which
//! one it is.
//!
//! - a whole design: [`Design`], made of its choices, its [`Form`](crate::Form) of text, its [`Events`] and its way of
//!   [`Asking`]; `PresetName::design` is the one place that leads from a name to it
//! - the choices as a conversation runs by them: [`Preset`], [`Trigger`], [`Keep`], [`SummaryPlace`], [`DueCount`]
//! - what people can tell it: its rows of settings, together [`DesignSettings`]
//!
//! A design that has no name here is a `Design` of one's own, with its settings as [`Knobs`]: `Settings::of(&DESIGN)`.

mod asking;
mod choices;
mod default;
mod events;
mod layer;
mod micro;
mod name;
mod openclaw;
mod own;
mod spacebot;
mod table;
mod vibe;

use std::fmt;
use std::ops::Range;

use crate::dress::{Dress, Form};
use crate::message::Message;
use crate::meter::ReferenceMeter;
use crate::pruning::PruneSettings;
use crate::window::Window;

pub use asking::{AfterFailure, Asking, SummaryForm};
pub use choices::{DueCount, Keep, Preset, SummaryPlace, Trigger};
pub use default::DefaultSettings;
pub use events::Events;
pub use layer::LayerSettings;
pub use micro::MicroSettings;
pub use name::{PresetName, UnknownPreset};
pub use openclaw::{CompactionMode, MemoryFlushSettings, OpenclawSettings};
pub use own::DesignSettings;
pub(crate) use own::Own;
pub use spacebot::SpacebotSettings;
pub use table::{Knob, Knobs, TableSettings};
pub use vibe::VibeSettings;

/// A way to keep a conversation inside its window, as plain data. Two designs are the same if they have the same name.
///
/// ```
/// use epitome::{Design, Meter, Preset, Session, Trigger, Window};
///
/// static EARLY: Design = Design {
///     name: "early",
///     trigger: Trigger::AtLeast(10_000),
///     ..Design::BASE
/// };
/// let session = Session::new(Window::configured(200_000), Meter::Estimate).with_preset(Preset::of(&EARLY));
/// # assert!(session.messages().is_empty());
/// ```
#[derive(Clone, Copy)]
pub struct Design {
    /// What it is called.
    pub name: &'static str,
    /// When a conversation is due.
    pub trigger: Trigger,
    /// What stays.
    pub keep: Keep,
    /// Where the summary goes.
    pub place: SummaryPlace,
    /// What the summary may take when no budget says otherwise.
    pub summary_tokens: u64,
    /// Messages that a view shows at most.
    pub most_messages: Option<usize>,
    /// How it counts a conversation.
    pub counts: DueCount,
    /// Whether it refuses to work in very small windows.
    pub guards: bool,
    /// Whether what was written is shown as soon as it is there, instead of when it must be or pays.
    pub shows_at_once: bool,
    /// Whether its host waits for the summary where nothing else is said.
    pub waits: bool,
    /// The window that it assumes where none is known.
    pub assumed_window: Window,
    /// The text of its summaries.
    pub form: &'static Form,
    /// What it tells people, hooks and logs.
    pub events: Events,
    /// What it shows of long and old tool results in a window of so many tokens.
    pub prune: fn(u64) -> PruneSettings,
    /// How it has a summary written, and what it does when there is none.
    pub asking: Asking,
    /// How often a request that was refused as too long is compacted and sent again.
    pub overflow_attempts: u64,
    /// Where its settings stand in its own file.
    pub file: FilePlace,
    /// What people can tell it, where that is data.
    pub knobs: Knobs,
    /// Its settings as it has them; [`DesignSettings::table`] where they are [`Knobs`].
    pub settings: fn(&'static Self) -> DesignSettings,
}

/// Where the settings of a design stand in its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The tables on the way to them; none where they stand in the outermost one.
    pub way: &'static [&'static str],
    /// The same inside each table of a list `agents`; `None` where single agents have no settings of their own.
    pub agent_way: Option<&'static [&'static str]>,
    /// Whether the window may stand in a table on the way.
    pub has_window_above: bool,
}

impl Design {
    /// What a design has that says nothing else: compacts at the hard line of the window, keeps what the budget allows,
    /// and tells everything in our own words.
    pub const BASE: Self = Self {
        name: "",
        trigger: Trigger::HardLine,
        keep: Keep::Budget,
        place: SummaryPlace::UserMessage,
        summary_tokens: u64::MAX,
        most_messages: None,
        counts: DueCount::Known,
        guards: false,
        shows_at_once: true,
        waits: true,
        assumed_window: Window::assumed(),
        form: &Form::PLAIN,
        events: Events::BASE,
        prune: |_| PruneSettings::off(),
        asking: Asking::BASE,
        overflow_attempts: 3,
        file: FilePlace::OUTERMOST,
        knobs: Knobs::NONE,
        settings: DesignSettings::table,
    };

    /// How it measures a whole conversation, where it has a way of its own.
    #[must_use]
    pub const fn reference_meter(&self) -> Option<ReferenceMeter> {
        match self.counts {
            DueCount::Reference(meter) => Some(meter),
            DueCount::Known | DueCount::Reported => None,
        }
    }

    /// How a summary that stands for the `span` of `messages` is dressed.
    #[must_use]
    pub fn dress<'a>(&self, messages: &[&'a Message], span: Range<usize>) -> Dress<'a> {
        let form = self.form;
        let last_request = || {
            let covered = messages.get(..span.end).unwrap_or(messages);
            let mut newest = covered.iter().copied().rev();
            newest.find(|message| message.is_typed_by_user())
        };
        let last_round = |round_of: fn(&Message) -> u32| {
            let front = messages.iter().skip(span.start).take(2);
            front.map(|message| round_of(message)).max().unwrap_or(0)
        };
        Dress {
            form,
            last_request: form.says_last_request.then(last_request).flatten(),
            round: 1 + form.round_of.map_or(0, last_round),
        }
    }
}

impl FilePlace {
    /// In the outermost table, for everybody.
    pub const OUTERMOST: Self = Self {
        way: &[],
        agent_way: None,
        has_window_above: false,
    };
}

impl PartialEq for Design {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Design {}

impl fmt::Debug for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Design").field(&self.name).finish()
    }
}

impl PresetName {
    /// How the design measures a whole conversation, where it has a way of its own.
    #[must_use]
    pub fn reference_meter(self) -> Option<ReferenceMeter> {
        self.design().reference_meter()
    }
}

impl From<PresetName> for &'static Design {
    fn from(name: PresetName) -> Self {
        name.design()
    }
}

impl PruneSettings {
    /// What a design prunes in a window of `window_tokens`. `micro` cuts at its own size; of the others only `default`
    /// prunes: on arrival at a sixteenth of the window, and old results when an eighth of the window goes at once.
    ///
    /// ```
    /// use epitome::{EntryCap, PresetName, PruneSettings};
    ///
    /// let micro = PruneSettings::of(PresetName::Micro, 200_000);
    /// assert_eq!(micro.entry_cap, EntryCap::Chars(40_000));
    /// let ours = PruneSettings::of(PresetName::Default, 200_000);
    /// assert_eq!(ours.entry_cap, EntryCap::Tokens(12_500));
    /// ```
    #[must_use]
    pub fn of(design: impl Into<&'static Design>, window_tokens: u64) -> Self {
        (design.into().prune)(window_tokens)
    }
}
