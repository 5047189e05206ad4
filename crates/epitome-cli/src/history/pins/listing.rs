//! Pins as lines for people.

use std::fmt;

use epitome_engine::archive::{ListedPinState, PinList, one_line};

/// The longest line of a pin.
const TEXT_CHARS: usize = 300;

/// The pins of a conversation, numbered.
pub(super) struct Lines<'a>(pub(super) &'a PinList);

impl Lines<'_> {
    /// The list, or a word for an empty one.
    pub(super) fn or_nothing(&self) -> String {
        match self.0.pins.is_empty() {
            true => String::from("nothing"),
            false => self.to_string().trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, listed) in self.0.pins.iter().enumerate() {
            let state = match listed.state {
                ListedPinState::InForce => String::from("in force"),
                ListedPinState::Superseded(by) => format!("superseded by message {by}"),
                ListedPinState::Done(by) => format!("done with message {by}"),
                ListedPinState::Dropped => String::from("dropped"),
            };
            let from = match listed.message {
                Some(message) => format!("message {message}, "),
                None => String::new(),
            };
            let text = one_line(&listed.text, TEXT_CHARS);
            writeln!(f, "{:>3}  {text}  ({from}{state})", at + 1)?;
        }
        Ok(())
    }
}
