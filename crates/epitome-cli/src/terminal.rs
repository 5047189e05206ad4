//! What reaches a terminal: words, never orders to it.
//!
//! Conversations hold what tools printed, and tools print what strangers wrote. A sequence that moves a cursor, renames a
//! window or fills a clipboard is shown as what it is, wherever the text goes: a pipe often ends in a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

/// Says something on standard error.
macro_rules! tell {
    ($($words:tt)*) => { $crate::terminal::say(&format!($($words)*)) };
}
pub(crate) use tell;

/// Writes to standard output. A reader that has seen enough, such as `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write_out(shown(text).as_bytes())
}

/// Writes a file to standard output: as it is, unless a terminal shows it.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => write_out(bytes),
    }
}

/// Says a line on standard error. Nobody may be reading it, which is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", shown(line));
}

/// A text with control characters, and those that turn the direction of a line, as visible escapes. Those of JSON are
/// taken, so that JSON means the same afterwards. Line ends and tabs stay.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_order) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\r' && letters.peek() == Some(&'\n') {
            continue;
        }
        match is_order(letter) {
            true => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            false => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal may obey a character instead of showing it.
fn is_order(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
