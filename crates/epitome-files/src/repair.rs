//! Repairing a session file: lines that cannot be read go, everything else stays byte for byte; only where that is not
//! enough is the file written anew.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Cursor;

use epitome::{Block, Message, ResultPart, Role, ToolResult};

use crate::counts::Counts;
use crate::error::ReadError;
use crate::event::{Event, Kept, Origin};
use crate::format::FileFormat;
use crate::problem::{Problem, ProblemCode, Problems};
use crate::read::read_file;
use crate::transcript::{Conversation, Transcript};
use crate::write::{Loss, Stamp, Unwritable, write_file};

/// What stands for a result that nobody recorded.
pub const NO_RESULT: &str = "No result was recorded for this call.";

/// A repaired session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFile {
    /// The file; the input byte for byte where nothing had to be done.
    pub bytes: Vec<u8>,
    /// What was repaired.
    pub done: Problems,
    /// What the file had besides its messages and compactions and was left out, because it was written anew: entries of
    /// each kind.
    pub left_out: Vec<(String, u64)>,
    /// What of the messages could not be carried.
    pub losses: Vec<Loss>,
}

/// Why a session file cannot be repaired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its format is only read.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// It holds several conversations, and no format that is written does.
    #[error("holds {0} conversations; convert them one by one")]
    Several(usize),
}

/// Repairs a session file. Entries of unknown kinds are no damage: they stay.
///
/// # Errors
/// [`RepairError`] when the file cannot be read, or would have to be written in a format that is only read.
///
/// ```
/// use epitome_files::{FileFormat, Stamp, repaired};
///
/// let whole = concat!(
///     r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/"}"#, "\n",
///     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
/// );
/// let torn = format!("{whole}{}", r#"{"type":"message","id":"b","par"#);
/// let stamp = Stamp { session_id: "s", folder: "/", time_ms: 0 };
/// let repaired = repaired(torn.as_bytes(), FileFormat::Pi, stamp).unwrap();
/// assert_eq!(repaired.bytes, whole.as_bytes());
/// ```
pub fn repaired(
    bytes: &[u8],
    format: FileFormat,
    stamp: Stamp<'_>,
) -> Result<RepairedFile, RepairError> {
    let problems = damage(bytes, format)?;
    let mut file = RepairedFile {
        bytes: bytes.to_vec(),
        done: Problems::default(),
        left_out: Vec::new(),
        losses: Vec::new(),
    };
    if problems.is_empty() {
        return Ok(file);
    }
    file.bytes = without_lines(bytes, &problems);
    problems
        .into_iter()
        .for_each(|problem| file.done.add(problem));
    let rest = damage(&file.bytes, format)?;
    if rest.is_empty() {
        return Ok(file);
    }
    let transcript = Transcript::collect(&mut Cursor::new(&file.bytes), format)?;
    let [conversation] = transcript.conversations.as_slice() else {
        return Err(RepairError::Several(transcript.conversations.len()));
    };
    let session_id = conversation.id.as_deref().unwrap_or(stamp.session_id);
    let written = write_file(
        &paired(conversation),
        format,
        Stamp {
            session_id,
            ..stamp
        },
    )?;
    file.left_out = asides(&file.bytes, format)?;
    file.bytes = written.bytes;
    file.losses = written.losses;
    Ok(file)
}

/// Every problem that a repair has to deal with.
fn damage(bytes: &[u8], format: FileFormat) -> Result<Vec<Problem>, ReadError> {
    let counts = counted(bytes, format)?;
    let is_damage = |problem: &Problem| problem.code != ProblemCode::UnknownEntry;
    Ok(counts.problems.kept.into_iter().filter(is_damage).collect())
}

fn counted(bytes: &[u8], format: FileFormat) -> Result<Counts, ReadError> {
    let mut counts = Counts::default();
    read_file(&mut Cursor::new(bytes), format, &mut |event: Event| {
        counts.add(&event);
    })?;
    Ok(counts.finish())
}

fn asides(bytes: &[u8], format: FileFormat) -> Result<Vec<(String, u64)>, ReadError> {
    let counts = counted(bytes, format)?;
    Ok(counts.asides.into_iter().chain(counts.unshown).collect())
}

