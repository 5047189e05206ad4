use epitome_store::{Append, CountedRequests as _, EntryRow, NewConversation};

use super::*;
use crate::index::{Counted, Index};

fn digest(at: usize) -> Digest {
    Digest::of(format!("link {at}").as_bytes())
}

/// A store that knows `known` links of a chain.
async fn store(known: usize) -> (AnyStore, TenantId) {
    let store = AnyStore::open(&epitome_testkit::stores::fresh())
        .await
        .unwrap();
    let tenant = TenantId::local();
    let id = ConversationId::from_number(1);
    let key = Digest::of(b"entry");
    let node = |at: usize| NodeRow {
        digest: digest(at),
        parent: at.checked_sub(1).map(digest),
        entry: key,
        position: u32::try_from(at).unwrap(),
        conversation: id.clone(),
    };
    let append = Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: None,
            label: None,
            created_ms: 0,
        },
        entries: vec![EntryRow {
            key,
            raw: b"{}".as_slice().into(),
            wire: "openai-chat".to_owned(),
            tokens: 1,
        }],
        nodes: (0..known).map(node).collect(),
        words: Vec::new(),
        touched_ms: 0,
    };
    store.append(&tenant, &append).await.unwrap();
    (store, tenant)
}

#[tokio::test]
async fn the_last_known_link_is_found_wherever_it_is() {
    let chain: Vec<Digest> = (0..5_000).map(digest).collect();
    for known in [
        0, 1, 2, 31, 32, 33, 155, 156, 157, 1_024, 4_967, 4_968, 4_969, 5_000,
    ] {
        let (store, tenant) = store(known).await;
        let found = look_up(&store, &tenant, &chain).await.unwrap();
        assert_eq!(found.known_links, known);
        let found = found.nodes;
        let last = found.iter().map(|node| node.position as usize + 1).max();
        assert_eq!(last.unwrap_or(0), known);
        assert!(found.len() <= LINKS, "{known}: {}", found.len());
    }
}

#[tokio::test]
async fn short_chains_take_one_question() {
    let (store, tenant) = store(3).await;
    let chain: Vec<Digest> = (0..7).map(digest).collect();
    let found = look_up(&store, &tenant, &chain).await.unwrap();
    assert_eq!((found.nodes.len(), found.known_links), (3, 3));
    let found = look_up(&store, &tenant, &[]).await.unwrap();
    assert_eq!(found.nodes, []);
}

#[tokio::test]
async fn counts_are_looked_for_where_the_known_links_end() {
    let chain: Vec<Digest> = (0..200).map(digest).collect();
    for known in [2, 17, 100, 180, 200] {
        let (store, tenant) = store(known).await;
        let row = |at: usize| CountedRow {
            node: digest(at),
            conversation: ConversationId::from_number(1),
            kind: 7,
            compaction: None,
            real_tokens: at as u64,
            estimated_tokens: 1,
            at_ms: 1,
        };
        let last = known.min(chain.len() - 1) - 1;
        let rows = [row(last), row(chain.len() - 1)];
        store.keep_counted(&tenant, &rows).await.unwrap();
        let found = look_up(&store, &tenant, &chain).await.unwrap();
        assert_eq!(found.known_links, known);
        assert_eq!(found.counted, [row(last)], "{known}");
        // All are taken over, also where few of the links themselves were found.
        let index = Index::default();
        let links = found.nodes.into_iter();
        index.learn(links.map(|node| (node.digest, node.conversation)));
        index.learn_counted(found.counted);
        let chain: Vec<_> = chain.iter().copied().enumerate().collect();
        let counts = index.counts(&chain, known, 7);
        assert_eq!(counts, [Counted::from(row(last))], "{known}");
    }
}
