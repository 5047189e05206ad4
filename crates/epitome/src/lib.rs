//! Context compaction as pure functions.
//!
//! A conversation outgrows its model's window; this crate decides when that is about to happen, where the
//! history may be cut, what stands for the part that leaves, and what the model gets. It does no I/O, reads
//! no clock and rolls no dice: data in, data out.
//!
//! - what was said: [`Message`], [`Block`], [`Role`]; how big it is: [`Meter`]
//! - sizes and legal cuts of a whole conversation: [`Log`], made of [`Facts`]
//! - how full: [`Gauge`], from what is believed of a model: [`Belief`]; when: [`Window`], [`Lines`]; what: [`Plan`]; how: [`Source`], the built-in summariser
//! - how a preset is told otherwise: [`settings`]
//! - what is shown of long or old tool results: [`Trim`], [`Frozen`]
//! - whether a summary is true: [`verify`]
//! - the result: [`Compaction`], [`View`]; and all of it in one value: [`Session`]
#![warn(missing_docs)]

mod anchor;
mod compaction;
mod course;
mod design;
mod digest;
mod dress;
mod event;
mod extract;
mod files;
mod gauge;
mod guard;
mod hashed;
mod haystack;
mod heartbeat;
mod ledger;
mod letters;
mod log;
mod message;
mod meter;
mod model;
mod one_line;
mod pin;
mod plan;
mod preset;
pub mod provenance;
mod prune;
mod pruning;
mod reason;
pub mod reference;
mod session;
mod setting;
pub mod settings;
mod signature;
mod split;
mod story;
mod summary;
mod threshold;
mod trim;
mod usage;
pub mod verify;
mod view;
mod warning;
mod window;
mod word_cut;
mod wording;

pub use anchor::anchors;
pub use compaction::{Basis, Compaction, MadeFrom};
pub use course::{
    CacheState, Course, Decision, Frame, Move, ReadyFacts, ShowNow, Sight, Ticket, Work,
};
pub use design::{
    AfterFailure, Asking, Design, DueCount, Events, FilePlace, Keep, Knob, Knobs, Preset,
    PresetName, SummaryForm, SummaryPlace, Trigger, UnknownPreset,
};
pub use digest::Digest;
pub use dress::{Dress, Form};
pub use event::{Event, EventFields, FieldValue, Finished, Pruning, Started};
pub use extract::Source;
pub use files::{FileOperations, TOOL_FAILURE_CHARS, ToolFailure};
pub use gauge::{
    Anchor, Asked, Belief, CALIBRATED_ERROR_RATIO, CachePrices, Calibration, Count, Evidence,
    Gauge, Learned, Lesson, OutputCounting, Reading, RefusedSize, Swap, Target, TurnGrowth,
    TurnKind, UNCALIBRATED_ERROR_RATIO, UsageFinding, is_surely_cold,
};
pub use guard::{
    GUARD_MINIMUM_TOKENS, GUARD_WARNING_TOKENS, Guard, WindowTooSmall, window as guard_window,
};
pub use heartbeat::{
    HEARTBEAT_OK, HEARTBEAT_SECTION, HeartbeatPart, exchanges as heartbeat_exchanges,
    is_ok as is_heartbeat_ok,
};
pub use ledger::{Attempt, Breaker, Failure, Growth, Ledger, LedgerSettings, Need, Rung};
pub use log::{CallKey, Facts, Log};
pub use message::{Block, Call, MEDIA_TOKENS, Media, Message, ResultPart, Role, ToolResult};
pub use meter::{Meter, ReferenceMeter};
pub use model::{
    CacheRule, ContextBeta, LongInput, Model, ModelTable, ModelTableError, ModelTableProblem,
    Prices, window_of, window_of_with,
};
pub use pin::{
    CappedPins, NamedResult, Pin, PinKind, PinState, Share, cap as cap_pins, carry as carry_pins,
    find as find_pins, named_results, pin_budget_tokens, share_named,
};
pub use plan::{
    Layout, NoPlan, Plan, Room, SUMMARY_FLOOR_TOKENS, TaskPlace, leading_system, notes_within,
};
pub use prune::{Cache, Frozen, PLACEHOLDER_MARK, PruneCause, Pruned};
pub use pruning::{EntryCap, ErrorResults, OldResults, PruneSettings, Recall};
pub use reason::Reason;
pub use session::{Change, CommitError, Job, KeptElsewhere, Prepared, Record, Session};
pub use signature::is_own as is_own_summary;
pub use split::Split;
pub use summary::{Earlier, Line, LineKind, Parts, Summary};
pub use threshold::{Threshold, ThresholdError};
pub use trim::{Kept, Shown, Trim, trimmed, trims, trims_beyond};
pub use usage::Usage;
pub use view::{View, ViewItem, merged};
pub use warning::WarningCycle;
pub use window::{ASSUMED_WINDOW_TOKENS, Lines, Margins, Window, WindowSource};
