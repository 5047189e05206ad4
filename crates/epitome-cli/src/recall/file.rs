//! Looking in files: their messages are put into a store in memory, and that one is asked.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use epitome::Message;
use epitome_engine::archive::{Cover, Found, Hit, excerpt};
use epitome_files::{Kept, Recorded};
use epitome_store::{
    Append, ConversationId, Digest, Entries, EntryRow, EntryWords, NewConversation, NodeRow,
    Search, SearchScope, SqliteStore, TenantId,
};
use epitome_wire::searchable_text;

use crate::args::Format;
use crate::folder;
use crate::source::{self, Kind, Source};

/// The messages of one conversation of a file, and the compactions that the file records.
struct Read {
    /// Which file, of those that are looked in.
    file: usize,
    /// Which conversation of its file, from 1.
    number: usize,
    messages: Vec<Message>,
    /// When each message was written, where the file says so.
    times: Vec<Option<u64>>,
    compactions: Vec<Recorded>,
}

/// Where something was found, beside which entry it is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    /// In milliseconds since 1970.
    pub(super) at_ms: Option<u64>,
}

/// The entries, and where each of them is.
pub(super) struct FoundInFiles {
    pub(super) found: Found,
    pub(super) places: Vec<Place>,
    /// How many of several files could not be read.
    pub(super) unread_files: u64,
}

/// What is wrong with one of several files is no reason to look in none.
pub(super) async fn search(
    files: &[PathBuf],
    format: Format,
    query: &str,
    most: u32,
    is_shown: bool,
) -> Result<FoundInFiles> {
    let read = folder::all(files, is_shown, |path| {
        let name = path.display().to_string();
        read(path, &name, format, files.len() == 1).with_context(|| name)
    });
    let unread_files = read.iter().filter(|read| read.is_err()).count() as u64;
    let conversations = match files.len() {
        1 => read.into_iter().collect::<Result<Vec<_>>>()?,
        _ => read.into_iter().map(Result::unwrap_or_default).collect(),
    };
    let conversations: Vec<Read> = (0..)
        .zip(conversations)
        .flat_map(|(file, conversations)| {
            conversations
                .into_iter()
                .map(move |one| Read { file, ..one })
        })
        .collect();
    let store = SqliteStore::in_memory().await?;
    let tenant = TenantId::local();
    for (number, conversation) in conversations.iter().enumerate() {
        store
            .append(&tenant, &append(number, &conversation.messages))
            .await?;
    }
    let found = store
        .search(&tenant, &SearchScope::Tenant, query, most)
        .await?;
    let hits = found.into_iter().filter_map(|hit| {
        let number = usize::from_str_radix(hit.conversation.as_str(), 16).ok()?;
        let conversation = conversations.get(number)?;
        let position = usize::try_from(hit.position).ok()?;
        let message = conversation.messages.get(position)?;
        let place = Place {
            file: files.get(conversation.file)?.clone(),
            at_ms: conversation.times.get(position).copied().flatten(),
        };
        let hit = Hit {
            conversation: conversation.number,
            session: None,
            position: u64::from(hit.position) + 1,
            role: Some(message.role.as_str()),
            key: None,
            score: hit.score,
            excerpt: excerpt(&searchable_text(message), query),
            covered_by: cover(&conversation.compactions, position),
        };
        Some((hit, place))
    });
    let (hits, places) = hits.unzip();
    let several = conversations.iter().any(|one| one.number > 1);
    Ok(FoundInFiles {
        found: Found { hits, several },
        places,
        unread_files,
    })
}

fn read(path: &Path, name: &str, format: Format, is_only: bool) -> Result<Vec<Read>> {
    let mut source = Source::open(path)?;
    match source.kind(format) {
        Kind::Session(format) => {
            let transcript = source.transcript(format)?;
            if is_only {
                source::tell_problems(name, &transcript.problems);
            }
            let conversations = transcript.conversations.into_iter().enumerate();
            Ok(conversations
                .map(|(at, one)| Read {
                    file: 0,
                    number: at + 1,
                    messages: one.messages,
                    times: one.origins.iter().map(|origin| origin.at_ms).collect(),
                    compactions: one.compactions,
                })
                .collect())
        }
        Kind::Body(wire) => {
            let detected = source.detected(wire)?;
            Ok(vec![Read {
                file: 0,
                number: 1,
                messages: source::messages(&detected.body)?,
                times: Vec::new(),
                compactions: Vec::new(),
            }])
        }
    }
}

/// A message in its place is an entry of its own here: its digest is that of the place, and its bytes stay in the file.
fn append(number: usize, messages: &[Message]) -> Append {
    let id = ConversationId::from_number(number as u128);
    let place = |position: usize| Digest::of(format!("{id} {position}").as_bytes());
    let node = |position: usize| NodeRow {
        digest: place(position),
        parent: position.checked_sub(1).map(place),
        entry: place(position),
        position: u32::try_from(position).unwrap_or(u32::MAX),
        conversation: id.clone(),
    };
    let entry = |position: usize| EntryRow {
        key: place(position),
        raw: Bytes::new(),
        wire: String::new(),
        tokens: 0,
    };
    let words = messages
        .iter()
        .enumerate()
        .map(|(position, message)| EntryWords {
            key: place(position),
            text: searchable_text(message),
        });
    Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: None,
            label: None,
            created_ms: 0,
        },
        entries: (0..messages.len()).map(entry).collect(),
        nodes: (0..messages.len()).map(node).collect(),
        words: words.collect(),
        touched_ms: 0,
    }
}

/// The newest compaction of the file that took the message at `position` out of view.
fn cover(compactions: &[Recorded], position: usize) -> Option<Cover> {
    let covers = |one: &&Recorded| match one.kept {
        Kept::From(first) => position < first.min(one.at),
        Kept::Nothing | Kept::Replaced(_) => position < one.at,
    };
    let recorded = compactions.iter().rev().find(covers)?;
    Some(Cover {
        name: recorded.origin.position.to_string(),
        summary: recorded.summary.clone(),
    })
}
