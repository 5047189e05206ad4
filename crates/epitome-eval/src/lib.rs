//! How much of a conversation survives its compaction, measured without a model.
//!
//! - what was recorded: [`Session`]; prepared for measuring: [`History`]
//! - what is looked for: [`Ident`], found by [`Scan`]; what the agent needed later: [`Needs`]
//! - one cut and what a context keeps across it: [`Cut`], [`Kept`]
//! - ways to compact: [`Method`]
//!
//! Everything is a pure function of its input: the measures read no file and no clock, and what looks random is
//! drawn from a seed ([`Mersenne`]).
#![warn(missing_docs)]

mod arguments;
mod baseline;
mod builtin;
mod chat;
mod context;
mod cut;
mod exam;
mod gates;
mod history;
mod ident;
mod lines;
mod mersenne;
mod method;
mod need;
mod planted;
mod prepared;
mod questions;
mod recall;
mod run;
mod scan;
mod search;
mod session;
mod table;
mod text;
mod validity;
mod words;

pub use arguments::flat as flat_arguments;
pub use chat::{Chat, NoChat, Question};
pub use context::{Context, Surroundings, found_by_search};
pub use cut::{Cut, Kept, LEAST_NEEDS, Recall, Share};
pub use exam::{AbilityLine, Exam, ExamTable, KeptAnswers, SearchLine};
pub use gates::Gates;
pub use history::History;
pub use ident::{Ident, Kind};
pub use mersenne::Mersenne;
pub use method::{Method, UnknownMethod};
pub use need::{Corpus, Needs, artifacts, rare_needs};
pub use planted::{Plant, Planted, PlantedLine, PlantedTable};
pub use prepared::message;
pub use questions::{Archive, Windows};
pub use recall::{Hits, Passages, Search, ranked};
pub use run::{Place, Row, Settings, WRITTEN_SUMMARY, measure_session};
pub use scan::{Scan, idents};
pub use search::Index;
pub use session::{Entry, NoSession, RealCompaction, Session, Speaker, ToolCall};
pub use table::{Table, TableLine};
pub use text::{on_one_line, tokens};
pub use validity::{Problem, Rule, problems};
pub use words::{content_words, rare_tokens, terms};
