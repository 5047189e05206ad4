//! What reaches a terminal: words, never orders to it.
//!
//! Conversations hold what tools printed, and tools print what strangers wrote. A sequence that moves a cursor, renames a
//! window or fills a clipboard is shown as what it is, wherever the text goes: a pipe often ends in a terminal.

mod number;
mod page;
mod patience;
mod table;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use number::{counted, grouped};
pub(crate) use page::Page;
pub(crate) use patience::Patience;
pub(crate) use table::{Table, left, right};

/// Says something on standard error.
macro_rules! tell {
    ($($words:tt)*) => { $crate::terminal::say(&format!($($words)*)) };
}
pub(crate) use tell;

/// Writes to standard output. A reader that has seen enough, such as `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write_out(shown(text).as_bytes())
}

/// How many letters fit on a line; `None` where nobody looks.
pub(crate) fn width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|columns| columns.parse().ok());
    told.filter(|columns| *columns >= LEAST_COLUMNS)
        .or_else(|| {
            let (terminal_size::Width(columns), _) =
                terminal_size::terminal_size_of(std::io::stdout())?;
            Some(usize::from(columns).max(LEAST_COLUMNS))
        })
}

/// Narrower than this nothing can be laid out.
const LEAST_COLUMNS: usize = 40;

/// Whether standard output shows colours: a terminal does unless somebody says no, anything else only where somebody says yes.
fn has_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_forced = is_set("CLICOLOR_FORCE") && !is_set("NO_COLOR");
    is_forced || (std::io::stdout().is_terminal() && !is_set("NO_COLOR"))
}

/// Writes a file to standard output: as it is, unless a terminal shows it.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => write_out(bytes),
    }
}

/// Whether the line of the cursor says how far something is.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Says how far something is, on one line that the next one replaces; only where somebody watches.
pub(crate) fn say_progress(line: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        HAS_PROGRESS.store(!line.is_empty(), Ordering::Relaxed);
        let _ = write!(terminal, "\r{}\u{1b}[K", shown(line));
    }
}

/// Says a line on standard error. Nobody may be reading it, which is no reason to stop.
pub(crate) fn say(line: &str) {
    if HAS_PROGRESS.load(Ordering::Relaxed) {
        say_progress("");
    }
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
