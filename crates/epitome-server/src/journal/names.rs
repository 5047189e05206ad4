//! Under which name is it stored? A request whose look-up found nothing in time begins a conversation of its own, although another
//! node, or this one before it was started again, may have begun it long ago. Whoever writes has the time to ask once more.

use std::collections::HashMap;

use epitome::Digest;
use epitome_store::{AnyStore, Append, ConversationId, Entries, Result, TenantId};

use crate::index::Index;

/// Gives conversations that this node took for new ones the names under which the store knows them.
///
/// # Errors
/// What the store says; then they are called as they were.
pub(super) async fn settle(
    store: &AnyStore,
    tenant: &TenantId,
    index: &Index,
    appends: &mut [Append],
) -> Result<()> {
    let asked = ask(store, tenant, index, appends).await;
    for append in appends {
        let known = index.name_of(append.conversation.id.clone());
        rename(append, known);
        let parent = append.conversation.parent.take();
        append.conversation.parent = parent.map(|parent| index.name_of(parent));
    }
    asked
}

/// Notes which of the conversations that begin here are known to the store.
async fn ask(store: &AnyStore, tenant: &TenantId, index: &Index, appends: &[Append]) -> Result<()> {
    let begun = appends.iter().filter(|append| is_begun(index, append));
    let begun: Vec<&Append> = begun.collect();
    if begun.is_empty() {
        return Ok(());
    }
    let links_of_all: Vec<Digest> = begun.iter().copied().flat_map(links).collect();
    let stored = store.find_nodes(tenant, &links_of_all).await?;
    let owners: HashMap<Digest, ConversationId> = stored
        .into_iter()
        .map(|node| (node.digest, node.conversation))
        .collect();
    for append in begun {
        if let Some(known) = links(append).filter_map(|link| owners.get(&link)).last() {
            index.rename(&append.conversation.id, known);
        }
    }
    Ok(())
}

/// The links of an append, as they follow each other.
fn links(append: &Append) -> impl Iterator<Item = Digest> {
    append.nodes.iter().map(|node| node.digest)
}

/// Whether it is the beginning of a conversation of which nothing was known.
fn is_begun(index: &Index, append: &Append) -> bool {
    let first = append.nodes.first().filter(|node| node.position == 0);
    first.is_some_and(|node| {
        append.conversation.parent.is_none()
            && index.is_begun_by(&append.conversation.id, &node.digest)
    })
}

fn rename(append: &mut Append, known: ConversationId) {
    if append.conversation.id == known {
        return;
    }
    for node in &mut append.nodes {
        node.conversation = known.clone();
    }
    append.conversation.id = known;
    // What is stored has a title.
    append.conversation.label = None;
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
