//! A TOML file as a tree of values that know their lines.

use epitome::settings::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What stands at a key.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Table(Table),
    List(Vec<Self>),
    Leaf(Value),
}

/// Entries in the order of the file.
pub(crate) type Table = Vec<Line>;

/// One entry of a table.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) written: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) node: Node,
}

/// A place where the text is not TOML.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// Reads a text; what is not TOML is listed, and the rest is read all the same.
pub(crate) fn parse(text: &str) -> (Table, Vec<SyntaxError>) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::of(text);
    let errors = errors.iter().map(|error| {
        let (line, column) = lines.place(error.span().map_or(text.len(), |span| span.start));
        // What the parser quotes of the text may be a key.
        let message = error
            .message()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        SyntaxError {
            line,
            column,
            message,
        }
    });
    let errors = errors.collect();
    (table(root.get_ref(), &lines), errors)
}

impl Node {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::List(list) => Value::List(list.iter().map(Self::value).collect()),
            Self::Table(table) => {
                let entry = |line: &Line| (line.written.clone(), line.node.value());
                Value::Table(table.iter().map(entry).collect())
            }
        }
    }
}

fn table(entries: &DeTable<'_>, lines: &Lines<'_>) -> Table {
    let mut ordered: Vec<_> = entries.iter().collect();
    ordered.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let written: &std::borrow::Cow<'_, str> = key.get_ref();
        Line {
            written: written.clone().into_owned(),
            line: lines.place(key.span().start).0,
            node: node(value.get_ref(), lines),
        }
    };
    ordered.into_iter().map(entry).collect()
}

fn node(value: &DeValue<'_>, lines: &Lines<'_>) -> Node {
    Node::Leaf(match value {
        DeValue::Table(entries) => return Node::Table(table(entries, lines)),
        DeValue::Array(list) => {
            return Node::List(
                list.iter()
                    .map(|item| node(item.get_ref(), lines))
                    .collect(),
            );
        }
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Boolean(switch) => Value::Switch(*switch),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number_of(number.as_str()), Value::Whole),
        DeValue::Float(number) => number_of(number.as_str()),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
    })
}

fn number_of(text: &str) -> Value {
    Value::Number(text.parse().unwrap_or(f64::NAN))
}

/// Where lines begin.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(after).collect(),
        }
    }

    /// Line and column of a byte, both from 1.
    fn place(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..byte).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}
