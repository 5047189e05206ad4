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

/// How a line stands out where a terminal shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Heading,
    Faint,
}

/// Lines for a person: as wide as the terminal, with headings that stand out where it shows colours.
#[derive(Debug, Default)]
pub(crate) struct Page(Vec<(Style, String)>);

impl Page {
    pub(crate) fn heading(&mut self, line: impl Into<String>) {
        self.0.push((Style::Heading, line.into()));
    }

    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.0.push((Style::Plain, line.into()));
    }

    pub(crate) fn faint(&mut self, line: impl Into<String>) {
        self.0.push((Style::Faint, line.into()));
    }

    /// The lines of a text. One that ends in a colon and is not indented is a heading.
    pub(crate) fn of(text: &str) -> Self {
        let mut page = Self::default();
        for line in text.lines() {
            match line.ends_with(':') && !line.starts_with(' ') {
                true => page.heading(line),
                false => page.line(line),
            }
        }
        page
    }

    /// Writes it to standard output.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        write_out(self.text(width(), has_colours()).as_bytes())
    }

    fn text(&self, width: Option<usize>, has_colours: bool) -> String {
        let mut out = String::new();
        for (style, line) in &self.0 {
            let order = match style {
                _ if !has_colours => None,
                Style::Plain => None,
                Style::Heading => Some("\u{1b}[1m"),
                Style::Faint => Some("\u{1b}[2m"),
            };
            for line in wrapped(&shown(line), width) {
                match order {
                    Some(order) => drop(writeln!(out, "{order}{line}\u{1b}[0m")),
                    None => drop(writeln!(out, "{line}")),
                }
            }
        }
        out
    }
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

/// A line in pieces that fit, at its spaces; what goes on is indented.
fn wrapped(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| line.chars().count() > *width) else {
        return vec![line.to_owned()];
    };
    let indent = line.len() - line.trim_start().len();
    let hang = " ".repeat((indent + 2).min(width / 2));
    let mut pieces = Vec::new();
    let mut piece = " ".repeat(indent);
    let mut is_empty = true;
    for word in line.split_whitespace() {
        let long = piece.chars().count() + usize::from(!is_empty) + word.chars().count();
        if long > width && !is_empty {
            pieces.push(std::mem::replace(&mut piece, hang.clone()));
            is_empty = true;
        }
        if !is_empty {
            piece.push(' ');
        }
        piece.push_str(word);
        is_empty = false;
    }
    pieces.push(piece);
    pieces
}

/// Writes a file to standard output: as it is, unless a terminal shows it.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => write_out(bytes),
    }
}

/// Says how far something is, on one line that the next one replaces; only where somebody watches.
pub(crate) fn say_progress(line: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        let _ = write!(terminal, "\r{}\u{1b}[K", shown(line));
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

#[cfg(test)]
mod tests {
    use super::{Page, wrapped};

    #[test]
    fn long_lines_go_on_indented() {
        let line = "  one two three four five six seven eight nine ten";
        let pieces = wrapped(line, Some(20));
        assert_eq!(
            pieces,
            [
                "  one two three four",
                "    five six seven",
                "    eight nine ten"
            ]
        );
        assert_eq!(wrapped("short", Some(20)), ["short"]);
        assert_eq!(wrapped(line, None), [line]);
    }

    #[test]
    fn colours_are_ours_and_orders_of_others_stay_words() {
        let page = Page::of("heading:\n  \u{1b}[31mred");
        assert_eq!(page.text(None, false), "heading:\n  \\u001b[31mred\n");
        assert_eq!(
            page.text(None, true),
            "\u{1b}[1mheading:\u{1b}[0m\n  \\u001b[31mred\n"
        );
    }
}
