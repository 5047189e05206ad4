//! Summaries that a model writes, and what happens when it does not.
//!
//! - what it is told: [`Templates`], one [`Style`] for each design; what it is shown: `transcript`
//! - a history that is too long for one request: `staged`; what was finished before a failure: `parts`
//! - what counts as a summary: `answer`; which of them stands in the end: [`Ladder`], told in [`Written`]
//! - what should outlive the conversation: [`Memory`]

mod answer;
mod ladder;
mod memory;
mod parts;
mod staged;
mod style;
mod templates;
mod transcript;
mod writer;

pub use ladder::{Ladder, LadderRung, TriedRung, Wish, Written};
pub use memory::{Memory, MemoryKind, extracted as extracted_memories};
pub use parts::Parts;
pub use style::{Style, SummaryForm};
pub use templates::{TemplateError, Templates};
pub use transcript::{Previews, Results, transcript};
pub use writer::{Draft, ModelWriter, Task, Writer, WriterError, Writing};
