//! Splices: original slices around inserted text, and nothing else.

use std::ops::Range;

use bytes::Bytes;

use crate::body::{Body, Separator};

/// A body made of slices of an original and of inserted bytes, in order.
#[derive(Clone, Debug)]
pub struct Splice {
    source: Bytes,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Original(Range<usize>),
    Inserted(Vec<u8>),
}

/// What stands in the list of messages after a splice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Messages as they were sent, by index.
    Kept(Range<usize>),
    /// One message with some of its bytes replaced.
    Edited(usize, Vec<Edit>),
    /// A message that was not there, as JSON.
    Inserted(Vec<u8>),
}

/// Bytes of the original that are replaced. Borders must lie between values or between the characters of a
/// string; what is put in must keep the JSON whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which bytes of the body.
    pub range: Range<usize>,
    /// What stands there instead.
    pub with: Vec<u8>,
}

impl Splice {
    /// Whether the result is the original, byte for byte.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        match self.pieces.as_slice() {
            [] => self.source.is_empty(),
            [Piece::Original(range)] => *range == (0..self.source.len()),
            _ => false,
        }
    }

    /// The length of the result.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Original(range) => range.len(),
                Piece::Inserted(bytes) => bytes.len(),
            })
            .sum()
    }

    /// Whether the result is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The result in one piece; the original itself, uncopied, when nothing changed.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if self.is_unchanged() {
            return self.source;
        }
        let mut out = Vec::with_capacity(self.len());
        for piece in &self.pieces {
            match piece {
                Piece::Original(range) => {
                    out.extend_from_slice(self.source.get(range.clone()).unwrap_or_default());
                }
                Piece::Inserted(bytes) => out.extend_from_slice(bytes),
            }
        }
        out.into()
    }

    fn original(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        if let Some(Piece::Original(last)) = self.pieces.last_mut()
            && last.end == range.start
        {
            last.end = range.end;
            return;
        }
        self.pieces.push(Piece::Original(range));
    }

    fn inserted(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(Piece::Inserted(last)) = self.pieces.last_mut() {
            last.extend_from_slice(bytes);
            return;
        }
        self.pieces.push(Piece::Inserted(bytes.to_vec()));
    }
}

impl Body {
    /// These bytes, unchanged, as a splice.
    #[must_use]
    pub fn unchanged(&self) -> Splice {
        let source = self.bytes().clone();
        let pieces = vec![Piece::Original(0..source.len())];
        Splice { source, pieces }
    }

    /// The body with `items` as its list of messages. Kept messages must come in their original order;
    /// every other byte of the body stays.
    #[must_use]
    pub fn splice(&self, items: &[Item]) -> Splice {
        let list = self.list();
        let inside_end = match self.separator() {
            Separator::Comma => list.end.saturating_sub(1),
            Separator::Line => list.end,
        };
        let start = |index: usize| self.messages().get(index).map_or(inside_end, |r| r.start);
        let end = |index: usize| self.messages().get(index).map_or(inside_end, |r| r.end);
        let mut splice = Splice {
            source: self.bytes().clone(),
            pieces: Vec::new(),
        };
        splice.original(0..start(0));
        let mut previous: Option<Option<usize>> = None;
        for item in items {
            let (first, last) = match item {
                Item::Kept(range) if range.is_empty() => continue,
                Item::Kept(range) => (Some(range.start), Some(range.end - 1)),
                Item::Edited(index, _) => (Some(*index), Some(*index)),
                Item::Inserted(_) => (None, None),
            };
            match (previous, first) {
                (None, _) => {}
                (Some(Some(before)), Some(first)) if before + 1 == first => {
                    splice.original(end(before)..start(first));
                }
                _ => splice.inserted(match self.separator() {
                    Separator::Comma => b",",
                    Separator::Line => b"\n",
                }),
            }
            match item {
                Item::Kept(range) => splice.original(start(range.start)..end(range.end - 1)),
                Item::Edited(index, edits) => {
                    let mut at = start(*index);
                    for edit in edits {
                        splice.original(at..edit.range.start);
                        splice.inserted(&edit.with);
                        at = edit.range.end;
                    }
                    splice.original(at..end(*index));
                }
                Item::Inserted(bytes) => splice.inserted(bytes),
            }
            previous = Some(last);
        }
        let tail = match self.messages().last() {
            Some(last) => last.end,
            None => inside_end,
        };
        splice.original(tail..self.bytes().len());
        splice
    }
}
