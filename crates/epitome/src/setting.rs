//! One setting: its names, its kind and its bounds, the value that stands for it, and what can be wrong with it. The
//! rows themselves stand with the designs and in `settings`.

mod error;
mod field;
mod key;
mod nearest;
mod value;

pub use error::{Hint, Notice, SettingsError};
pub(crate) use field::{Field, Fields, Slot, choices, settings};
pub(crate) use key::is_spelled;
pub use key::{Bounds, Key, Kind, spellings};
pub use nearest::nearest;
pub use value::Value;
