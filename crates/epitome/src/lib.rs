//! Context compaction as pure functions. A conversation outgrows its model's window; this crate decides when that is about to
//! happen, where the history may be cut, what stands for the part that leaves, and what the model gets. It does no I/O, reads no
//! clock and rolls no dice: data in, data out. `epitome-wire` reads and writes what providers speak, without converting it.
//!
//! ```rust
//! use epitome::{Decision, Meter, Session, Window};
//! use epitome_wire::{Body, Wire, decode};
//!
//! # let night = |n: usize| format!(r#"{{"role":"assistant","content":"Night {n}: {} stars were counted, and none was guessed."}},
//! #     {{"role":"user","content":"Go on with the next night, please."}}"#, n * 17);
//! # let nights: Vec<String> = (0..800).map(night).collect();
//! # let task = r#"{"role":"user","content":"Count the stars. Never guess."}"#;
//! # let request = format!(r#"{{"model":"m","messages":[{task},{}]}}"#, nights.join(","));
//! let body = Body::scan(request.into(), Wire::OpenAiChat)?;              // what a client would send: {"messages": [...]}
//! let mut session = Session::new(Window::configured(20_000), Meter::Estimate);
//! for index in 0..body.len() {
//!     session.push(decode(body.wire(), &body.read(index)?)?.message);    // counted once
//! }
//! if let Decision::Compact(reason) = session.decide() {                  // O(1), no I/O
//!     let job = session.begin(reason)?;                                  // owns a frozen span; run it anywhere
//!     session.commit(job.extract()?)?;                                   // refused cleanly if superseded
//! }
//! let summary = session.compaction().map_or("", |made| made.summary.text.as_str());
//! let smaller = body.render(&session.view(), summary)?.into_bytes();     // the same request: original bytes around the summary
//! # assert!(smaller.len() < 80_000 && smaller.starts_with(br#"{"model":"m","messages":[{"role":"user","content":"Count the stars."#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The whole life of a conversation is one value, [`Session`]. What it is made of can be had alone:
//!
//! | question | names |
//! |---|---|
//! | what was said, and how big it is | [`Message`], [`Block`], [`Role`]; [`Meter`]; of a whole conversation [`Log`], made of [`Facts`] |
//! | how full it is | [`Gauge`], [`Reading`], from what is believed of a model: [`Belief`]; [`Window`], [`Lines`] |
//! | what is to be done now | [`Course`], [`Decision`], [`Move`]; [`Reason`] says why |
//! | what goes, and what stands for it | [`Plan`]; [`Compaction`], [`Job`]; [`Source`], the built-in summariser |
//! | what the model gets | [`View`], [`ViewItem`]; of long or old tool results [`Trim`], [`Frozen`] |
//! | what the user said that holds | [`Pin`], [`find_pins`]; who wrote what: [`provenance`] |
//! | whether a summary is true | [`verify`] |
//! | which design, and how it is told otherwise | [`Design`], [`Preset`], [`PresetName`]; [`settings`] |
//! | what happened | [`Event`], [`Record`], [`Change`] |
#![warn(missing_docs)]

mod anchor;
mod compaction;
mod course;
mod design;
mod digest;
mod dress;
mod event;
mod extract;
mod fast_hash;
mod files;
mod gauge;
mod guard;
mod hashed;
mod haystack;
mod heartbeat;
mod ledger;
mod letters;
mod lines;
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
    Asked, Belief, CALIBRATED_ERROR_RATIO, CachePrices, Calibration, Count, CountedSize, Evidence,
    Gauge, Learned, Lesson, OutputCounting, Rate, Reading, RefusedSize, Swap, Target, TurnGrowth,
    TurnKind, UNCALIBRATED_ERROR_RATIO, UsageFinding, Waited, is_surely_cold,
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
    Layout, NoPlan, Plan, Room, SUMMARY_FLOOR_TOKENS, TaskPlace, first_answer, leading_system,
    notes_within,
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
pub use view::{Tail, View, ViewItem, merged};
pub use warning::WarningCycle;
pub use window::{ASSUMED_WINDOW_TOKENS, Lines, Margins, Window, WindowSource};
