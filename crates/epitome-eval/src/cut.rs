//! One cut of a session and what each method keeps across it.

use std::collections::HashSet;

use serde::Serialize;

use crate::context::{Context, Surroundings, found_by_search};
use crate::history::{History, as_float};
use crate::ident::Ident;
use crate::need::{Corpus, Needs, artifacts, rare_needs};
use crate::session::Speaker;
use crate::text::{length, tokens};
use crate::words::{content_words, visit_content_words, visit_rare_tokens};

/// With fewer needs a cut says nothing.
pub const LEAST_NEEDS: usize = 3;
/// Longer messages of the user are pasted text, not words to remember.
const SAID_CHARS: usize = 4_000;

/// A cut with everything that is asked of a context there.
#[derive(Debug)]
pub struct Cut {
    needs: Needs,
    artifacts: HashSet<Ident>,
    rare: HashSet<String>,
    said: HashSet<String>,
    found: Option<HashSet<Ident>>,
    surroundings: Surroundings,
}

/// Whether a recall search is tried at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// It is.
    Search,
    /// It is not.
    None,
}

/// What a context kept at a cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Kept {
    /// Tokens of the context.
    pub tokens: u64,
    /// Needs of the agent, and how many the context names.
    pub needs: Share,
    /// The same, with some of their surroundings.
    pub grounded: Share,
    /// The same for needs last mentioned long before the cut.
    pub far: Share,
    /// The same for symbols.
    pub symbols: Share,
    /// The same for plain tokens that few sessions share.
    pub rare: Share,
    /// Files changed before the cut, and how many the context names.
    pub artifacts: Share,
    /// Needs that the context names or a recall search finds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<Share>,
    /// The share of the user's words that the context has, where the user said anything.
    pub user_words: Option<f64>,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The part.
    pub part: usize,
    /// The whole.
    pub whole: usize,
}

impl Share {
    fn of<T>(wanted: &HashSet<T>, is_kept: impl Fn(&T) -> bool) -> Self {
        Self {
            part: wanted.iter().filter(|item| is_kept(item)).count(),
            whole: wanted.len(),
        }
    }
}

impl std::iter::Sum for Share {
    fn sum<I: Iterator<Item = Self>>(shares: I) -> Self {
        shares.fold(Self::default(), |sum, share| Self {
            part: sum.part + share.part,
            whole: sum.whole + share.whole,
        })
    }
}

impl Cut {
    /// Prepares a cut before message `at`; what comes from message `stop` on does not count. `None` when too little
    /// is needed there.
    #[must_use]
    pub fn of(
        history: &History,
        corpus: &Corpus,
        at: usize,
        stop: Option<usize>,
        recall: Recall,
    ) -> Option<Self> {
        let needs = Needs::after(history, at, stop);
        if needs.all.len() < LEAST_NEEDS {
            return None;
        }
        Some(Self {
            artifacts: artifacts(history, at),
            rare: rare_needs(history, corpus, at, stop),
            said: said(history, at),
            found: (recall == Recall::Search).then(|| found_by_search(history, at, &needs.all)),
            surroundings: Surroundings::before(history, at, &needs.all),
            needs,
        })
    }

    /// The needs of the agent after it.
    #[must_use]
    pub const fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Measures a context.
    #[must_use]
    pub fn measure(&self, context: &str) -> Kept {
        let size = tokens(context);
        let context = Context::of(context);
        let characters = context.characters();
        let user_words = found(&self.said, |visit| visit_content_words(characters, visit));
        let rare = found(&self.rare, |visit| visit_rare_tokens(characters, visit));
        let needs = &self.needs.all;
        Kept {
            tokens: size,
            needs: Share::of(needs, |ident| context.names(ident)),
            grounded: Share::of(needs, |ident| self.surroundings.ground(&context, ident)),
            far: Share::of(&self.needs.far, |ident| context.names(ident)),
            symbols: Share::of(&self.needs.symbols, |ident| context.names(ident)),
            rare,
            artifacts: Share::of(&self.artifacts, |ident| context.names(ident)),
            searched: self.found.as_ref().map(|found| {
                Share::of(needs, |ident| context.names(ident) || found.contains(ident))
            }),
            user_words: (user_words.whole > 0)
                .then(|| as_float(user_words.part as u64) / as_float(user_words.whole as u64)),
        }
    }
}

/// The content words of what the user said before a cut.
fn said(history: &History, at: usize) -> HashSet<String> {
    history
        .before(at)
        .filter(|(_, entry)| entry.role == Speaker::User && length(&entry.content) < SAID_CHARS)
        .flat_map(|(_, entry)| content_words(&entry.content.chars().collect::<Vec<_>>()))
        .collect()
}

/// How many of the wanted words are among those visited.
fn found(wanted: &HashSet<String>, visit_all: impl FnOnce(&mut dyn FnMut(&str))) -> Share {
    let mut there: HashSet<&String> = HashSet::new();
    visit_all(&mut |word| there.extend(wanted.get(word)));
    Share {
        part: there.len(),
        whole: wanted.len(),
    }
}
