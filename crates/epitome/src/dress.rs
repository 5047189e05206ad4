//! The form a summary takes: what a design says of its texts, and one of them for a conversation.

use std::fmt;

use crate::message::Message;
use crate::meter::Meter;
use crate::summary::Parts;

/// How a design lays out the text of a summary, the same for every conversation.
#[derive(Clone, Copy)]
pub struct Form {
    /// Whether the last request of the user has a place of its own in it.
    pub says_last_request: bool,
    /// Whether the files that were read and the tools that failed are listed.
    pub lists_files: bool,
    /// Whether what the log knows stands beside a text of somebody else, where there is room: where the work stands, what
    /// became of files, rules, exact names and values.
    pub completes: bool,
    /// Sections that a text of somebody else must have, each under a heading `### name`; where there are any, they say
    /// all that the frame of a summary says elsewhere.
    pub required_sections: &'static [&'static str],
    /// Which round a message is, where it is an earlier summary of a design that counts them; zero where it is none.
    pub round_of: Option<fn(&Message) -> u32>,
    /// The text.
    pub text: fn(&Dress<'_>, &Parts) -> String,
    /// What the form takes beside its parts.
    pub overhead_tokens: fn(&Dress<'_>, Meter) -> u64,
}

/// The form of a summary for one conversation.
#[derive(Clone, Copy, Debug)]
pub struct Dress<'a> {
    /// How it is laid out.
    pub form: &'static Form,
    /// The last request of the user, where the form says it.
    pub last_request: Option<&'a Message>,
    /// Which summary of the conversation it is, from 1, where the form counts them.
    pub round: u32,
}

impl Form {
    /// The parts as they are.
    pub const PLAIN: Self = Self {
        says_last_request: false,
        lists_files: false,
        completes: false,
        required_sections: &[],
        round_of: None,
        text: |_, parts| parts.layout(),
        overhead_tokens: |_, _| 0,
    };
}

/// Functions have no names of their own.
impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form")
            .field("says_last_request", &self.says_last_request)
            .field("lists_files", &self.lists_files)
            .field("completes", &self.completes)
            .field("required_sections", &self.required_sections)
            .finish_non_exhaustive()
    }
}

impl Default for Dress<'_> {
    fn default() -> Self {
        Self {
            form: &Form::PLAIN,
            last_request: None,
            round: 1,
        }
    }
}

impl Dress<'_> {
    /// Whether the last request of the user has a place of its own in this form.
    #[must_use]
    pub const fn says_last_request(&self) -> bool {
        self.form.says_last_request
    }

    /// Whether the files that were read and the tools that failed are listed.
    #[must_use]
    pub const fn lists_files(&self) -> bool {
        self.form.lists_files
    }

    /// What the dress costs.
    #[must_use]
    pub fn overhead_tokens(&self, meter: Meter) -> u64 {
        (self.form.overhead_tokens)(self, meter)
    }

    /// The text of a summary in this dress.
    #[must_use]
    pub fn apply(&self, parts: &Parts) -> String {
        (self.form.text)(self, parts)
    }
}
