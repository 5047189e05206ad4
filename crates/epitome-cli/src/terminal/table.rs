//! Rows whose cells stand below each other, as narrow as the terminal wants them.

use super::page::Style;

/// How wide a table is at most where no terminal says.
const USUAL_COLUMNS: usize = 120;
const BETWEEN: &str = "  ";

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    is_right: bool,
    /// The lowest number goes first where there is no room; `None` stays.
    leaves: Option<u8>,
    /// What it may be shortened to, and at which end.
    shortens: Option<(usize, End)>,
}

/// Which end of a long text goes.
#[derive(Clone, Copy, Debug)]
enum End {
    Front,
    Back,
}

/// Words: what they begin with stands below each other.
pub(crate) const fn left(heading: &'static str) -> Column {
    Column {
        heading,
        is_right: false,
        leaves: None,
        shortens: None,
    }
}

/// Numbers: what they end with stands below each other.
pub(crate) const fn right(heading: &'static str) -> Column {
    Column {
        is_right: true,
        ..left(heading)
    }
}

impl Column {
    /// It is left out where there is no room, those with the lowest rank first.
    pub(crate) const fn leaves(mut self, rank: u8) -> Self {
        self.leaves = Some(rank);
        self
    }

    /// Its ends are cut off where there is no room, down to so many letters.
    pub(crate) const fn shortens(mut self, least: usize) -> Self {
        self.shortens = Some((least, End::Back));
        self
    }

    /// The same for names whose end says more than their beginning.
    pub(crate) const fn shortens_in_front(mut self, least: usize) -> Self {
        self.shortens = Some((least, End::Front));
        self
    }

    fn cell(&self, text: &str, chars: usize) -> String {
        let text = match self.shortens {
            Some((_, end)) => shortened(text, chars, end),
            None => text.to_owned(),
        };
        match self.is_right {
            true => format!("{text:>chars$}"),
            false => format!("{text:<chars$}"),
        }
    }
}

/// Rows below headings.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<(Style, Vec<String>)>,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.put(Style::Plain, cells);
    }

    /// A row that stands for those above it.
    pub(crate) fn sum<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.put(Style::Heading, cells);
    }

    fn put<C: Into<String>>(&mut self, style: Style, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push((style, cells));
    }

    pub(super) fn lines(&self, width: Option<usize>) -> Vec<(Style, String)> {
        let widths = self.widths(width.unwrap_or(USUAL_COLUMNS));
        let headings = self.columns.iter().map(|column| column.heading);
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        if self.columns.iter().any(|column| !column.heading.is_empty()) {
            lines.push((Style::Heading, self.line(headings, &widths)));
        }
        for (style, cells) in &self.rows {
            let line = self.line(cells.iter().map(String::as_str), &widths);
            lines.push((*style, line));
        }
        lines
    }

    fn line<'a>(&self, cells: impl Iterator<Item = &'a str>, widths: &[Option<usize>]) -> String {
        let cells = self.columns.iter().zip(cells).zip(widths);
        let cells = cells.filter_map(|((column, text), chars)| Some(column.cell(text, (*chars)?)));
        let line = cells.collect::<Vec<_>>().join(BETWEEN);
        line.trim_end().to_owned()
    }

    /// How wide each column is; `None` for one that is left out.
    fn widths(&self, most: usize) -> Vec<Option<usize>> {
        let columns = self.columns.iter().enumerate();
        let mut widths: Vec<Option<usize>> = columns
            .map(|(at, column)| {
                let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(at));
                let chars = cells.map(|text| text.chars().count()).max().unwrap_or(0);
                Some(chars.max(column.heading.chars().count()))
            })
            .collect();
        loop {
            let excess = total(&widths).saturating_sub(most);
            if excess == 0 || self.shorten(&mut widths, excess) || !self.leave(&mut widths) {
                return widths;
            }
        }
    }

    /// Whether shortening what may be shortened makes enough room.
    fn shorten(&self, widths: &mut [Option<usize>], mut excess: usize) -> bool {
        let mut narrower = widths.to_vec();
        for (column, width) in self.columns.iter().zip(&mut narrower) {
            if let (Some((least, _)), Some(width)) = (column.shortens, width) {
                let less = width.saturating_sub(least).min(excess);
                *width -= less;
                excess -= less;
            }
        }
        if excess == 0 {
            widths.copy_from_slice(&narrower);
        }
        excess == 0
    }

    /// Leaves out the column that can best be done without. False if there is none.
    fn leave(&self, widths: &mut [Option<usize>]) -> bool {
        let there = self.columns.iter().zip(widths);
        let there = there.filter(|(_, width)| width.is_some());
        let least = there
            .filter_map(|(column, width)| Some((column.leaves?, width)))
            .min_by_key(|(rank, _)| *rank);
        match least {
            Some((_, width)) => {
                *width = None;
                true
            }
            None => false,
        }
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let there = widths.iter().flatten();
    let between = BETWEEN.len() * there.clone().count().saturating_sub(1);
    there.sum::<usize>() + between
}

fn shortened(text: &str, most: usize, end: End) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let keep = most.saturating_sub(1);
    match end {
        End::Back => {
            let kept: String = text.chars().take(keep).collect();
            format!("{}…", kept.trim_end())
        }
        End::Front => format!("…{}", text.chars().skip(count - keep).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, left, right};

    fn table() -> Table {
        let mut table = Table::new([
            left("id"),
            left("model").leaves(0),
            right("tokens"),
            left("title").shortens(10),
        ]);
        table.row([
            "a1",
            "a-model-with-a-name",
            "1,234",
            "What the user typed first",
        ]);
        table.sum(["", "", "1,234", "1 conversation"]);
        table
    }

    fn lines(width: usize) -> Vec<String> {
        let lines = table().lines(Some(width)).into_iter();
        lines.map(|(_, line)| line).collect()
    }

    #[test]
    fn what_has_room_stands_in_full() {
        assert_eq!(
            lines(80),
            [
                "id  model                tokens  title",
                "a1  a-model-with-a-name   1,234  What the user typed first",
                "                          1,234  1 conversation"
            ]
        );
    }

    #[test]
    fn what_may_be_shortened_is_then_what_can_be_done_without_goes() {
        assert_eq!(
            lines(50).get(1).map(String::as_str),
            Some("a1  a-model-with-a-name   1,234  What the user ty…")
        );
        assert_eq!(
            lines(30).get(1).map(String::as_str),
            Some("a1   1,234  What the user typ…")
        );
        assert_eq!(
            lines(5).get(1).map(String::as_str),
            Some("a1   1,234  What the user typed first"),
            "no table fits five columns"
        );
    }
}
