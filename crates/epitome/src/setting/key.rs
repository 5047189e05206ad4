//! What is known of one setting: its names, its kind, its bounds.

use std::fmt;

use super::value::Value;

/// One setting. The list of all ([`Settings::entries`](crate::settings::Settings::entries)) is what documentation, schemas and
/// error messages are made of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// The table it stands in, `""` for the outermost.
    pub group: &'static str,
    /// Its name in that table, in snake_case. camelCase and PascalCase mean the same.
    pub name: &'static str,
    /// Other names for the same thing, each in all three spellings.
    pub aliases: &'static [&'static str],
    /// What may stand there.
    pub kind: Kind,
    /// Whether it may be left to the preset: `auto`, or null for a text.
    pub is_optional: bool,
    /// How large it may be.
    pub bounds: Bounds,
    pub(crate) doc: &'static str,
}

/// What may stand at a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A text, taken as it is.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A [`Threshold`](crate::Threshold), written or as a number of tokens.
    Threshold,
}

/// How large a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bounds {
    /// As one likes.
    Any,
    /// This or more.
    AtLeast(i64),
    /// From the first to the second, both included.
    Within(f64, f64),
    /// Above zero, at most one.
    Share,
}

impl Key {
    /// A row of the outermost table that has to have a value.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, bounds: Bounds, doc: &'static str) -> Self {
        Self {
            group: "",
            name,
            aliases: &[],
            kind,
            is_optional: false,
            bounds,
            doc,
        }
    }

    /// The whole name: `max_history_share`, `memory_flush.enabled`.
    #[must_use]
    pub fn path(&self) -> String {
        match self.group {
            "" => self.name.to_owned(),
            group => format!("{group}.{}", self.name),
        }
    }

    /// What it means, in a sentence or two.
    #[must_use]
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }

    /// Every way to write its name: the name and its aliases, each in snake_case, camelCase and PascalCase.
    pub fn spellings(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.name)
            .chain(self.aliases)
            .flat_map(|name| spellings(name))
    }

    /// What may stand there, for people.
    #[must_use]
    pub fn expected(&self) -> String {
        match (self.is_optional, self.kind) {
            (false, kind) => kind.to_string(),
            (true, Kind::Text) => format!("{} or null", self.kind),
            (true, _) => format!("{} or `auto`", self.kind),
        }
    }

    /// The value that a bare text stands for, such as a flag or an environment variable has it. A text that does not
    /// fit stays one, so that setting it fails with the usual message.
    #[must_use]
    pub fn value_of(&self, text: &str) -> Value {
        let trimmed = text.trim();
        let value = match self.kind {
            Kind::Switch => trimmed.parse().ok().map(Value::Switch),
            Kind::Whole => trimmed.replace('_', "").parse().ok().map(Value::Whole),
            Kind::Number => trimmed.parse().ok().map(Value::Number),
            Kind::Text | Kind::Choice(_) | Kind::Threshold => None,
        };
        value.unwrap_or_else(|| Value::Text(text.to_owned()))
    }
}

/// Two keys of one name are one key.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.group, self.name) == (other.group, other.name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("`true` or `false`"),
            Self::Whole => f.write_str("a whole number"),
            Self::Number => f.write_str("a number"),
            Self::Text => f.write_str("a text"),
            Self::Choice(words) => write!(f, "`{}`", words.join("` or `")),
            Self::Threshold => f.write_str("a threshold (`90%`, `100000`, `-20000`, `off`)"),
        }
    }
}

impl Bounds {
    /// Whether a number is inside.
    #[must_use]
    pub fn contains(self, number: f64) -> bool {
        match self {
            Self::Any => true,
            Self::AtLeast(least) => number >= least as f64,
            Self::Within(least, most) => (least..=most).contains(&number),
            Self::Share => number > 0.0 && number <= 1.0,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any number"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::Within(least, most) => write!(f, "from {least} to {most}"),
            Self::Share => f.write_str("above 0 and at most 1"),
        }
    }
}

/// A snake_case name as it is, in camelCase and in PascalCase.
///
/// ```
/// assert_eq!(epitome::settings::spellings("key_file"), ["key_file", "keyFile", "KeyFile"]);
/// ```
#[must_use]
pub fn spellings(name: &str) -> [String; 3] {
    let mut pascal = String::with_capacity(name.len());
    for word in name.split('_') {
        let mut letters = word.chars();
        pascal.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        pascal.push_str(letters.as_str());
    }
    let mut camel = pascal.clone();
    if let Some(first) = camel.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    [name.to_owned(), camel, pascal]
}

/// Whether `written` is `name` in one of the three spellings.
pub(crate) fn is_spelled(written: &str, name: &str) -> bool {
    spellings(name).iter().any(|spelling| spelling == written)
}
