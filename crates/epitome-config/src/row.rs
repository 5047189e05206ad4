//! What is known of one setting of a section.

use std::fmt;

use epitome::settings::{Bounds, Kind};

/// One setting of a section: the counterpart of [`epitome::settings::Key`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The section it stands in: `summarizer`, `summarizer.spend`.
    pub section: &'static str,
    /// Its name there, in snake_case.
    pub name: &'static str,
    /// What may stand there.
    pub form: Form,
    /// Whether it may be left open: `auto`, or an empty text.
    pub is_optional: bool,
    /// How large it may be.
    pub bounds: Bounds,
    /// Who may set it.
    pub set_by: SetBy,
    pub(crate) doc: &'static str,
}

/// Who may set a setting. A setting that says nothing is its owner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetBy {
    /// The user: in the system's or the user's file, in one that is named, in the environment, with a flag, or in a
    /// project that was trusted.
    Owner,
    /// Any project too, by a file found in the working folder or above it.
    Project,
}

/// What may stand at a [`Row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// As the settings of the presets have it.
    Plain(Kind),
    /// A URL or the like; it may hold a password and is never shown as it is.
    Address,
    /// A file or folder; a relative one starts at the folder of the file it is written in.
    Path,
    /// The name of an environment variable.
    Variable,
    /// An IP address and a port.
    Socket,
    /// A program and its arguments.
    Command,
    /// A list of texts.
    Texts,
    /// A list of digests of keys.
    Digests,
}

impl Row {
    /// The whole name: `summarizer.url`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// What it means, in a sentence or two.
    #[must_use]
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }

    /// What may stand there, for people.
    #[must_use]
    pub fn expected(&self) -> String {
        match (self.is_optional, self.form) {
            (true, Form::Plain(kind)) if kind != Kind::Text => format!("{kind} or `auto`"),
            (_, form) => form.to_string(),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(kind) => kind.fmt(f),
            Self::Address => f.write_str("an address"),
            Self::Path => f.write_str("a path"),
            Self::Variable => {
                f.write_str("the name of an environment variable (letters, digits and `_`)")
            }
            Self::Socket => f.write_str("an IP address and a port, such as `127.0.0.1:7700`"),
            Self::Command => f.write_str("a list of texts: a program and its arguments"),
            Self::Texts => f.write_str("a list of texts"),
            Self::Digests => f.write_str(
                "a list of digests of keys, which `epitome config key` prints: `epitome:` and 64 digits",
            ),
        }
    }
}
