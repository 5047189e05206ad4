//! What the fields of an event hold.

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

/// The fields of an event: names and values, in order.
pub type EventFields = Vec<(&'static str, FieldValue)>;

impl From<u64> for FieldValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for FieldValue {
    fn from(count: usize) -> Self {
        Self::Number(count as u64)
    }
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
