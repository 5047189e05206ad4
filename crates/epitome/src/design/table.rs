//! Settings of a design that brings them as data: rows with defaults, and what they mean.

use super::own::Own;
use super::{Design, Preset};
use crate::setting::{Fields, Key, Kind, Slot, Value};
use crate::threshold::Threshold;

/// What people can tell a design, as data.
///
/// ```
/// use epitome::settings::{Bounds, Key, Kind, Settings, Value};
/// use epitome::{Design, Knob, Knobs, Preset, Trigger};
///
/// static EARLY: Design = Design {
///     name: "early",
///     knobs: Knobs {
///         rows: &[Knob {
///             key: Key::new("line", Kind::Whole, Bounds::AtLeast(1), "Tokens from which it acts."),
///             default: Value::Whole(10_000),
///         }],
///         choose: |set, preset| preset.trigger = Trigger::AtLeast(set.whole("line")),
///     },
///     ..Design::BASE
/// };
/// let mut settings = Settings::of(&EARLY);
/// assert_eq!(Preset::from(&settings).trigger, Trigger::AtLeast(10_000));
/// settings.apply(&Value::Table(vec![("line".to_owned(), Value::Whole(7_000))]))?;
/// assert_eq!(Preset::from(&settings).trigger, Trigger::AtLeast(7_000));
/// # Ok::<(), epitome::settings::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// One row for each setting.
    pub rows: &'static [Knob],
    /// Puts what is set in place of the design's own choices.
    pub choose: fn(&TableSettings, &mut Preset),
}

/// One setting of a design, as data.
#[derive(Clone, Debug)]
pub struct Knob {
    /// Its name, what may stand there, and what it means.
    pub key: Key,
    /// What it is where nobody says otherwise; of the key's kind.
    pub default: Value,
}

impl Knobs {
    /// None: the design is as it is.
    pub const NONE: Self = Self {
        rows: &[],
        choose: |_, _| {},
    };
}

/// The settings of a design that brings them as [`Knobs`]. Whatever is put here was checked against its row.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSettings {
    design: &'static Design,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq)]
struct Cell {
    key: &'static Key,
    value: Value,
}

impl TableSettings {
    /// As the design has them.
    pub(super) fn of(design: &'static Design) -> Self {
        let cell = |knob: &'static Knob| Cell {
            key: &knob.key,
            value: knob.default.clone(),
        };
        let cells = design.knobs.rows.iter().map(cell).collect();
        Self { design, cells }
    }

    /// Whose they are.
    pub(super) const fn design(&self) -> &'static Design {
        self.design
    }

    /// What is set at the row of this name; `None` where there is no such row.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        let cell = self.cells.iter().find(|cell| cell.key.name == name);
        cell.map(|cell| &cell.value)
    }

    /// The whole number at the row of this name; zero where there is none.
    #[must_use]
    pub fn whole(&self, name: &str) -> i64 {
        self.value(name).and_then(Value::as_whole).unwrap_or(0)
    }

    /// The number at the row of this name; zero where there is none.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.value(name).and_then(Value::as_number).unwrap_or(0.0)
    }

    /// Whether the row of this name is switched on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Switch(true))
    }

    /// The text, word or written threshold at the row of this name; empty where there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.value(name).and_then(Value::as_text).unwrap_or("")
    }
}

impl Fields for TableSettings {
    fn keys(&self) -> Vec<&'static Key> {
        self.cells.iter().map(|cell| cell.key).collect()
    }

    fn slot(&self, key: &Key) -> Option<&dyn Slot> {
        let cell = self.cells.iter().find(|cell| cell.key == key);
        cell.map(|cell| cell as &dyn Slot)
    }

    fn slot_mut(&mut self, key: &Key) -> Option<&mut dyn Slot> {
        let cell = self.cells.iter_mut().find(|cell| cell.key == key);
        cell.map(|cell| cell as &mut dyn Slot)
    }
}

impl Slot for Cell {
    fn put(&mut self, value: &Value) -> bool {
        let fits = match (self.key.kind, value) {
            (_, Value::Null) => self.key.is_optional,
            (Kind::Switch, value) => matches!(value, Value::Switch(_)),
            (Kind::Whole, value) => value.as_whole().is_some(),
            (Kind::Number, value) => value.as_number().is_some(),
            (Kind::Text, value) => value.as_text().is_some(),
            (Kind::Choice(words), value) => {
                value.as_text().is_some_and(|text| words.contains(&text))
            }
            (Kind::Threshold, Value::Text(text)) => text.parse::<Threshold>().is_ok(),
            (Kind::Threshold, value) => value.as_whole().is_some(),
        };
        if fits {
            self.value = value.clone();
        }
        fits
    }

    fn value(&self) -> Value {
        self.value.clone()
    }
}

impl Own for TableSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.summary_tokens = self.design.summary_tokens;
        (self.design.knobs.choose)(self, preset);
    }
}