/// The file without the lines that cannot be read.
fn without_lines(bytes: &[u8], problems: &[Problem]) -> Vec<u8> {
    let unreadable: HashSet<u64> = problems
        .iter()
        .filter(|problem| {
            matches!(
                problem.code,
                ProblemCode::TornLastLine | ProblemCode::NotJson | ProblemCode::UnreadableEntry
            ) && problem.position.line.is_some()
        })
        .map(|problem| problem.position.byte)
        .collect();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !unreadable.contains(&at) {
            out.extend_from_slice(line);
        }
        at += line.len() as u64;
    }
    out
}

/// The conversation with every call answered once, every result behind a call, and no id used twice.
fn paired(conversation: &Conversation) -> Conversation {
    let pairs = Pairs::of(&conversation.messages);
    let mut out = Conversation {
        id: conversation.id.clone(),
        ..Conversation::default()
    };
    // Where each message of the input stands in the output.
    let mut places = Vec::with_capacity(conversation.messages.len() + 1);
    for (at, message) in conversation.messages.iter().enumerate() {
        places.push(out.messages.len());
        let mut kept = message.clone();
        let mut missing = Vec::new();
        let mut block_at = 0;
        kept.blocks.retain_mut(|block| {
            let place = (at, block_at);
            block_at += 1;
            match block {
                Block::Call(call) => {
                    if let Some(id) = pairs.id(place) {
                        call.id = id;
                    }
                    if !pairs.answered.contains(&place) {
                        missing.push(call.id.clone());
                    }
                    true
                }
                Block::Result(result) => match pairs.id(place) {
                    Some(id) => {
                        result.call_id = id;
                        true
                    }
                    None => false,
                },
                _ => true,
            }
        });
        if !kept.blocks.is_empty() || message.blocks.is_empty() {
            push(&mut out, kept);
        }
        for id in missing {
            push(&mut out, unanswered(id));
        }
    }
    let end = out.messages.len();
    let place = |at: usize| places.get(at).copied().unwrap_or(end);
    out.compactions.clone_from(&conversation.compactions);
    for recorded in &mut out.compactions {
        recorded.at = place(recorded.at);
        if let Kept::From(first) = &mut recorded.kept {
            *first = place(*first);
        }
    }
    out
}

/// Which call each result answers. A place is a message and a block in it.
#[derive(Default)]
struct Pairs {
    /// The id of each call, and of each result that answers one.
    ids: HashMap<(usize, usize), Box<str>>,
    answered: HashSet<(usize, usize)>,
}

impl Pairs {
    /// Results answer the calls of their id in order.
    fn of(messages: &[Message]) -> Self {
        let mut pairs = Self::default();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        let mut open: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            for (block_at, block) in message.blocks.iter().enumerate() {
                let place = (at, block_at);
                match block {
                    Block::Call(call) => {
                        let uses = uses.entry(&call.id).or_default();
                        *uses += 1;
                        let id = match *uses {
                            1 => call.id.clone(),
                            again => format!("{}-{again}", call.id).into(),
                        };
                        pairs.ids.insert(place, id);
                        open.entry(&call.id).or_default().push_back(place);
                    }
                    Block::Result(result) => {
                        let call = open.get_mut(&*result.call_id).and_then(VecDeque::pop_front);
                        if let Some(call) = call {
                            pairs.answered.insert(call);
                            let id = pairs.ids.get(&call).cloned().unwrap_or_default();
                            pairs.ids.insert(place, id);
                        }
                    }
                    _ => {}
                }
            }
        }
        pairs
    }

    fn id(&self, place: (usize, usize)) -> Option<Box<str>> {
        self.ids.get(&place).cloned()
    }
}

fn push(conversation: &mut Conversation, message: Message) {
    conversation.messages.push(message);
    conversation.origins.push(Origin::default());
}

fn unanswered(call_id: Box<str>) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id,
            parts: vec![ResultPart::Text(NO_RESULT.to_owned())],
            is_error: true,
        })],
    }
}
