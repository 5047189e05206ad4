//! Original entries, found by their words.

use epitome_store::{
    AnyStore, CompactionRow, Compactions, ConversationId, Entries, EntryRow, Search, SearchScope,
    TenantId,
};
use epitome_wire::{Wire, decode, json, searchable_entry};
use serde_json::{Value, json};

use super::span::span;
use super::{ArchiveError, path};

/// How much of an entry is shown.
const EXCERPT_CHARS: usize = 160;
/// How much of that stands before the first word that was found.
const BEFORE_CHARS: usize = 40;

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub enum Within<'a> {
    /// In what one conversation leads through.
    Conversation(&'a ConversationId),
    /// In everything that a tenant has.
    Tenant,
}

/// What was found, the best first.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The entries.
    pub hits: Vec<Hit>,
    /// Whether the conversation of a hit must be named.
    pub several: bool,
}

/// An entry that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Which conversation of a file, from 1.
    pub conversation: usize,
    /// The stored conversation that was the first to have it.
    pub session: Option<String>,
    /// Which entry, from 1.
    pub position: u64,
    /// Who speaks, where it can be told.
    pub role: Option<&'static str>,
    /// The key of a stored entry.
    pub key: Option<String>,
    /// How good it is.
    pub score: f64,
    /// A piece of it around the first word that was found.
    pub excerpt: String,
    /// What stands for it.
    pub covered_by: Option<Cover>,
}

/// The compaction whose summary stands for an entry.
#[derive(Clone, Debug)]
pub struct Cover {
    /// A stored compaction's id, or where it stands in its file.
    pub name: String,
    /// Its text.
    pub summary: String,
}

impl Hit {
    /// The hit as `recall --json` and the control API print it.
    #[must_use]
    pub fn object(&self) -> Value {
        let cover = self.covered_by.as_ref();
        let covered_by =
            cover.map(|cover| json!({ "compaction": cover.name, "summary": cover.summary }));
        json!({
            "conversation": self.conversation,
            "session": self.session,
            "position": self.position,
            "role": self.role,
            "entry": self.key,
            "score": self.score,
            "excerpt": self.excerpt,
            "covered_by": covered_by,
        })
    }
}

/// Looks for the words of `query`. `None` when there is no such conversation.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn recall(
    store: &AnyStore,
    tenant: &TenantId,
    within: Within<'_>,
    query: &str,
    most: u32,
) -> Result<Option<Found>, ArchiveError> {
    let (scope, compactions) = match within {
        Within::Tenant => (SearchScope::Tenant, Vec::new()),
        Within::Conversation(id) => {
            let path = path(store, tenant, id).await?;
            let Some(end) = path.last() else {
                return Ok(None);
            };
            let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
            let compactions = store.compactions_at(tenant, &nodes).await?;
            (SearchScope::Branch(end.digest), compactions)
        }
    };
    let found = store.search(tenant, &scope, query, most).await?;
    let covering = Covering::of(&compactions);
    let mut hits = Vec::new();
    for hit in found {
        let Some(entry) = store.entry(tenant, hit.entry).await? else {
            continue;
        };
        let text = searchable_entry(&entry.wire, &entry.raw)
            .unwrap_or_else(|| String::from_utf8_lossy(&entry.raw).into_owned());
        hits.push(Hit {
            conversation: 1,
            session: Some(hit.conversation.to_string()),
            position: u64::from(hit.position) + 1,
            role: role(&entry),
            key: Some(hit.entry.to_string()),
            score: hit.score,
            excerpt: excerpt(&text, query),
            covered_by: cover(&covering, hit.position),
        });
    }
    let several = matches!(within, Within::Tenant);
    Ok(Some(Found { hits, several }))
}

pub(super) fn role(entry: &EntryRow) -> Option<&'static str> {
    let wire = Wire::ALL.iter().find(|wire| wire.as_str() == entry.wire)?;
    let value = json::read(&entry.raw).ok()?;
    Some(decode(*wire, &value).ok()?.message.role.as_str())
}

/// Compactions with the entries that each stands for.
pub(super) struct Covering<'a>(Vec<(std::ops::Range<u32>, &'a CompactionRow)>);

impl<'a> Covering<'a> {
    pub(super) fn of(compactions: impl IntoIterator<Item = &'a CompactionRow>) -> Self {
        let rows = compactions.into_iter();
        Self(rows.map(|row| (span(row), row)).collect())
    }

    /// The newest compaction that stands for the entry at `position`, from 0.
    pub(super) fn at(&self, position: u32) -> Option<&'a CompactionRow> {
        let mut rows = self.0.iter().rev();
        let found = rows.find(|(covered, _)| covered.contains(&position));
        found.map(|(_, row)| *row)
    }
}

fn cover(covering: &Covering<'_>, position: u32) -> Option<Cover> {
    let row = covering.at(position)?;
    Some(Cover {
        name: row.id.clone(),
        summary: row.summary.clone(),
    })
}

/// A piece of `text` around the first of the query's words, on one line.
#[must_use]
pub fn excerpt(text: &str, query: &str) -> String {
    let lower = text.to_lowercase();
    let words = query.split(|one: char| !one.is_alphanumeric());
    let found = words
        .filter(|word| !word.is_empty())
        .filter_map(|word| lower.find(&word.to_lowercase()))
        .min();
    // Lower case may have another length, so that this is where the word stands only roughly.
    let at = found.map_or(0, |at| lower.get(..at).unwrap_or_default().chars().count());
    let skipped = at.saturating_sub(BEFORE_CHARS);
    let rest: String = text.chars().skip(skipped).take(4 * EXCERPT_CHARS).collect();
    // Half a word reads like a name of something else.
    let before = skipped.checked_sub(1).and_then(|at| text.chars().nth(at));
    let is_cut = before.is_some_and(|before| !before.is_whitespace());
    let near = rest.char_indices().take(at - skipped).filter(|_| is_cut);
    let begins = near
        .filter(|(_, one)| one.is_whitespace())
        .map(|(at, _)| at)
        .next();
    let line = one_line(
        rest.get(begins.unwrap_or(0)..).unwrap_or(&rest),
        EXCERPT_CHARS,
    );
    match skipped {
        0 => line,
        _ => format!("…{line}"),
    }
}

/// A text on one line of at most `chars` characters.
#[must_use]
pub fn one_line(text: &str, chars: usize) -> String {
    let words = text.split(|one: char| one.is_whitespace() || one.is_control());
    let line: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let line = line.join(" ");
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}
