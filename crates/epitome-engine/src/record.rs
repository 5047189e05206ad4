//! What a store keeps of a compaction and of a change beside their columns: written here, and read here by whoever reads it.
//!
//! - conversations of an engine: [`SessionRecord`]; those that pass a proxy: [`ChainRecord`], over the links of a chain
//! - what a proxy's compaction was made for: [`MadeFor`]
//! - the bodies of changes: [`ChangePlace`], [`ForkPlace`]
//!
//! Records outlive versions. A member that comes is optional and one that goes is still understood, so that both the next
//! and the last version read what this one writes.

mod chain;
mod change;
mod made_for;
mod report;
mod session;
mod step;

use epitome::Swap;
use epitome_store::CompactionRow;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use chain::{ChainRecord, FrozenItem, FrozenView, LinkTrims, Speaker, StoredTrim};
pub use change::{ChangePlace, ForkPlace};
pub use made_for::MadeFor;
pub use report::{StoredCounts, StoredReport};
pub use session::SessionRecord;
pub use step::StepRecord;

/// What a store keeps of a compaction beside its columns, whoever wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Of a conversation of an engine.
    Session(Box<SessionRecord>),
    /// Of a conversation that passes a proxy.
    Chain(Box<ChainRecord>),
    /// Of a host that writes to the store by itself: an object of its own.
    Other(OtherRecord),
}

/// The record of a host that writes to the store by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherRecord {
    /// The line that no request crosses, where it is told.
    #[serde(
        default,
        alias = "hard_line_tokens",
        alias = "window_tokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub hard_tokens: Option<u64>,
    /// Everything else.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

/// What tells the forms apart.
#[derive(Deserialize)]
struct Form {
    compaction: Option<IgnoredAny>,
    covered_links: Option<IgnoredAny>,
}

/// Why something that is stored cannot be read, or cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A record is damaged, or of a form that only a later version knows.
    #[error(
        "the record of {} cannot be read: {source}; it is damaged, or a later version of epitome wrote it: use that version",
        named(compaction.as_deref())
    )]
    Unreadable {
        /// The compaction, where it is known.
        compaction: Option<String>,
        /// What is wrong, and where in the record.
        source: serde_json::Error,
    },
    /// The body of a change is damaged, or of a form that only a later version knows.
    #[error(
        "change {change} of conversation {conversation} cannot be read: {source}; it is damaged, or a later version of \
         epitome wrote it: use that version"
    )]
    UnreadableChange {
        /// The conversation.
        conversation: String,
        /// The number of the change, from 0.
        change: u32,
        /// What is wrong, and where in the body.
        source: serde_json::Error,
    },
    /// Something has no JSON form, so that nothing was stored.
    #[error(
        "what is to be stored cannot be written as JSON: {0}; nothing was stored, please report it"
    )]
    Unwritable(#[source] serde_json::Error),
}

fn named(compaction: Option<&str>) -> String {
    compaction.map_or_else(
        || String::from("a compaction"),
        |id| format!("compaction {id}"),
    )
}

impl Record {
    /// Reads what is stored.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`]; [`Record::of`] says of which compaction.
    pub fn read(text: &str) -> Result<Self, RecordError> {
        let form: Form = parse(text)?;
        Ok(if form.compaction.is_some() {
            Self::Session(parse(text)?)
        } else if form.covered_links.is_some() {
            Self::Chain(parse(text)?)
        } else {
            Self::Other(parse(text)?)
        })
    }

    /// Reads the record of a stored compaction.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`], with the name of the compaction.
    pub fn of(row: &CompactionRow) -> Result<Self, RecordError> {
        Self::read(&row.record).map_err(|error| error.of_compaction(&row.id))
    }

    /// What is stored for it.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; then nothing may be stored.
    pub fn write(&self) -> Result<String, RecordError> {
        match self {
            Self::Session(record) => record.write(),
            Self::Chain(record) => record.write(),
            Self::Other(record) => write(record),
        }
    }

