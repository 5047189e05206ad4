//! How the fields of the typed settings are read from values and written back, and the table form they are declared in.

use super::key::{Key, Kind};
use super::value::Value;
use crate::threshold::Threshold;

/// The word for "as the preset has it".
const AUTO: &str = "auto";

/// A type that a setting can have.
pub(crate) trait Field: Sized {
    const KIND: Kind;
    const IS_OPTIONAL: bool = false;

    /// `None` where the value is of another kind. Bounds are the key's business.
    fn read(value: &Value) -> Option<Self>;
    fn write(&self) -> Value;
}

/// A field whose type is not known here.
pub(crate) trait Slot {
    /// Whether the value fits; a value that does not changes nothing.
    fn put(&mut self, value: &Value) -> bool;
    fn value(&self) -> Value;
}

impl<T: Field> Slot for T {
    fn put(&mut self, value: &Value) -> bool {
        Self::read(value).map(|read| *self = read).is_some()
    }

    fn value(&self) -> Value {
        self.write()
    }
}

/// Settings as a list of keys.
pub(crate) trait Fields {
    fn keys(&self) -> Vec<&'static Key>;
    fn slot(&self, key: &Key) -> Option<&dyn Slot>;
    fn slot_mut(&mut self, key: &Key) -> Option<&mut dyn Slot>;
}

impl Field for bool {
    const KIND: Kind = Kind::Switch;

    fn read(value: &Value) -> Option<Self> {
        match *value {
            Value::Switch(switch) => Some(switch),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Switch(*self)
    }
}

macro_rules! whole_fields {
    ($($type:ty)*) => {$(
        impl Field for $type {
            const KIND: Kind = Kind::Whole;

            fn read(value: &Value) -> Option<Self> {
                Self::try_from(value.as_whole()?).ok()
            }

            fn write(&self) -> Value {
                Value::Whole(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

whole_fields! { i64 u64 usize }

impl Field for f64 {
    const KIND: Kind = Kind::Number;

    fn read(value: &Value) -> Option<Self> {
        value.as_number()
    }

    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;

    fn read(value: &Value) -> Option<Self> {
        value.as_text().map(Self::from)
    }

    fn write(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Field for Threshold {
    const KIND: Kind = Kind::Threshold;

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => text.parse().ok(),
            number => number.as_whole().map(Self::from_number),
        }
    }

    fn write(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const IS_OPTIONAL: bool = true;

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            // A text is taken as it is: there may be a model of that name.
            Value::Text(text) if text == AUTO && T::KIND != Kind::Text => Some(None),
            value => T::read(value).map(Some),
        }
    }

    fn write(&self) -> Value {
        match self {
            Some(set) => set.write(),
            None if T::KIND == Kind::Text => Value::Null,
            None => Value::Text(AUTO.to_owned()),
        }
    }
}

/// Declares an enum whose values are words in a configuration.
macro_rules! choices {
    ($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $word_doc])* $variant,)* }

        impl Field for $name {
            const KIND: Kind = Kind::Choice(&[$($word),*]);

            fn read(value: &Value) -> Option<Self> {
                match value.as_text()? {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> Value {
                Value::Text(match self { $(Self::$variant => $word,)* }.to_owned())
            }
        }
    };
}

/// Declares a struct of settings and the keys they are read by: name, type, default, bounds, aliases, meaning, all in
/// one row. `in` names the table they stand in; `groups` are tables inside.
macro_rules! settings {
    ($(#[doc = $doc:literal])* $name:ident in $group:literal {
        $($(#[doc = $field_doc:literal])*
        $field:ident: $type:ty = $default:expr, $bounds:expr, [$($alias:literal),*];)*
    } $(groups {
        $($(#[doc = $inner_doc:literal])* $inner:ident: $inner_type:ty,)*
    })?) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
            $($($(#[doc = $inner_doc])* pub $inner: $inner_type,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($inner: <$inner_type>::default(),)*)?
                }
            }
        }

        impl Fields for $name {
            fn keys(&self) -> Vec<&'static Key> {
                static KEYS: &[Key] = &[$(Key {
                    group: $group,
                    name: stringify!($field),
                    aliases: &[$($alias),*],
                    kind: <$type as Field>::KIND,
                    is_optional: <$type as Field>::IS_OPTIONAL,
                    bounds: $bounds,
                    doc: concat!($($field_doc),*),
                },)*];
                KEYS.iter()$($(.chain(self.$inner.keys()))*)?.collect()
            }

            fn slot(&self, key: &Key) -> Option<&dyn Slot> {
                $(if (key.group, key.name) == ($group, stringify!($field)) {
                    return Some(&self.$field);
                })*
                None$($(.or_else(|| self.$inner.slot(key)))*)?
            }

            fn slot_mut(&mut self, key: &Key) -> Option<&mut dyn Slot> {
                $(if (key.group, key.name) == ($group, stringify!($field)) {
                    return Some(&mut self.$field);
                })*
                None$($(.or_else(|| self.$inner.slot_mut(key)))*)?
            }
        }
    };
}

pub(crate) use {choices, settings};
