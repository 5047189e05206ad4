//! A session prepared for measuring: visible texts, their identifiers and sizes, and where it may be cut.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::arguments::flat;
use crate::ident::Ident;
use crate::lines::{Line, PlainLines};
use crate::prepared::{Aside, Prepared};
use crate::scan::idents;
use crate::session::{Entry, Session, Speaker};
use crate::text::tokens;
use crate::words::rare_tokens;

/// Tokens every message takes besides its text.
pub(crate) const MESSAGE_TOKENS: u64 = 4;
/// How far from the wanted place a legal cut is looked for.
const CUT_REACH: usize = 60;

/// A session with everything derived from it that more than one measure needs.
#[derive(Debug)]
pub struct History {
    /// What was said.
    pub entries: Vec<Entry>,
    /// The visible text of every message: content, then tool names and the values of their arguments.
    pub texts: Vec<String>,
    /// The identifiers of every message.
    pub idents: Vec<HashSet<Ident>>,
    /// Tokens before every message; the last item is the total.
    pub tokens_before: Vec<u64>,
    rare: OnceLock<Vec<HashSet<String>>>,
    lines: OnceLock<Vec<Vec<Line>>>,
    plain_lines: OnceLock<PlainLines>,
    without_system: OnceLock<Prepared>,
    with_system: OnceLock<Prepared>,
}

impl History {
    /// Prepares a session.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        Self::of_entries(session.messages.clone())
    }

    /// Prepares messages.
    #[must_use]
    pub fn of_entries(entries: Vec<Entry>) -> Self {
        let texts: Vec<String> = entries.iter().map(visible).collect();
        let idents = texts.iter().map(|text| idents(text)).collect();
        let mut total = 0;
        let mut tokens_before = vec![0];
        for text in &texts {
            total += tokens(text) + MESSAGE_TOKENS;
            tokens_before.push(total);
        }
        Self {
            entries,
            texts,
            idents,
            tokens_before,
            rare: OnceLock::new(),
            lines: OnceLock::new(),
            plain_lines: OnceLock::new(),
            without_system: OnceLock::new(),
            with_system: OnceLock::new(),
        }
    }

    /// How many messages there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tokens of the messages before `at`.
    #[must_use]
    pub fn tokens_before(&self, at: usize) -> u64 {
        self.tokens_before
            .get(at)
            .or_else(|| self.tokens_before.last())
            .copied()
            .unwrap_or(0)
    }

    /// Tokens of everything.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.tokens_before(self.len())
    }

    /// Who speaks at `at`.
    #[must_use]
    pub fn role(&self, at: usize) -> Option<Speaker> {
        self.entries.get(at).map(|entry| entry.role)
    }

    pub(crate) fn text(&self, at: usize) -> &str {
        self.texts.get(at).map_or("", String::as_str)
    }

    /// The messages before `at`, with their positions.
    pub(crate) fn before(&self, at: usize) -> impl DoubleEndedIterator<Item = (usize, &Entry)> {
        let entries = self.entries.get(..at).unwrap_or(&self.entries);
        entries.iter().enumerate()
    }

    /// Whether the history may be cut before message `at`: no call is answered across the cut.
    #[must_use]
    pub fn is_legal_cut(&self, at: usize) -> bool {
        let Some((before, behind)) = self.entries.split_at_checked(at) else {
            return false;
        };
        if at <= 1 || behind.first().is_none_or(|m| m.role == Speaker::Tool) {
            return false;
        }
        let mut open: HashSet<&str> = HashSet::new();
        for entry in before {
            open.extend(entry.tool_calls.iter().map(|call| call.id.as_str()));
            if let Some(answered) = answered(entry) {
                open.remove(answered);
            }
        }
        !behind
            .iter()
            .filter_map(answered)
            .any(|call| open.contains(call))
    }

    /// The legal cut nearest to a share of the tokens; of two that are equally near, the later one.
    #[must_use]
    pub fn cut_at_share(&self, share: f64) -> Option<usize> {
        let wanted = self.first_at_tokens(share * as_float(self.total_tokens()), self.len());
        (0..CUT_REACH)
            .flat_map(|distance| [wanted.checked_add(distance), wanted.checked_sub(distance)])
            .flatten()
            .find(|at| self.is_legal_cut(*at))
    }

    /// The first position up to `last` with at least so many tokens before it.
    pub(crate) fn first_at_tokens(&self, tokens: f64, last: usize) -> usize {
        (0..=last)
            .find(|at| as_float(self.tokens_before(*at)) >= tokens)
            .unwrap_or(last)
    }

    /// The plain tokens of every message.
    pub(crate) fn rare(&self) -> &[HashSet<String>] {
        self.rare.get_or_init(|| {
            let texts = self.texts.iter();
            texts
                .map(|text| rare_tokens(&text.chars().collect::<Vec<_>>()))
                .collect()
        })
    }

    /// The lines of every message that name something.
    pub(crate) fn lines(&self) -> &[Vec<Line>] {
        self.lines
            .get_or_init(|| self.texts.iter().map(|text| Line::all(text)).collect())
    }

    /// All lines that are worth choosing.
    pub(crate) fn plain_lines(&self) -> &PlainLines {
        self.plain_lines.get_or_init(|| {
            let said = self.before(self.len());
            let said = said.filter(|(_, entry)| entry.role != Speaker::System);
            PlainLines::of(said.map(|(position, _)| (position, self.text(position))))
        })
    }

    /// The history as the built-in summariser reads it.
    pub(crate) fn prepared(&self, aside: Aside) -> &Prepared {
        let prepared = match aside {
            Aside::System => &self.without_system,
            Aside::Nothing => &self.with_system,
        };
        prepared.get_or_init(|| Prepared::of(&self.entries, aside))
    }
}

fn answered(entry: &Entry) -> Option<&str> {
    match entry.role {
        Speaker::Tool => entry.tool_call_id.as_deref(),
        _ => None,
    }
}

/// What of a message can be seen.
pub(crate) fn visible(entry: &Entry) -> String {
    let mut text = entry.content.clone();
    for call in &entry.tool_calls {
        text.push('\n');
        text.push_str(&call.name);
        text.push(' ');
        text.push_str(&flat(&call.arguments));
    }
    text
}

/// Token counts are far below the 52 bits that a float holds exactly.
pub(crate) const fn as_float(count: u64) -> f64 {
    count as f64
}
