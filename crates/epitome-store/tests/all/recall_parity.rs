//! Both databases find the same, in the same order, with the same scores.

use epitome_store::{Entries, EntryWords, Search, SearchHit, SearchScope, SqliteStore};
use epitome_testkit::{Random, cases};

use crate::fixtures::{chain, conversation, node, postgres, tenant};

const WORDS: &[&str] = &[
    "the",
    "the",
    "the",
    "port",
    "deploy",
    "deployed",
    "Deployment",
    "parse_http_header",
    "parseConfigFile",
    "src/net/tls.rs",
    "8443",
    "déjà",
    "naïve",
    "ЙОД",
    "йод",
    "Straße",
    "部署失败",
    "端口",
    "ポート",
    "한국어를",
    "हिन्दी",
    "a",
    "b",
    "MAX_LEN",
    "maxLen",
    "x-y",
    "cafe\u{301}",
];

fn text(random: &mut Random, most: usize) -> String {
    let words = (0..=random.below(most)).map(|_| WORDS[random.below(WORDS.len())]);
    words.collect::<Vec<_>>().join(" ")
}

/// Rounded: the sums are made in another order.
fn found(hits: &[SearchHit]) -> Vec<(u32, i64)> {
    let rounded = |score: f64| (score * 1e9).round() as i64;
    hits.iter()
        .map(|hit| (hit.position, rounded(hit.score)))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_on_both() {
    let Some(postgres) = postgres().await else {
        return;
    };
    let sqlite = SqliteStore::in_memory().await.unwrap();
    let mut random = Random::new(cases::seed());
    let names: Vec<String> = (0..60).map(|number| format!("m{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut append = chain("c", &names, 0);
    append.words = append
        .entries
        .iter()
        .map(|entry| EntryWords {
            key: entry.key,
            text: text(&mut random, 30),
        })
        .collect();
    sqlite.append(&tenant("t"), &append).await.unwrap();
    postgres.store.append(&tenant("t"), &append).await.unwrap();
    let scopes = [
        SearchScope::Branch(node("m59")),
        SearchScope::Conversation(conversation("c")),
        SearchScope::Tenant,
    ];
    let mut hits = 0;
    for _ in 0..cases::cases(10) {
        let query = text(&mut random, 3);
        for scope in &scopes {
            let left = sqlite.search(&tenant("t"), scope, &query, 20).await;
            let right = postgres.store.search(&tenant("t"), scope, &query, 20).await;
            let (left, right) = (found(&left.unwrap()), found(&right.unwrap()));
            assert_eq!(left, right, "{query:?} in {scope:?}");
            hits += left.len();
        }
    }
    assert!(hits > 0);
}
