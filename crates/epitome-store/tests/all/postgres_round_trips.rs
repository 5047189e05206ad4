//! What goes over the line: how often, and what is left when it is cut.

use epitome_store::{
    Committed, Compactions, Conversations, Entries, Error, PostgresStore, Search, SearchScope,
    Store,
};
use epitome_testkit::postgres::{self, Relay};

use crate::fixtures::{chain, compaction, conversation, digest, node, tenant, with_words};

/// One connection, so that a call begins when all of the one before is over.
async fn through(relay: &Relay) -> PostgresStore {
    let url = format!("{}&max_connections=1", relay.url());
    PostgresStore::open(&url).await.unwrap()
}

/// How many round trips each of several calls takes.
async fn round_trips(relay: &Relay, call: impl AsyncFn(&PostgresStore)) -> u64 {
    const CALLS: u64 = 4;
    let store = through(relay).await;
    let before = relay.round_trips();
    for _ in 0..CALLS {
        call(&store).await;
    }
    store.close().await;
    // The first is where the connection was made.
    let taken = relay.round_trips() - before - 1;
    // The last one may be spared the two of its end, because its connection is closed anyway.
    taken.div_ceil(CALLS)
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

    // Beginning, statement, execution; and, when nobody waits any more, the end of the transaction and a look at the
    // connection before it is used again.
    const READ: u64 = 5;
    for known in [1, 100, names.len()] {
        let mut digests: Vec<_> = names[..known].iter().map(|name| node(name)).collect();
        digests.extend((0..3).map(|number| digest(&format!("stranger {number}"))));
        let taken = round_trips(&relay, async |store| {
            let found = store.find_nodes(&tenant, &digests).await.unwrap();
            assert_eq!(found.len(), known);
        });
        assert_eq!(taken.await, READ);
        let taken = round_trips(&relay, async |store| {
            let found = store.compactions_at(&tenant, &digests).await.unwrap();
            assert_eq!(found.len(), usize::from(known == names.len()));
        });
        assert_eq!(taken.await, READ);
        let tip = node(names[known - 1]);
        let taken = round_trips(&relay, async |store| {
            assert_eq!(store.path(&tenant, tip).await.unwrap().len(), known);
        });
        assert_eq!(taken.await, READ);
        let taken = round_trips(&relay, async |store| {
            let scope = SearchScope::Branch(tip);
            let hits = store.search(&tenant, &scope, "zebra", 5).await.unwrap();
            assert_eq!(hits.len(), known.min(5));
        });
        assert_eq!(taken.await, READ);
    }
    let taken = round_trips(&relay, async |store| {
        let state = store.compaction_state(&tenant, "k").await.unwrap();
        assert!(state.is_some());
        store.tip(&tenant, &conversation("c")).await.unwrap();
    });
    assert_eq!(taken.await, 2 * READ);
    // Two for each statement: conversation, entries, nodes, keys of words, words, compaction. Beginning and end are one
    // each, and another one may be the look at the connection. A statement that comes in pieces may be answered in part while
    // the rest is on its way, which looks like one more. What counts is that a thousand entries take no more than one does.
    for (round, entries) in [1, 1_000].into_iter().enumerate() {
        let names: Vec<String> = (0..entries).map(|n| format!("{round} {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let store = through(&relay).await;
        let before = relay.round_trips();
        let append = with_words(chain("d", &names, 0), "zebra");
        let row = compaction(&format!("k{round}"), "d", names[entries - 1]);
        store
            .commit_compaction(&tenant, &append, &row)
            .await
            .unwrap();
        store.close().await;
        let taken = relay.round_trips() - before - 1;
        assert!((14..=18).contains(&taken), "{taken}");
    }
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
    // Where it is not cut at all, it is over.
    for cut in 0.. {
        let names = [format!("{cut} a"), format!("{cut} b")];
        let names = [names[0].as_str(), names[1].as_str()];
        let id = format!("k{cut}");
        let place = format!("c{cut}");
        let append = with_words(chain(&place, &names, 0), &format!("zebra{cut}"));
        let row = compaction(&id, &place, names[1]);
        let relay = Relay::to(&database);
        let store = through(&relay).await;
        relay.cut_after(cut);
        let committed = store.commit_compaction(&tenant, &append, &row).await;
        let history = direct.history(&tenant, node(names[1])).await.unwrap();
        let stored = direct.compaction(&tenant, &id).await.unwrap();
        let listed = direct.conversation(&tenant, &conversation(&place)).await;
        let word = format!("zebra{cut}");
        let hits = direct.search(&tenant, &SearchScope::Tenant, &word, 9).await;
        let there = [
            history == append.entries,
            stored.as_ref() == Some(&row),
            listed.unwrap().is_some(),
            hits.unwrap().len() == 2,
        ];
        match &committed {
            Ok(Committed::New(_)) => assert_eq!(there, [true; 4]),
            Ok(Committed::Existing(other)) => panic!("somebody else wrote {other:?}"),
            Err(error) => {
                assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
                assert_eq!(there, [there[0]; 4], "torn at {cut}");
                if there[0] {
                    all += 1;
                } else {
                    nothing += 1;
                }
            }
        }
        // Who was not answered does it again.
        let again = direct.commit_compaction(&tenant, &append, &row).await;
        assert_eq!(again.unwrap().into_row(), row);
        if committed.is_ok() {
            break;
        }
        assert!(cut < 100, "it never comes through");
    }
    assert!(
        nothing > 10,
        "{nothing} were cut before the end, {all} at it"
    );
    assert_eq!(all, 1, "only the answer to the last word can be lost");
}
