//! Counting what a file says without keeping it.

use std::collections::{BTreeMap, HashMap};

use epitome::{Block, Message, Role};

use crate::event::{Event, Origin};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode, Problems};

/// The numbers of a file, folded over its events.
///
/// ```
/// use std::io::Cursor;
/// use epitome_files::{Counts, FileFormat, read_file};
///
/// let file = "# aider chat started at 2026-01-02 03:04:05\n\n#### rename the module\n\nDone.\n";
/// let mut counts = Counts::default();
/// read_file(&mut Cursor::new(file), FileFormat::Aider, &mut |event| counts.add(&event)).unwrap();
/// let counts = counts.finish();
/// assert_eq!((counts.conversations, counts.messages), (1, 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Conversations.
    pub conversations: u64,
    /// Messages.
    pub messages: u64,
    /// Messages of each role.
    pub by_role: BTreeMap<&'static str, u64>,
    /// Calls with different ids, conversation by conversation.
    pub calls: u64,
    /// Tool results.
    pub results: u64,
    /// Calls that no result answers.
    pub unanswered: u64,
    /// Results that answer no call before them.
    pub orphans: u64,
    /// Compactions that the file records.
    pub compactions: u64,
    /// Entries that say nothing to the model, by kind.
    pub asides: BTreeMap<String, u64>,
    /// What the model saw and is no message here, by kind.
    pub unshown: BTreeMap<String, u64>,
    /// What is wrong with the file, the pairing of calls and results included.
    pub problems: Problems,
    open: HashMap<u64, Call>,
    place: Position,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    position: Position,
    is_answered: bool,
}

impl Counts {
    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Conversation => {
                self.close();
                self.conversations += 1;
            }
            Event::Id(_)
            | Event::Folder(_)
            | Event::Provider(_)
            | Event::Model(_)
            | Event::Usage(_)
            | Event::Tip(_) => {}
            Event::Message { message, origin } => self.message(message, origin),
            Event::More { blocks, .. } => self.blocks(blocks),
            Event::Compaction(_) => self.compactions += 1,
            Event::Aside { kind } => add(&mut self.asides, kind),
            Event::Unshown { kind } => add(&mut self.unshown, kind),
            Event::Problem(problem) => self.problems.add(problem.clone()),
        }
    }

    /// The counts of the whole file: calls that are still open are unanswered.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.close();
        self
    }

    fn message(&mut self, message: &Message, origin: &Origin) {
        self.messages += 1;
        *self.by_role.entry(message.role.as_str()).or_default() += 1;
        self.place = origin.position;
        self.blocks(&message.blocks);
        if message.role == Role::Tool && message.results().next().is_none() {
            self.results += 1;
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Call(call) => self.call(&call.id),
                Block::Result(result) => self.result(&result.call_id),
                _ => {}
            }
        }
    }

    fn call(&mut self, id: &str) {
        let call = Call {
            position: self.place,
            is_answered: false,
        };
        if self.open.insert(fingerprint(id), call).is_none() {
            self.calls += 1;
        } else {
            let message = format!("another call has the id {id}");
            self.problems.add(Problem::new(
                ProblemCode::RepeatedCallId,
                self.place,
                message,
            ));
        }
    }

    fn result(&mut self, id: &str) {
        self.results += 1;
        match self.open.get_mut(&fingerprint(id)) {
            Some(call) if call.is_answered => {
                let message = format!("the call {id} has a result already");
                self.problems.add(Problem::new(
                    ProblemCode::RepeatedResult,
                    self.place,
                    message,
                ));
            }
            Some(call) => call.is_answered = true,
            None => {
                self.orphans += 1;
                let message = format!("no call before this result has the id {id}");
                self.problems
                    .add(Problem::new(ProblemCode::OrphanResult, self.place, message));
            }
        }
    }

    /// Ends a conversation.
    fn close(&mut self) {
        let mut open: Vec<Position> = self
            .open
            .drain()
            .filter(|(_, call)| !call.is_answered)
            .map(|(_, call)| call.position)
            .collect();
        open.sort_unstable();
        self.unanswered += open.len() as u64;
        for position in open {
            self.problems.add(Problem::new(
                ProblemCode::UnansweredCall,
                position,
                "a call has no result",
            ));
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, kind: &str) {
    match counts.get_mut(kind) {
        Some(count) => *count += 1,
        None => {
            counts.insert(kind.to_owned(), 1);
        }
    }
}

/// A short stand-in for an id, so that a million of them take little memory.
pub(crate) fn fingerprint(id: &str) -> u64 {
    let hash = blake3::hash(id.as_bytes());
    let (first, _) = hash
        .as_bytes()
        .split_first_chunk::<8>()
        .unwrap_or((&[0; 8], &[]));
    u64::from_le_bytes(*first)
}
