//! How the fields of the typed sections are read from values and written back, and the form they are declared in.

use std::net::SocketAddr;
use std::path::PathBuf;

use epitome::settings::{Kind, Value};

use crate::address::Address;
use crate::row::{Form, Row};

/// The word for "left open".
const AUTO: &str = "auto";

/// A type that a setting of a section can have.
pub(crate) trait Field: Sized {
    const FORM: Form;
    const IS_OPTIONAL: bool = false;

    /// `None` where the value is of another kind. Bounds are the row's business.
    fn read(value: &Value) -> Option<Self>;
    fn write(&self) -> Value;
}

/// A section as a list of rows.
pub(crate) trait Section {
    /// The rows, those of the tables inside last.
    fn rows() -> Vec<&'static Row>;
    /// Whether there is such a row and the value fits it.
    fn put(&mut self, row: &Row, value: &Value) -> bool;
    /// The value now.
    fn value(&self, row: &Row) -> Option<Value>;
}

impl Field for bool {
    const FORM: Form = Form::Plain(Kind::Switch);

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

impl Field for u64 {
    const FORM: Form = Form::Plain(Kind::Whole);

    fn read(value: &Value) -> Option<Self> {
        match *value {
            Value::Whole(number) => Self::try_from(number).ok(),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Whole(i64::try_from(*self).unwrap_or(i64::MAX))
    }
}

impl Field for f64 {
    const FORM: Form = Form::Plain(Kind::Number);

    fn read(value: &Value) -> Option<Self> {
        match *value {
            Value::Number(number) => Some(number),
            Value::Whole(number) => Some(number as Self),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

/// Fields that are a text, by what makes one of it and what it is made of.
macro_rules! text_fields {
    ($($type:ty, $form:expr, $read:expr, $write:expr;)*) => {$(
        impl Field for $type {
            const FORM: Form = $form;

            fn read(value: &Value) -> Option<Self> {
                let Value::Text(text) = value else { return None };
                let read: fn(&str) -> Option<$type> = $read;
                read(text)
            }

            fn write(&self) -> Value {
                let write: fn(&$type) -> String = $write;
                Value::Text(write(self))
            }
        }
    )*};
}

text_fields! {
    String, Form::Plain(Kind::Text), |text| Some(text.to_owned()), Self::clone;
    Address, Form::Address, |text| Some(Self::new(text)), |address| address.expose().to_owned();
    PathBuf, Form::Path, |text| Some(Self::from(text)), |path| path.display().to_string();
    SocketAddr, Form::Socket, |text| text.parse().ok(), ToString::to_string;
    VariableName, Form::Variable, Self::new, |name| name.0.clone();
}

/// The name of an environment variable. A key that was put there by mistake hardly ever is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableName(String);

impl VariableName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn new(text: &str) -> Option<Self> {
        const LONGEST: usize = 64;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = text.len() <= LONGEST
            && text.chars().all(is_letter)
            && !text.starts_with(|c: char| c.is_ascii_digit());
        (is_name && !text.is_empty()).then(|| Self(text.to_owned()))
    }
}

impl Field for Vec<String> {
    const FORM: Form = Form::Command;

    fn read(value: &Value) -> Option<Self> {
        let Value::List(list) = value else {
            return None;
        };
        let words: Option<Self> = list.iter().map(String::read).collect();
        words.filter(|words| words.first().is_some_and(|program| !program.is_empty()))
    }

    fn write(&self) -> Value {
        Value::List(self.iter().map(Field::write).collect())
    }
}

/// Texts, in any number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(Vec<String>);

impl Texts {
    /// The texts.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl Field for Texts {
    const FORM: Form = Form::Texts;

    fn read(value: &Value) -> Option<Self> {
        let Value::List(list) = value else {
            return None;
        };
        let texts: Option<Vec<String>> = list.iter().map(String::read).collect();
        texts
            .filter(|texts| texts.iter().all(|text| !text.is_empty()))
            .map(Self)
    }

    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Field::write).collect())
    }
}

/// Digests of keys. A key that was put there by mistake is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests(Vec<String>);

impl Digests {
    /// The digests, `epitome:` and 64 digits each.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl Field for Digests {
    const FORM: Form = Form::Digests;

