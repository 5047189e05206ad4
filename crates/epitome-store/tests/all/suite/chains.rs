//! What is known of a chain, asked in one go.

use epitome::Digest;
use epitome_store::{ChainQuestion, CountedRow, KnownChain, Store};

use crate::fixtures::{chain, compaction, conversation, node, tenant};

fn question(newest: &[Digest], probes: usize) -> ChainQuestion<'_> {
    ChainQuestion {
        newest,
        probes,
        compactions: 9,
        counted: 2,
    }
}

fn ids(known: &KnownChain) -> Vec<&str> {
    let compactions = known.compactions.iter();
    compactions.map(|row| row.id.as_str()).collect()
}

pub(crate) async fn one_question_says_what_many_would(store: impl Store) {
    let t = tenant("t");
    let root = chain("root", &["a", "b", "c"], 0);
    let mut fork = chain("fork", &["a", "b", "x", "y"], 2);
    fork.conversation.parent = Some(conversation("root"));
    for (span, id, place, at, created_ms) in [
        (&root, "late", "root", "b", 5),
        (&root, "elsewhere", "root", "c", 2),
        (&fork, "of the fork", "fork", "x", 3),
    ] {
        let mut row = compaction(id, place, at);
        row.created_ms = created_ms;
        store.commit_compaction(&t, span, &row).await.unwrap();
    }
    let count = |link: &str| CountedRow {
        node: node(link),
        conversation: conversation("fork"),
        kind: 7,
        compaction: None,
        real_tokens: 20,
        estimated_tokens: 7,
        at_ms: 1,
    };
    let counts = ["a", "b", "x", "y"].map(count);
    store.keep_counted(&t, &counts).await.unwrap();

    let links = ["a", "b", "x", "y", "new", "newer"].map(node);
    let known = store.look_up(&t, &question(&links, 6)).await.unwrap();
    let mut nodes = store.find_nodes(&t, &links).await.unwrap();
    let mut found = known.nodes.clone();
    nodes.sort_by_key(|node| node.position);
    found.sort_by_key(|node| node.position);
    assert_eq!(found, nodes);
    // Each once, oldest first: those on these links, and those of the line of forks.
    assert_eq!(ids(&known), ["elsewhere", "of the fork", "late"]);
    let mut counted = known.counted;
    counted.sort_by_key(|row| row.node);
    let mut up_to_the_last = [count("x"), count("y")];
    up_to_the_last.sort_by_key(|row| row.node);
    assert_eq!(counted, up_to_the_last);

    // The last link of all has no say in how the request is measured.
    let known = store.look_up(&t, &question(&links[..4], 4)).await.unwrap();
    let mut counted: Vec<_> = known.counted.iter().map(|row| row.node).collect();
    counted.sort();
    let mut before = [node("b"), node("x")];
    before.sort();
    assert_eq!(counted, before);

    // Where none of the newest is known, nothing else is asked.
    let known = store.look_up(&t, &question(&links, 2)).await.unwrap();
    assert_eq!(known, KnownChain::default());
    let known = store.look_up(&t, &question(&[], 2)).await.unwrap();
    assert_eq!(known, KnownChain::default());
    let theirs = store.look_up(&tenant("u"), &question(&links, 6)).await;
    assert_eq!(theirs.unwrap(), KnownChain::default());
}
