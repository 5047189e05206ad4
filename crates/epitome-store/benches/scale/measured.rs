//! The calls that are measured.

use std::time::{Duration, Instant};

use epitome_store::{
    AnyStore, Changes, Committed, Compactions, Conversations, Digest, Entries, Pins, Search,
    SearchScope, Store, TenantId,
};

use crate::Filled;
use crate::filling::{COVERED, MESSAGES, compaction, id, node, talk};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Call {
    /// The store itself.
    OpenStore,
    /// All that an engine reads when it goes on with a conversation.
    Open,
    /// What a proxy asks before it decides, when it does not know the conversation.
    Decide,
    /// A compaction with the span that it covers, and that it is in use.
    Publish,
    /// Words that many messages of every conversation have, in one of them.
    RecallCommon,
    /// A word of this conversation alone, beside a common one, on the way to its last message.
    RecallRare,
}

pub(crate) const CALLS: [Call; 6] = [
    Call::OpenStore,
    Call::Open,
    Call::Decide,
    Call::Publish,
    Call::RecallCommon,
    Call::RecallRare,
];

impl Call {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenStore => "open the store",
            Self::Open => "open a conversation",
            Self::Decide => "decide",
            Self::Publish => "publish",
            Self::RecallCommon => "recall in it, common words",
            Self::RecallRare => "recall in it, a rare word",
        }
    }

    pub(crate) const fn times(self) -> u64 {
        match self {
            Self::OpenStore => 20,
            _ => 200,
        }
    }
}

/// How long a call takes for one of the conversations; which one goes by `at`.
pub(crate) async fn once(call: Call, filled: &Filled, at: u64) -> Duration {
    let number = at * 7_919 % filled.conversations;
    let (store, tenant) = (&filled.store, TenantId::local());
    let tip = node(number, MESSAGES - 1);
    let started = Instant::now();
    match call {
        Call::OpenStore => {
            let store = AnyStore::open(&filled.url).await.unwrap();
            assert!(
                store
                    .entry(&tenant, Digest::default())
                    .await
                    .unwrap()
                    .is_none()
            );
            let took = started.elapsed();
            store.close().await;
            return took;
        }
        Call::Open => {
            let id = id(number);
            assert!(store.conversation(&tenant, &id).await.unwrap().is_some());
            let tip = store.tip(&tenant, &id).await.unwrap().unwrap().digest;
            let history = store.history(&tenant, tip).await.unwrap();
            assert!(history.len() >= MESSAGES);
            assert_eq!(store.changes(&tenant, &id).await.unwrap(), []);
            assert_eq!(store.marked_pins(&tenant, &id).await.unwrap(), []);
            assert!(!store.compactions_of(&tenant, &id).await.unwrap().is_empty());
        }
        Call::Decide => {
            let mut chain: Vec<Digest> = (0..MESSAGES).map(|at| node(number, at)).collect();
            chain.push(Digest::of(format!("new {at}").as_bytes()));
            let newest = chain.get(chain.len() - 32..).unwrap();
            assert_eq!(store.find_nodes(&tenant, newest).await.unwrap().len(), 31);
            assert!(
                !store
                    .compactions_at(&tenant, &chain)
                    .await
                    .unwrap()
                    .is_empty()
            );
            let along = store.compactions_along(&tenant, &id(number), 32).await;
            assert!(!along.unwrap().is_empty());
        }
        Call::Publish => {
            // A branch of its own, behind the last message.
            let first = MESSAGES + 2 * usize::try_from(at).unwrap();
            let mut span = talk(number, first);
            if let Some(node) = span.nodes.first_mut() {
                node.parent = Some(tip);
            }
            let last = span.nodes.last().unwrap().digest;
            let started = Instant::now();
            let mut row = compaction(number, &format!("again{at}"), COVERED);
            row.node = last;
            let committed = store.commit_compaction(&tenant, &span, &row).await;
            assert!(matches!(committed.unwrap(), Committed::New(_)));
            store.publish(&tenant, &row.id, None).await.unwrap();
            return started.elapsed();
        }
        Call::RecallCommon => {
            let scope = SearchScope::Conversation(id(number));
            let hits = store.search(&tenant, &scope, "harbor island", 5).await;
            assert_eq!(hits.unwrap().len(), 5);
        }
        Call::RecallRare => {
            let query = format!("unique{number} harbor");
            let scope = SearchScope::Branch(tip);
            let hits = store.search(&tenant, &scope, &query, 5).await;
            assert_eq!(hits.unwrap().len(), 5);
        }
    }
    started.elapsed()
}
