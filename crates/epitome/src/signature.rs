//! How a summary of this engine is known again: a mark with the digest and the length of what follows.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::digest::Digest;
use crate::reference::vibe;

/// Begins every summary of this engine.
pub(crate) const MARK: &str = "[Conversation summary, epitome 1, ";
const MARK_END: &str = "]";
const DIGEST_HEX: usize = 32;
/// Stands above the instructions that a summary carries.
pub(crate) const PINS_HEADING: &str = "## Instructions of the user that are in force (verbatim)";

/// A body with the mark in front of it that says whose it is.
pub(crate) fn sign(body: &str) -> String {
    format!(
        "{MARK}{} {}{MARK_END}\n{body}",
        short_digest(body),
        body.len()
    )
}

fn short_digest(body: &str) -> String {
    let mut hex = Digest::of(body.as_bytes()).to_string();
    hex.truncate(DIGEST_HEX);
    hex
}

/// Whether `text` is a summary of this engine, unaltered. Anything else is plain text. Only the last request of
/// the user may stand behind it, where `vibe` puts it.
#[must_use]
pub fn is_own(text: &str) -> bool {
    text.starts_with(MARK)
        && split_body(text).is_some_and(|(_, behind)| {
            behind.is_empty()
                || behind
                    .trim_start_matches('\n')
                    .starts_with(vibe::LAST_REQUEST)
        })
}

/// A summary of ours inside a text, where a design puts it: what stands around it was typed.
pub(crate) struct Embedded<'a> {
    /// What stands before it.
    pub(crate) before: &'a str,
    /// The instructions it carries.
    pub(crate) pins: Vec<String>,
    /// What stands behind it.
    pub(crate) behind: &'a str,
}

impl<'a> Embedded<'a> {
    /// The first unaltered summary in `text`.
    pub(crate) fn find(text: &'a str) -> Option<Self> {
        let (body, behind) = split_body(text)?;
        Some(Self {
            before: text.split(MARK).next().unwrap_or_default(),
            pins: pins(body).map(str::to_owned).collect(),
            behind,
        })
    }
}

/// The body of the first summary in `text`, if nobody has altered it, and what stands behind it.
pub(crate) fn split_body(text: &str) -> Option<(&str, &str)> {
    static MARKS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));
    let start = MARKS.find(text.as_bytes())?;
    let (head, rest) = text.get(start + MARK.len()..)?.split_once("]\n")?;
    let (digest, length) = head.split_once(' ')?;
    let (body, behind) = rest.split_at_checked(length.parse().ok()?)?;
    (digest == short_digest(body)).then_some((body, behind))
}

/// The instructions that the body of a summary carries.
pub(crate) fn pins(body: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    body.lines().filter_map(move |line| {
        if line.starts_with("## ") {
            is_inside = line == PINS_HEADING;
        }
        line.strip_prefix("- ").filter(|_| is_inside)
    })
}
