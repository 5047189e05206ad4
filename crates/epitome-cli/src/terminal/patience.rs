//! A word for whoever waits for a command that takes long.

use std::io::IsTerminal as _;

use super::say_progress;
use crate::clock::Beat;

/// Says what is being done once it has taken two seconds, and for how long, until it is dropped; at a terminal only.
pub(crate) struct Patience {
    /// Dropped, it ends and leaves its line free.
    _beat: Option<Beat>,
}

impl Patience {
    /// `doing` is what is being done: "reading session.jsonl".
    pub(crate) fn unless(is_quiet: bool, doing: impl Into<String>) -> Self {
        let doing = doing.into();
        let is_shown = !is_quiet && std::io::stderr().is_terminal();
        let beat = is_shown.then(|| {
            Beat::start(move |taken| match taken {
                Some(seconds) => say_progress(&format!("{doing} … {seconds} s")),
                None => say_progress(""),
            })
        });
        Self { _beat: beat }
    }
}
