//! A file that is one JSON document, item by item.
//!
//! The items of the lists that matter are read one at a time into one buffer; members that do not matter are
//! stepped over without being kept. So a document of any size takes as much memory as its largest item.

use std::io::BufRead;

use epitome_wire::json::{self, Value};
use memchr::memchr2;

use crate::error::ReadError;
use crate::event::Event;
use crate::lines::LONGEST_BYTES;
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

/// A part of a document.
pub(crate) enum Part<'a> {
    /// A member of the object that the document is.
    Member { name: &'a str, value: &'a [u8] },
    /// An item of a list: of the named member, or of the document itself (no name).
    Item { list: &'a str, value: &'a [u8] },
}

/// What of a document matters.
pub(crate) struct Wanted {
    /// Members that are lists and are read item by item.
    pub(crate) lists: &'static [&'static str],
    /// Members that are read as a whole.
    pub(crate) members: &'static [&'static str],
}

/// Goes through a document and reads each part. A document that breaks after something was read is a problem, not
/// an error; so is a part that is not JSON.
pub(crate) fn items_of<R: BufRead>(
    source: &mut R,
    wanted: &Wanted,
    emit: &mut dyn FnMut(Event),
    mut each: impl FnMut(&Part<'_>, &Value<'_>, Position, &mut dyn FnMut(Event)),
) -> Result<(), ReadError> {
    let mut has_items = false;
    let outcome = parts(source, wanted, |part, position| {
        let (Part::Member { value, .. } | Part::Item { value, .. }) = part;
        match json::read(value) {
            Ok(read) => {
                has_items |= matches!(part, Part::Item { .. });
                each(part, &read, position, emit);
            }
            Err(error) => emit(Event::Problem(Problem::new(
                ProblemCode::NotJson,
                position,
                format!("a part of the document is not JSON: {error}"),
            ))),
        }
    });
    match outcome {
        Err(ReadError::Broken { position, what }) if has_items => {
            emit(Event::Problem(Problem::new(
                ProblemCode::TornDocument,
                position,
                format!("the document breaks here: {what}; what comes after is left out"),
            )));
            Ok(())
        }
        other => other,
    }
}

/// Goes through a document.
fn parts<R: BufRead>(
    source: &mut R,
    wanted: &Wanted,
    mut each: impl FnMut(&Part<'_>, Position),
) -> Result<(), ReadError> {
    let mut cursor = Cursor::new(source);
    cursor.space()?;
    match cursor.peek()? {
        Some(b'[') => items(&mut cursor, "", &mut each)?,
        Some(b'{') => members(&mut cursor, wanted, &mut each)?,
        _ => return Err(cursor.broken("no object and no list")),
    }
    cursor.space()?;
    match cursor.peek()? {
        None => Ok(()),
        Some(_) => Err(cursor.broken("more text after the document")),
    }
}

fn members<R: BufRead>(
    cursor: &mut Cursor<'_, R>,
    wanted: &Wanted,
    each: &mut impl FnMut(&Part<'_>, Position),
) -> Result<(), ReadError> {
    cursor.expect(b'{', "no object")?;
    cursor.space()?;
    if cursor.take(b'}')? {
        return Ok(());
    }
    loop {
        cursor.space()?;
        let name = cursor.name()?;
        cursor.space()?;
        cursor.expect(b':', "no colon after a member name")?;
        cursor.space()?;
        if wanted.lists.contains(&name.as_str()) && cursor.peek()? == Some(b'[') {
            items(cursor, &name, each)?;
        } else if wanted.members.contains(&name.as_str()) {
            let position = cursor.value(Keep::Yes)?;
            let value = &cursor.buffer;
            each(&Part::Member { name: &name, value }, position);
        } else {
            cursor.value(Keep::No)?;
        }
        cursor.space()?;
        if cursor.take(b'}')? {
            return Ok(());
        }
        cursor.expect(b',', "an object that does not end")?;
    }
}

fn items<R: BufRead>(
    cursor: &mut Cursor<'_, R>,
    list: &str,
    each: &mut impl FnMut(&Part<'_>, Position),
) -> Result<(), ReadError> {
    cursor.expect(b'[', "no list")?;
    cursor.space()?;
    if cursor.take(b']')? {
        return Ok(());
    }
    loop {
        cursor.space()?;
        let position = cursor.value(Keep::Yes)?;
        let value = &cursor.buffer;
        each(&Part::Item { list, value }, position);
        cursor.space()?;
        if cursor.take(b']')? {
            return Ok(());
        }
        cursor.expect(b',', "a list that does not end")?;
    }
}

/// The names of the first object of a document that may be cut off, and what its `type` says.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) names: Vec<String>,
    pub(crate) kind: Option<String>,
    /// Where the object ends, if it does.
    pub(crate) end: Option<usize>,
}

impl Outline {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|found| found == name)
    }
}

/// The outline of the object that `head` begins with.
pub(crate) fn outline(mut head: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut cursor = Cursor::new(&mut head);
    let whole = outline_members(&mut cursor, &mut outline);
    if whole.is_ok() {
        outline.end = usize::try_from(cursor.byte).ok();
    }
    outline
}

