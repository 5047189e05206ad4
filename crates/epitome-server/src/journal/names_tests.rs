use epitome_store::{Conversations as _, EntryRow, NewConversation, NodeRow};

use super::*;

fn id(number: u128) -> ConversationId {
    ConversationId::from_number(number)
}

fn chain(names: &[&str]) -> Vec<(usize, Digest)> {
    let digests = names.iter().map(|name| Digest::of(name.as_bytes()));
    digests.enumerate().collect()
}

/// What a node writes when a request with these messages came, of which `known` were written before.
fn append(conversation: &ConversationId, names: &[&str], known: usize) -> Append {
    let links = chain(names);
    let node = |at: usize| NodeRow {
        digest: links[at].1,
        parent: at.checked_sub(1).map(|before| links[before].1),
        entry: links[at].1,
        position: u32::try_from(at).unwrap(),
        conversation: conversation.clone(),
    };
    let entry = |at: usize| EntryRow {
        key: links[at].1,
        raw: names[at].to_owned().into(),
        wire: "openai-chat".to_owned(),
        tokens: 1,
    };
    Append {
        conversation: NewConversation {
            id: conversation.clone(),
            parent: None,
            label: Some(names.join(" ")),
            created_ms: 0,
        },
        entries: (known..names.len()).map(entry).collect(),
        nodes: (known..names.len()).map(node).collect(),
        words: Vec::new(),
        touched_ms: 0,
    }
}

/// A node, as far as conversations have names.
struct Node<'s> {
    index: Index,
    store: &'s AnyStore,
}

impl<'s> Node<'s> {
    fn on(store: &'s AnyStore) -> Self {
        let index = Index::default();
        Self { index, store }
    }

    /// A request that this node did not learn anything about from the store, written at once.
    async fn stores(&self, fresh: u128, names: &[&str]) -> ConversationId {
        self.stores_kind(fresh, names, 7).await
    }

    async fn stores_kind(&self, fresh: u128, names: &[&str], kind: u64) -> ConversationId {
        let place = self.index.attach(&chain(names), id(fresh), kind, 1);
        let mut appends = [append(&place.conversation, names, place.queued_links)];
        let tenant = TenantId::local();
        settle(self.store, &tenant, &self.index, &mut appends)
            .await
            .unwrap();
        self.store.append(&tenant, &appends[0]).await.unwrap();
        let links = appends[0].nodes.iter().map(|node| node.digest);
        self.index.mark(links, crate::index::Written::Stored);
        appends[0].conversation.id.clone()
    }
}

async fn store() -> AnyStore {
    let location = epitome_testkit::stores::fresh();
    AnyStore::open(&location).await.unwrap()
}

async fn names_of_all(store: &AnyStore) -> Vec<ConversationId> {
    let rows = store.conversations(&TenantId::local(), 100).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn what_another_node_began_keeps_its_name() {
    let store = store().await;
    let (first, second) = (Node::on(&store), Node::on(&store));
    assert_eq!(first.stores(1, &["a", "b"]).await, id(1));
    assert_eq!(second.stores(2, &["a", "b", "c", "d"]).await, id(1));
    // Both go on under that name.
    assert_eq!(first.stores(3, &["a", "b", "c", "d", "e"]).await, id(1));
    let longer = ["a", "b", "c", "d", "e", "f"];
    assert_eq!(second.stores(4, &longer).await, id(1));
    assert_eq!(names_of_all(&store).await, [id(1)]);
}

#[tokio::test]
async fn whoever_writes_first_names_it() {
    let store = store().await;
    let (first, second) = (Node::on(&store), Node::on(&store));
    // The first request is still on its way when the second one is stored.
    let late = first.index.attach(&chain(&["a", "b"]), id(1), 7, 1);
    assert_eq!(second.stores(2, &["a", "b", "c"]).await, id(2));
    let mut appends = [
        append(&late.conversation, &["a", "b"], 0),
        append(&late.conversation, &["a", "b", "c", "d"], 2),
    ];
    settle(&store, &TenantId::local(), &first.index, &mut appends)
        .await
        .unwrap();
    for append in &appends {
        assert_eq!(append.conversation.id, id(2));
        assert!(append.nodes.iter().all(|node| node.conversation == id(2)));
        assert_eq!(
            append.conversation.label, None,
            "the title is not written anew"
        );
    }
    assert_eq!(first.index.name_of(id(1)), id(2));
}

#[tokio::test]
async fn two_programs_at_once_with_the_same_first_words_stay_apart() {
    let store = store().await;
    let node = Node::on(&store);
    // Both begin before anything is stored, and the second one is stored first.
    let first = node.index.attach(&chain(&["a"]), id(1), 7, 1);
    let twin = node.index.attach(&chain(&["a"]), id(2), 8, 2);
    assert_eq!((&first.conversation, &twin.conversation), (&id(1), &id(2)));
    let written = append(&twin.conversation, &["a"], 0);
    store.append(&TenantId::local(), &written).await.unwrap();
    let mut appends = [append(&first.conversation, &["a"], 0)];
    settle(&store, &TenantId::local(), &node.index, &mut appends)
        .await
        .unwrap();
    assert_eq!(appends[0].conversation.id, id(1));
    assert_eq!(node.index.name_of(id(1)), id(1));
}

#[tokio::test]
async fn another_program_with_the_same_first_words_stays_apart() {
    let store = store().await;
    let node = Node::on(&store);
    assert_eq!(node.stores_kind(1, &["a"], 7).await, id(1));
    // Nothing of the first one was marked as stored here, so the second one brings all of it again.
    let twin = node.index.attach(&chain(&["a"]), id(2), 8, 2);
    assert_eq!(twin.conversation, id(2));
    let mut appends = [append(&twin.conversation, &["a", "x"], 0)];
    settle(&store, &TenantId::local(), &node.index, &mut appends)
        .await
        .unwrap();
    assert_eq!(appends[0].conversation.id, id(2));
}
