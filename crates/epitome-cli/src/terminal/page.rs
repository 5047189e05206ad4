//! Lines and tables for a person: as wide as the terminal, with headings that stand out where it shows colours.

use std::fmt::Write as _;

use super::table::Table;
use super::{has_colours, shown, width, write_out};

/// How a line stands out where a terminal shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Heading,
    Faint,
}

/// What a page is put together from.
#[derive(Debug)]
enum Piece {
    Line(Style, String),
    Table(Table),
}

/// What a command says to a person.
#[derive(Debug, Default)]
pub(crate) struct Page(Vec<Piece>);

impl Page {
    pub(crate) fn heading(&mut self, line: impl Into<String>) {
        self.0.push(Piece::Line(Style::Heading, line.into()));
    }

    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.0.push(Piece::Line(Style::Plain, line.into()));
    }

    pub(crate) fn faint(&mut self, line: impl Into<String>) {
        self.0.push(Piece::Line(Style::Faint, line.into()));
    }

    pub(crate) fn gap(&mut self) {
        self.line("");
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.0.push(Piece::Table(table));
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

    /// The same without colours, as wide as it comes.
    pub(crate) fn plain(&self) -> String {
        self.text(None, false)
    }

    fn text(&self, width: Option<usize>, has_colours: bool) -> String {
        let mut out = String::new();
        let mut put = |style: Style, line: &str| {
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
        };
        for piece in &self.0 {
            match piece {
                Piece::Line(style, line) => put(*style, line),
                Piece::Table(table) => {
                    let lines = table.lines(width);
                    lines.iter().for_each(|(style, line)| put(*style, line));
                }
            }
        }
        out
    }
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
    // What stands below each other further up stays so: spaces are as many as they were.
    let mut spaces = 0;
    for word in line.trim_start().split(' ') {
        if word.is_empty() {
            spaces += 1;
            continue;
        }
        let long = piece.chars().count() + spaces + word.chars().count();
        if long > width && !is_empty {
            pieces.push(std::mem::replace(&mut piece, hang.clone()));
            is_empty = true;
        }
        if !is_empty {
            piece.push_str(&" ".repeat(spaces));
        }
        piece.push_str(word);
        is_empty = false;
        spaces = 1;
    }
    pieces.push(piece);
    pieces
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
        assert_eq!(
            wrapped("bad   one two three four five", Some(20)),
            ["bad   one two three", "  four five"]
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