    /// The pins that it carries with this summary, word for word.
    #[must_use]
    pub fn pins(&self, summary: &str) -> Vec<String> {
        match self {
            Self::Session(record) => {
                let pins = record.compaction.pins.iter();
                pins.map(|pin| pin.text.clone()).collect()
            }
            Self::Chain(record) => record.pins(summary),
            Self::Other(_) => chain::pins_of(summary),
        }
    }

    /// Whether, with this summary, it is as it should be where the user dropped these pins and no others.
    #[must_use]
    pub fn heeds(&self, summary: &str, dropped: &[String]) -> bool {
        match self {
            Self::Session(record) => record.compaction.heeds(dropped),
            Self::Chain(record) => record.heeds(summary, dropped),
            Self::Other(_) => !self.pins(summary).iter().any(|pin| dropped.contains(pin)),
        }
    }

    /// The rungs that were tried, the one that held at the end. Empty where the built-in summariser wrote at once.
    #[must_use]
    pub fn steps(&self) -> &[StepRecord] {
        match self {
            Self::Session(record) => &record.steps,
            Self::Chain(record) => &record.steps,
            Self::Other(_) => &[],
        }
    }

    /// The rung whose summary it is, by its name; `None` where that is not told.
    #[must_use]
    pub fn written_by(&self) -> Option<&str> {
        let built_in = crate::summarise::LadderRung::BuiltIn.as_str();
        match self {
            Self::Other(_) => None,
            Self::Session(_) | Self::Chain(_) => {
                let held = self.steps().iter().rfind(|step| step.failed.is_none());
                Some(held.map_or(built_in, |step| step.rung.as_str()))
            }
        }
    }

    /// The line that no request crossed when it was made, where that is told: above it the conversation does not fit.
    #[must_use]
    pub fn hard_tokens(&self) -> Option<u64> {
        match self {
            Self::Session(record) => record.hard_tokens,
            Self::Chain(_) => None,
            Self::Other(record) => record.hard_tokens,
        }
    }

    /// What models were paid for it, in billionths of a dollar, where that is told.
    #[must_use]
    pub fn spent_nanodollars(&self) -> u64 {
        match self {
            Self::Session(record) => record.spent_nanodollars,
            Self::Chain(record) => record.spent_nanodollars,
            Self::Other(_) => 0,
        }
    }

    /// The sum by which it was shown before it had to be, where that was so.
    #[must_use]
    pub fn swap(&self) -> Option<Swap> {
        match self {
            Self::Session(record) => record.swap,
            Self::Chain(record) => record.swap,
            Self::Other(_) => None,
        }
    }

    /// What verification found, where that was kept.
    #[must_use]
    pub fn report(&self) -> Option<StoredReport> {
        match self {
            Self::Session(record) => {
                let report = record.compaction.report.as_deref();
                report.map(StoredReport::of)
            }
            Self::Chain(record) => record.report.clone(),
            Self::Other(_) => None,
        }
    }
}

/// A record as it is stored, member by member, for whoever prints it.
///
/// # Errors
/// [`RecordError::Unreadable`] where it is no JSON.
pub fn as_stored(row: &CompactionRow) -> Result<Value, RecordError> {
    parse(&row.record).map_err(|error| error.of_compaction(&row.id))
}

impl RecordError {
    fn of_compaction(self, id: &str) -> Self {
        match self {
            Self::Unreadable { source, .. } => Self::Unreadable {
                compaction: Some(id.to_owned()),
                source,
            },
            other => other,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
const fn is_nothing(nanodollars: &u64) -> bool {
    *nanodollars == 0
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|source| RecordError::Unreadable {
        compaction: None,
        source,
    })
}

fn write(record: &impl Serialize) -> Result<String, RecordError> {
    serde_json::to_string(record).map_err(RecordError::Unwritable)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
