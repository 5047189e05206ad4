//! A file line by line, with one reused buffer.

use std::io::{BufRead, Seek, SeekFrom};

use epitome_wire::json::{self, JsonError, Kind, Value};

use crate::error::ReadError;
use crate::event::Event;
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

/// The longest line that is read: pictures make long lines, nothing sensible makes longer ones.
pub(crate) const LONGEST_BYTES: usize = 64 << 20;
/// A buffer that grew beyond this is given back.
const ROOMY_BYTES: usize = 8 << 20;

/// Back to the first byte.
pub(crate) fn rewind<R: Seek>(source: &mut R) -> Result<(), ReadError> {
    source
        .seek(SeekFrom::Start(0))
        .map(|_| ())
        .map_err(|source| ReadError::Io {
            position: Position::default(),
            source,
        })
}

/// Reads lines.
pub(crate) struct Lines<'r, R> {
    source: &'r mut R,
    buffer: Vec<u8>,
    byte: u64,
    line: u64,
}

/// One line without its end.
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) position: Position,
    /// Whether it has an end; only the last line may have none.
    pub(crate) is_ended: bool,
}

impl<'r, R: BufRead> Lines<'r, R> {
    pub(crate) const fn new(source: &'r mut R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            byte: 0,
            line: 0,
        }
    }

    /// The next line that is not blank.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        loop {
            let position = Position {
                byte: self.byte,
                line: Some(self.line + 1),
            };
            let Some(is_ended) = self.fill(position)? else {
                return Ok(None);
            };
            self.line += 1;
            if !self.buffer.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(Line {
                    bytes: without_mark(&self.buffer, position),
                    position,
                    is_ended,
                }));
            }
        }
    }

    /// Puts the next line into the buffer; `None` at the end of the file.
    fn fill(&mut self, position: Position) -> Result<Option<bool>, ReadError> {
        self.buffer.clear();
        if self.buffer.capacity() > ROOMY_BYTES {
            self.buffer.shrink_to(ROOMY_BYTES);
        }
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(ReadError::Io { position, source }),
            };
            if chunk.is_empty() {
                return Ok((!self.buffer.is_empty()).then_some(false));
            }
            let end = memchr::memchr(b'\n', chunk);
            let taken = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.buffer.len() + taken.len() > LONGEST_BYTES {
                return Err(ReadError::TooLong {
                    position,
                    limit: LONGEST_BYTES,
                });
            }
            self.buffer.extend_from_slice(taken);
            let used = taken.len() + usize::from(end.is_some());
            self.source.consume(used);
            self.byte += used as u64;
            if end.is_some() {
                return Ok(Some(true));
            }
        }
    }
}

/// The line without a byte order mark, which some editors put in front of a file.
fn without_mark(line: &[u8], position: Position) -> &[u8] {
    match line.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) if position.byte == 0 => rest,
        _ => line,
    }
}

/// An entry: one line that is a JSON object.
pub(crate) struct Entry<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) bytes: &'a [u8],
    /// Its number among the entries, from 0.
    pub(crate) number: usize,
    pub(crate) position: Position,
}

impl Entry<'_> {
    /// Whether we wrote the entry ourselves, with every blank as it was said.
    pub(crate) fn is_exact(&self) -> bool {
        self.own("exact")
    }

    /// Whether a flag is set in the member that holds what the format itself has no place for.
    pub(crate) fn own(&self, name: &str) -> bool {
        let own = self.value.get(OWN).and_then(|own| own.get(name));
        own.is_some_and(|flag| flag.kind == Kind::Bool(true))
    }
}

/// The member of an entry that holds what the format itself has no place for.
pub(crate) const OWN: &str = "epitome";

/// Reads every line as an object and hands it to `each`; what is none is reported.
pub(crate) fn entries<R: BufRead>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
    mut each: impl FnMut(&Entry<'_>, &mut dyn FnMut(Event)),
) -> Result<(), ReadError> {
    for_each(source, json::read, |entry| match entry {
        Ok(entry) => each(&entry, emit),
        Err(problem) => emit(Event::Problem(problem)),
    })
}

/// The entries that [`entries`] finds, with their own members and nothing inside these. What is wrong is not said: that is for who
/// reads them whole.
pub(crate) fn outlines<R: BufRead>(
    source: &mut R,
    mut each: impl FnMut(&Entry<'_>),
) -> Result<(), ReadError> {
    for_each(source, json::read_outline, |entry| {
        if let Ok(entry) = entry {
            each(&entry);
        }
    })
}

fn for_each<R: BufRead>(
    source: &mut R,
    read: impl for<'a> Fn(&'a [u8]) -> Result<Value<'a>, JsonError>,
    mut each: impl FnMut(Result<Entry<'_>, Problem>),
) -> Result<(), ReadError> {
    let mut lines = Lines::new(source);
    let mut number = 0;
    while let Some(line) = lines.next_line()? {
        let entry = entry(&line, number, read(line.bytes));
        number += usize::from(entry.is_ok());
        each(entry);
    }
    Ok(())
}

fn entry<'a>(
    line: &Line<'a>,
    number: usize,
    value: Result<Value<'a>, JsonError>,
) -> Result<Entry<'a>, Problem> {
    let position = line.position;
    match value {
        Ok(value) if matches!(value.kind, Kind::Object(_)) => Ok(Entry {
            value,
            bytes: line.bytes,
            number,
            position,
        }),
        Ok(_) => Err(Problem::new(
            ProblemCode::UnreadableEntry,
            position,
            "the line is JSON but no object",
        )),
        Err(_) if !line.is_ended => Err(Problem::new(
            ProblemCode::TornLastLine,
            position,
            "the last line ends in the middle of an entry; it is left out",
        )),
        Err(error) => Err(Problem::new(
            ProblemCode::NotJson,
            position,
            format!("the line is not JSON: {error}"),
        )),
    }
}
