//! The members of a JSON text that say most of it: errors, totals, the outermost names.

use std::ops::Range;

use super::notable::{Found, names_failure, names_total};

/// The longest member that is kept whole.
const MEMBER_BYTES: usize = 200;

/// Finds them without converting anything. `None` where the text is not one JSON object or array: several in a row are
/// lines, and what is broken is text.
pub(super) fn members(text: &str) -> Option<Found> {
    let inside = text.trim();
    let is_json = matches!(
        (inside.bytes().next()?, inside.bytes().next_back()?),
        (b'{', b'}') | (b'[', b']')
    );
    if !is_json {
        return None;
    }
    let mut walk = Walk {
        text,
        at: text.len() - text.trim_start().len(),
        open: Vec::new(),
        name: None,
        found: Found::default(),
    };
    while walk.step()? == Progress::More {}
    let is_whole = text.get(walk.at..)?.trim().is_empty();
    is_whole.then_some(walk.found)
}

#[derive(PartialEq, Eq)]
enum Progress {
    More,
    Done,
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// The brackets around the place that was reached.
    open: Vec<u8>,
    /// The name whose value comes next.
    name: Option<Range<usize>>,
    found: Found,
}

impl Walk<'_> {
    /// Passes one token.
    fn step(&mut self) -> Option<Progress> {
        let start = self.at;
        let byte = *self.text.as_bytes().get(start)?;
        match byte {
            b'{' | b'[' => {
                self.at += 1;
                self.container();
                self.open.push(byte);
            }
            b'}' | b']' => {
                self.at += 1;
                self.name = None;
                self.open.pop()?;
                if self.open.is_empty() {
                    return Some(Progress::Done);
                }
            }
            b',' => {
                self.at += 1;
                self.name = None;
            }
            b'"' => {
                self.string()?;
                let is_name = self.name.is_none() && self.open.last() == Some(&b'{');
                if is_name {
                    self.name = Some(start..self.at);
                } else {
                    self.scalar(start);
                }
            }
            b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            _ => {
                let rest = self.text.as_bytes().get(start..)?;
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                self.at += rest.iter().position(is_end)?;
                self.scalar(start);
            }
        }
        Some(Progress::More)
    }

    fn string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            match bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// An object or array begins as the value of an outermost member: its name tells what is in there.
    fn container(&mut self) {
        if let Some(name) = self.name.take()
            && self.open.len() == 1
        {
            self.found.others.push(name.start..self.at);
        }
    }

    /// A value that is no container ends here.
    fn scalar(&mut self, start: usize) {
        let Some(name) = self.name.clone() else {
            return;
        };
        if self.open.len() > 2 || self.at - name.start > MEMBER_BYTES {
            return;
        }
        let word = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let says_nothing = matches!(word(start..self.at), "null" | "false" | "0" | "\"\"");
        let member = name.start..self.at;
        let name = word(name);
        if names_failure(name) && !says_nothing {
            self.found.errors.push(member);
        } else if names_total(name) {
            self.found.totals.push(member);
        } else if self.open.len() == 1 {
            self.found.others.push(member);
        }
    }
}
