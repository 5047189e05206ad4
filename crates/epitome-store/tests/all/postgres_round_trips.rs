//! What goes over the line: how often, and what is left when it is cut.

use epitome_store::{
    ChainQuestion, Chains, Committed, Compactions, Conversations, Entries, Error, PostgresStore,
    Search, SearchScope, Store,
};
use epitome_testkit::postgres::{self, Relay};

use crate::fixtures::{chain, compaction, conversation, digest, node, tenant, with_words};

/// One connection, so that a call begins when all of the one before is over.
async fn through(relay: &Relay) -> PostgresStore {
    let url = format!("{}&max_connections=1", relay.url());
    PostgresStore::open(&url).await.unwrap()
}

/// How often a call is made to learn how many round trips it takes. Making a connection, looking at it and closing it add
/// a few to all of them together, more or less by chance, which is nothing beside so many calls.
const CALLS: u64 = 16;

/// How many round trips each of several calls takes; a call knows its number.
async fn round_trips(relay: &Relay, call: impl AsyncFn(&PostgresStore, u64)) -> u64 {
    let store = through(relay).await;
    let before = relay.round_trips();
    for number in 0..CALLS {
        call(&store, number).await;
    }
    store.close().await;
    let taken = relay.round_trips() - before;
    (taken + CALLS / 2) / CALLS
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_take_a_constant_number() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let relay = Relay::to(&database);
    let tenant = tenant("t");
    let names: Vec<String> = (0..2_000).map(|number| format!("m{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = through(&relay).await;
    let append = with_words(chain("c", &names, 0), "zebra");
    let last = names[names.len() - 1];
    let row = compaction("k", "c", last);
    store
        .commit_compaction(&tenant, &append, &row)
        .await
        .unwrap();
    store.close().await;

    // Beginning, statement, execution; and, when nobody waits any more, the end of the transaction and two looks at the
    // connection before it is used again: ours, which is given up in time, and that of the pool.
    const READ: u64 = 6;
    for known in [1, 100, names.len()] {
        let mut digests: Vec<_> = names[..known].iter().map(|name| node(name)).collect();
        digests.extend((0..3).map(|number| digest(&format!("stranger {number}"))));
        let taken = round_trips(&relay, async |store, _| {
            let found = store.find_nodes(&tenant, &digests).await.unwrap();
            assert_eq!(found.len(), known);
        });
        assert_eq!(taken.await, READ);
        let taken = round_trips(&relay, async |store, _| {
            let found = store.compactions_at(&tenant, &digests).await.unwrap();
            assert_eq!(found.len(), usize::from(known == names.len()));
        });
        assert_eq!(taken.await, READ);
        // Two more for each of the statements behind the first one.
        let taken = round_trips(&relay, async |store, _| {
            let question = ChainQuestion {
                newest: &digests,
                probes: digests.len(),
                compactions: 9,
                counted: 9,
            };
            let found = store.look_up(&tenant, &question).await.unwrap();
            assert_eq!(found.nodes.len(), known);
        });
        assert_eq!(taken.await, READ + 6);
        let tip = node(names[known - 1]);
        let taken = round_trips(&relay, async |store, _| {
            assert_eq!(store.path(&tenant, tip).await.unwrap().len(), known);
        });
        assert_eq!(taken.await, READ);
        let taken = round_trips(&relay, async |store, _| {
            let scope = SearchScope::Branch(tip);
            let hits = store.search(&tenant, &scope, "zebra", 5).await.unwrap();
            assert_eq!(hits.len(), known.min(5));
        });
        assert_eq!(taken.await, READ);
    }
    let taken = round_trips(&relay, async |store, _| {
        let state = store.compaction_state(&tenant, "k").await.unwrap();
        assert!(state.is_some());
        store.tip(&tenant, &conversation("c")).await.unwrap();
    });
    assert_eq!(taken.await, 2 * READ);
    // Two for each statement: conversation, entries, nodes, keys of words, words, compaction. Beginning and end are one
    // each, and another three the end of the transaction and the looks at the connection, as above.
    let mut commits = Vec::new();
    for entries in [1, 200] {
        let commit = round_trips(&relay, async |store, number| {
            let names: Vec<String> = (0..entries)
                .map(|entry| format!("{entries} {number} {entry}"))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let place = format!("d{entries}-{number}");
            let append = with_words(chain(&place, &names, 0), "zebra");
            let row = compaction(&format!("k{place}"), &place, names[entries - 1]);
            let committed = store.commit_compaction(&tenant, &append, &row).await;
            assert!(matches!(committed.unwrap(), Committed::New(_)));
        });
        commits.push(commit.await);
    }
    assert!((14..=18).contains(&commits[0]), "{commits:?}");
    assert_eq!(commits[0], commits[1], "two hundred entries, or one");
}

/// The connection is cut behind every answer of the server in turn. A compaction is stored with its whole span, or nothing is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_between_every_two_statements_of_a_commit() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let tenant = tenant("t");
    let direct = PostgresStore::open(database.url()).await.unwrap();
    let (mut nothing, mut all) = (0, 0);
    let (mut cut, mut attempt) = (0, 0);
    loop {
        attempt += 1;
        let names = [format!("{attempt} a"), format!("{attempt} b")];
        let names = [names[0].as_str(), names[1].as_str()];
        let id = format!("k{attempt}");
        let place = format!("c{attempt}");
        let append = with_words(chain(&place, &names, 0), &format!("zebra{attempt}"));
        let row = compaction(&id, &place, names[1]);
        let relay = Relay::to(&database);
        let store = through(&relay).await;
        relay.cut_after(cut);
        let committed = store.commit_compaction(&tenant, &append, &row).await;
        let word = format!("zebra{attempt}");
        let mut there = [false; 4];
        // The server may still be at the last word while the parts are asked for one by one.
        for _ in 0..100 {
            let history = direct.history(&tenant, node(names[1])).await.unwrap();
            let stored = direct.compaction(&tenant, &id).await.unwrap();
            let listed = direct.conversation(&tenant, &conversation(&place)).await;
            let hits = direct.search(&tenant, &SearchScope::Tenant, &word, 9).await;
            there = [
                history == append.entries,
                stored.as_ref() == Some(&row),
                listed.unwrap().is_some(),
                hits.unwrap().len() == 2,
            ];
            if there == [there[0]; 4] {
                break;
            }
        }
        // Who was not answered does it again.
        let again = direct.commit_compaction(&tenant, &append, &row).await;
        let again = again.unwrap();
        let was_there = matches!(again, Committed::Existing(_));
        assert_eq!(again.into_row(), row);
        match &committed {
            Ok(Committed::New(_)) => assert_eq!(there, [true; 4]),
            Ok(Committed::Existing(other)) => panic!("somebody else wrote {other:?}"),
            Err(error) => {
                assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
                assert_eq!(there, [there[0]; 4], "torn at {cut}");
                if was_there {
                    all += 1;
                } else {
                    nothing += 1;
                }
            }
        }
        assert!(attempt < 200, "it never comes through");
        match committed.is_ok() {
            // Where it is not cut at all, it is over.
            true if all > 0 => break,
            // On a busy machine an answer may come in more pieces once: the last one was stepped over.
            true => cut = cut.saturating_sub(3),
            false => cut += 1,
        }
    }
    assert!(
        nothing > 10,
        "{nothing} were cut before the end, {all} at it"
    );
    // Only the answer to the last word can be lost. What is still under way from before when the count begins moves that
    // answer by one or two on a busy machine, so that it may be cut off more than once.
    assert!(
        (1..=3).contains(&all),
        "{all} answers were lost behind the end"
    );
}
