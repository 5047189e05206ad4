//! A configuration as any parser can give it.

use std::fmt;

/// A tree of plain values. The core reads no files and knows no format: whoever has a JSON, TOML or JSON5 parser
/// turns its tree into this one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Self>),
    /// Keys and their values in the order of the file. A key that stands there twice is kept twice.
    Table(Vec<(String, Self)>),
}

/// Characters of a text that an error message shows.
const SHOWN_CHARS: usize = 60;

impl Value {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, also where the format writes it as `2e5` or `200000.0`.
    pub(crate) fn as_whole(&self) -> Option<i64> {
        // Above this a float no longer holds every whole number.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match *self {
            Self::Whole(number) => Some(number),
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Some(number as i64)
            }
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Whole(number) => Some(number as f64),
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// As an error message names it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Switch(switch) => write!(f, "{switch}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => {
                let shown: String = text.chars().take(SHOWN_CHARS).collect();
                let rest = if shown.len() < text.len() { "…" } else { "" };
                write!(f, "the text {shown:?}{rest}")
            }
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
        }
    }
}