fn outline_members(cursor: &mut Cursor<'_, &[u8]>, outline: &mut Outline) -> Result<(), ReadError> {
    cursor.space()?;
    cursor.expect(b'{', "no object")?;
    cursor.space()?;
    if cursor.take(b'}')? {
        return Ok(());
    }
    loop {
        cursor.space()?;
        let name = cursor.name()?;
        cursor.space()?;
        cursor.expect(b':', "no colon after a member name")?;
        cursor.space()?;
        let is_kind = name == "type";
        outline.names.push(name);
        cursor.value(if is_kind { Keep::Yes } else { Keep::No })?;
        if is_kind {
            let text = String::from_utf8_lossy(&cursor.buffer);
            outline.kind = Some(text.trim_matches('"').to_owned());
        }
        cursor.space()?;
        if cursor.take(b'}')? {
            return Ok(());
        }
        cursor.expect(b',', "an object that does not end")?;
    }
}

/// Whether a value is kept in the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Yes,
    No,
}

/// A place in a stream of bytes.
struct Cursor<'r, R> {
    source: &'r mut R,
    byte: u64,
    buffer: Vec<u8>,
}

impl<'r, R: BufRead> Cursor<'r, R> {
    const fn new(source: &'r mut R) -> Self {
        Self {
            source,
            byte: 0,
            buffer: Vec::new(),
        }
    }

    const fn position(&self) -> Position {
        Position {
            byte: self.byte,
            line: None,
        }
    }

    const fn broken(&self, what: &'static str) -> ReadError {
        ReadError::Broken {
            position: self.position(),
            what,
        }
    }

    fn chunk(&mut self) -> Result<&[u8], ReadError> {
        let position = self.position();
        // Asked twice because the first answer cannot be returned from inside a loop.
        while let Err(error) = self.source.fill_buf() {
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(ReadError::Io {
                    position,
                    source: error,
                });
            }
        }
        self.source
            .fill_buf()
            .map_err(|source| ReadError::Io { position, source })
    }

    fn consume(&mut self, count: usize) {
        self.source.consume(count);
        self.byte += count as u64;
    }

    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        Ok(self.chunk()?.first().copied())
    }

    fn space(&mut self) -> Result<(), ReadError> {
        loop {
            let chunk = self.chunk()?;
            let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
            let count = chunk.iter().take_while(is_space).count();
            let is_all = count == chunk.len();
            self.consume(count);
            if !is_all || count == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, byte: u8) -> Result<bool, ReadError> {
        let found = self.peek()? == Some(byte);
        self.consume(usize::from(found));
        Ok(found)
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), ReadError> {
        if self.take(byte)? {
            Ok(())
        } else {
            Err(self.broken(what))
        }
    }

    /// A member's name. Escapes stay as they are spelled: no name that matters has any.
    fn name(&mut self) -> Result<String, ReadError> {
        if self.peek()? != Some(b'"') {
            return Err(self.broken("no member name"));
        }
        self.value(Keep::Yes)?;
        let text = String::from_utf8_lossy(&self.buffer);
        Ok(text.trim_matches('"').to_owned())
    }

    /// Steps over a value and returns where it began. Only strings and brackets are followed.
    fn value(&mut self, keep: Keep) -> Result<Position, ReadError> {
        let position = self.position();
        self.buffer.clear();
        let mut state = State::default();
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return match state {
                    State {
                        depth: 0,
                        is_in_string: false,
                        has_begun: true,
                        ..
                    } => Ok(position),
                    _ => Err(self.broken("a value that does not end")),
                };
            }
            let Followed { used, is_done } = state.follow(chunk);
            if keep == Keep::Yes {
                if self.buffer.len() + used > LONGEST_BYTES {
                    return Err(ReadError::TooLong {
                        position,
                        limit: LONGEST_BYTES,
                    });
                }
                let taken = self.source.fill_buf().unwrap_or_default();
                self.buffer
                    .extend_from_slice(taken.get(..used).unwrap_or_default());
            }
            self.consume(used);
            if is_done {
                return if state.has_begun {
                    Ok(position)
                } else {
                    Err(self.broken("no value"))
                };
            }
        }
    }
}

/// How far a value has been followed.
#[derive(Default)]
struct State {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

enum Step {
    /// The byte belongs to the value.
    Inside,
    /// The byte is its last.
    Last,
    /// The byte stands behind it.
    Behind,
}

/// How much of a piece belongs to a value.
struct Followed {
    used: usize,
    /// Whether the value ends with it.
    is_done: bool,
}

impl State {
    /// Follows the value through the next piece of the document.
    fn follow(&mut self, chunk: &[u8]) -> Followed {
        let mut used = 0;
        while let Some(byte) = chunk.get(used) {
            if self.is_in_string && !self.is_escaped {
                // Most of a document is inside strings, and only two bytes matter there.
                let rest = chunk.get(used..).unwrap_or_default();
                let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if plain > 0 {
                    used += plain;
                    continue;
                }
            }
            match self.step(*byte) {
                Step::Inside => used += 1,
                Step::Last => {
                    return Followed {
                        used: used + 1,
                        is_done: true,
                    };
                }
                Step::Behind => {
                    return Followed {
                        used,
                        is_done: true,
                    };
                }
            }
        }
        Followed {
            used,
            is_done: false,
        }
    }

    const fn step(&mut self, byte: u8) -> Step {
        if self.is_in_string {
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else if byte == b'"' {
                self.is_in_string = false;
                if self.depth == 0 {
                    return Step::Last;
                }
            }
            return Step::Inside;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Step::Last;
                }
            }
            b',' | b':' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' if self.depth == 0 => {
                return Step::Behind;
            }
            _ => {}
        }
        self.has_begun = true;
        Step::Inside
    }
}
