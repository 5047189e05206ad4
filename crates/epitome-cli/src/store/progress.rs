//! How far a long command is, once it has taken two seconds.

use std::time::Duration;

use crate::clock::{PATIENCE, Stopwatch};
use crate::terminal::say_progress;

const PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Progress {
    running: Stopwatch,
    said: Option<Stopwatch>,
    is_quiet: bool,
}

impl Progress {
    pub(super) fn start(is_quiet: bool) -> Self {
        Self {
            running: Stopwatch::start(),
            said: None,
            is_quiet,
        }
    }

    /// Says it, if it is time to.
    pub(super) fn tell(&mut self, words: impl FnOnce() -> String) {
        let is_early = self.running.taken() < PATIENCE;
        let is_fresh = self.said.is_some_and(|said| said.taken() < PAUSE);
        if self.is_quiet || is_early || is_fresh {
            return;
        }
        say_progress(&words());
        self.said = Some(Stopwatch::start());
    }

    /// Leaves the line free for what comes.
    pub(super) fn end(self) {
        if self.said.is_some() {
            say_progress("");
        }
    }
}