    fn read(value: &Value) -> Option<Self> {
        const DIGITS: usize = 64;
        let is_digest = |text: &String| {
            let digits = text.strip_prefix("epitome:");
            digits.is_some_and(|digits| {
                digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            })
        };
        let Texts(texts) = Texts::read(value)?;
        texts.iter().all(is_digest).then_some(Self(texts))
    }

    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Field::write).collect())
    }
}

impl<T: Field> Field for Option<T> {
    const FORM: Form = T::FORM;
    const IS_OPTIONAL: bool = true;

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            Value::Text(text) if text == open_word(T::FORM) => Some(None),
            value => T::read(value).map(Some),
        }
    }

    fn write(&self) -> Value {
        self.as_ref()
            .map_or_else(|| Value::Text(open_word(T::FORM).to_owned()), Field::write)
    }
}

/// How "left open" is written: a text may be called `auto`, so there it is nothing at all.
const fn open_word(form: Form) -> &'static str {
    match form {
        Form::Plain(Kind::Switch | Kind::Whole | Kind::Number) => AUTO,
        _ => "",
    }
}

/// Declares an enum whose values are words in a configuration.
macro_rules! choices {
    ($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name { $($(#[doc = $word_doc])* $variant,)* }

        impl $name {
            /// The word in a configuration.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Field for $name {
            const FORM: Form = Form::Plain(Kind::Choice(&[$($word),*]));

            fn read(value: &Value) -> Option<Self> {
                let Value::Text(text) = value else { return None };
                match text.as_str() {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> Value {
                Value::Text(self.as_str().to_owned())
            }
        }
    };
}

/// Who may set a row: the owner, unless it says otherwise.
macro_rules! set_by {
    () => {
        SetBy::Owner
    };
    (project) => {
        SetBy::Project
    };
}

/// Declares a section: name, type, default, bounds and meaning of each setting in one row. One that ends in `project` may
/// be set by any project. `also` are fields that are no rows; `tables` are sections inside.
macro_rules! section {
    ($(#[doc = $doc:literal])* $name:ident in $section:literal {
        $($(#[doc = $field_doc:literal])*
        $field:ident: $type:ty = $default:expr, $bounds:expr $(, $set_by:ident)?;)*
    } $(tables {
        $($(#[doc = $inner_doc:literal])* $inner:ident: $inner_type:ty,)*
    })? $(also {
        $($(#[doc = $also_doc:literal])* $also:ident: $also_type:ty,)*
    })?) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
            $($($(#[doc = $inner_doc])* pub $inner: $inner_type,)*)?
            $($($(#[doc = $also_doc])* pub $also: $also_type,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($inner: <$inner_type>::default(),)*)?
                    $($($also: <$also_type>::default(),)*)?
                }
            }
        }

        impl Section for $name {
            fn rows() -> Vec<&'static Row> {
                static ROWS: &[Row] = &[$(Row {
                    section: $section,
                    name: stringify!($field),
                    form: <$type as Field>::FORM,
                    is_optional: <$type as Field>::IS_OPTIONAL,
                    bounds: $bounds,
                    set_by: set_by!($($set_by)?),
                    doc: concat!($($field_doc),*),
                },)*];
                ROWS.iter()$($(.chain(<$inner_type>::rows()))*)?.collect()
            }

            fn put(&mut self, row: &Row, value: &Value) -> bool {
                $(if (row.section, row.name) == ($section, stringify!($field)) {
                    return Field::read(value).map(|read| self.$field = read).is_some();
                })*
                false$($(|| self.$inner.put(row, value))*)?
            }

            fn value(&self, row: &Row) -> Option<Value> {
                $(if (row.section, row.name) == ($section, stringify!($field)) {
                    return Some(self.$field.write());
                })*
                None$($(.or_else(|| self.$inner.value(row)))*)?
            }
        }
    };
}

pub(crate) use {choices, section, set_by};
