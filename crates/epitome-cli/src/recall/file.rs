//! Looking in a file: its messages are put into a store in memory, and that one is asked.

use std::path::Path;

use anyhow::Result;
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
use crate::source::{self, Kind, Source};

/// The messages of one conversation of a file, and the compactions that the file records.
struct Read {
    messages: Vec<Message>,
    compactions: Vec<Recorded>,
}

pub(super) async fn search(
    path: &Path,
    name: &str,
    format: Format,
    query: &str,
    most: u32,
) -> Result<Found> {
    let conversations = read(path, name, format)?;
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
        Some(Hit {
            conversation: number + 1,
            session: None,
            position: u64::from(hit.position) + 1,
            role: Some(message.role.as_str()),
            key: None,
            score: hit.score,
            excerpt: excerpt(&searchable_text(message), query),
            covered_by: cover(&conversation.compactions, position),
        })
    });
    Ok(Found {
        hits: hits.collect(),
        several: conversations.len() > 1,
    })
}

fn read(path: &Path, name: &str, format: Format) -> Result<Vec<Read>> {
    let mut source = Source::open(path)?;
    match source.kind(format) {
        Kind::Session(format) => {
            let transcript = source.transcript(format)?;
            source::tell_problems(name, &transcript.problems);
            let conversations = transcript.conversations.into_iter();
            Ok(conversations
                .map(|one| Read {
                    messages: one.messages,
                    compactions: one.compactions,
                })
                .collect())
        }
        Kind::Body(wire) => {
            let detected = source.detected(wire)?;
            Ok(vec![Read {
                messages: source::messages(&detected.body)?,
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
