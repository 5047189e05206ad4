use epitome_store::{ConversationId, EntryWords, Error, SearchScope, Store, TenantId};

use crate::fixtures::{chain, conversation, entry, node, tenant};

/// Appends a chain of entries by name, with their texts. Those without a text at the front are known.
async fn append(store: &impl Store, tenant: &TenantId, name: &str, texts: &[(&str, &str)]) {
    let names: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
    let known = names.len() - texts.iter().filter(|(_, text)| !text.is_empty()).count();
    let mut append = chain(name, &names, known);
    append.words = texts
        .iter()
        .skip(known)
        .map(|(name, text)| words(name, text))
        .collect();
    store.append(tenant, &append).await.unwrap();
}

fn words(name: &str, text: &str) -> EntryWords {
    EntryWords {
        key: entry(name).key,
        text: text.to_owned(),
    }
}

async fn positions(store: &impl Store, scope: &SearchScope, query: &str) -> Vec<u32> {
    let hits = store.search(&tenant("t"), scope, query, 20).await.unwrap();
    hits.iter().map(|hit| hit.position).collect()
}

fn branch(name: &str) -> SearchScope {
    SearchScope::Branch(node(name))
}

fn whole(name: &str) -> SearchScope {
    SearchScope::Conversation(ConversationId::new(name).unwrap())
}

pub(crate) async fn entries_by_words(store: impl Store) {
    let texts = [
        ("a", "Use the port 8443 for TLS, please."),
        ("b", "parse_http_header in src/net/tls.rs fails: déjà vu"),
        ("c", "部署在周五失败了,因为端口被占用"),
        ("d", "parseConfigFile() returned the port"),
        ("e", "the port the port the port"),
        ("f", "the migrations ran"),
    ];
    append(&store, &tenant("t"), "c", &texts).await;
    let check = async |query: &str, expected: &[u32]| {
        let found = positions(&store, &branch("f"), query).await;
        assert_eq!(found, expected, "{query:?}");
    };
    check("PORT tls", &[0]).await;
    check("8443", &[0]).await;
    check("header", &[1]).await;
    check("parseHttpHeader", &[1]).await;
    check("parse_config_file", &[3]).await;
    check("src/net/tls.rs", &[1]).await;
    check("deja", &[1]).await;
    check("失败", &[2]).await;
    check("端口被占用", &[2]).await;
    check("端", &[2]).await;
    check("zebra TLS.", &[0, 1]).await;
    check("migration", &[5]).await;
    check("zebra", &[]).await;
    let ranked = positions(&store, &branch("f"), "port").await;
    assert_eq!(
        ranked[0], 4,
        "the word that is most of an entry: {ranked:?}"
    );
    assert_eq!(ranked.len(), 3);

    let hits = store
        .search(&tenant("t"), &branch("f"), "the port", 1)
        .await;
    let hits = hits.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].entry, entry("e").key);
    assert_eq!(hits[0].node, node("e"));
    assert_eq!(hits[0].conversation, conversation("c"));
    assert!(hits[0].score > 0.0, "{}", hits[0].score);
}

pub(crate) async fn any_query_is_words(store: impl Store) {
    append(&store, &tenant("t"), "c", &[("a", "a b NEAR 4 words x-y")]).await;
    let all = "a".repeat(5_000) + &"(\"b* -".repeat(5_000);
    for query in [
        "\"",
        "*",
        "a*",
        "NEAR",
        "NEAR(a b, 2)",
        "a-b",
        "words:a",
        "^a",
        "{a b}:c",
        "a AND",
        "NOT a",
        "(",
        "'",
        "\0",
        "%",
        "a OR OR b",
        "+",
        "\u{301}",
        "ꙮ",
        "🦀 a",
        "",
        "  ",
        &all,
    ] {
        for scope in [branch("a"), whole("c"), SearchScope::Tenant] {
            store
                .search(&tenant("t"), &scope, query, 5)
                .await
                .unwrap_or_else(|error| panic!("{query:?}: {error:?}"));
        }
    }
    assert_eq!(positions(&store, &branch("a"), "NEAR(a b, 4)").await, [0]);
    assert_eq!(positions(&store, &branch("a"), "x-y").await, [0]);
}

pub(crate) async fn scopes(store: impl Store) {
    let t = tenant("t");
    append(
        &store,
        &t,
        "main",
        &[("a", "apple"), ("b", "pear"), ("c", "apple plum")],
    )
    .await;
    append(
        &store,
        &t,
        "fork",
        &[("a", ""), ("b", ""), ("x", "apple fig")],
    )
    .await;
    let nodes = async |scope: SearchScope| {
        let hits = store.search(&t, &scope, "apple", 9).await.unwrap();
        let mut nodes: Vec<_> = hits.iter().map(|hit| hit.node).collect();
        nodes.sort_unstable();
        nodes
    };
    let expected = |names: &[&str]| {
        let mut nodes: Vec<_> = names.iter().map(|name| node(name)).collect();
        nodes.sort_unstable();
        nodes
    };
    assert_eq!(nodes(branch("c")).await, expected(&["a", "c"]));
    assert_eq!(nodes(branch("x")).await, expected(&["a", "x"]));
    assert_eq!(nodes(branch("b")).await, expected(&["a"]));
    assert_eq!(nodes(branch("unknown")).await, []);
    assert_eq!(nodes(whole("main")).await, expected(&["a", "c"]));
    assert_eq!(nodes(whole("fork")).await, expected(&["a", "x"]));
    assert_eq!(nodes(whole("nobody")).await, []);
    assert_eq!(nodes(SearchScope::Tenant).await, expected(&["a", "c", "x"]));
}

pub(crate) async fn repeated_entry_is_found_once(store: impl Store) {
    let t = tenant("t");
    let mut append = chain("c", &["a", "b", "again"], 0);
    append.nodes[2].entry = entry("a").key;
    append.words = vec![words("a", "continue")];
    store.append(&t, &append).await.unwrap();
    assert_eq!(positions(&store, &branch("again"), "continue").await, [2]);
    assert_eq!(positions(&store, &branch("b"), "continue").await, [0]);
}

pub(crate) async fn indexed_later_and_once(store: impl Store) {
    let t = tenant("t");
    store.append(&t, &chain("c", &["a", "b"], 0)).await.unwrap();
    assert_eq!(positions(&store, &branch("b"), "first").await, [0; 0]);
    assert_eq!(store.unindexed(&t, None, 9).await.unwrap().len(), 2);
    assert_eq!(store.unindexed(&t, None, 1).await.unwrap().len(), 1);
    assert_eq!(store.unindexed(&tenant("u"), None, 9).await.unwrap(), []);
    // They are gone through by their keys.
    let mut keys = [entry("a").key, entry("b").key];
    keys.sort();
    let mut after = None;
    for key in keys {
        let next = store.unindexed(&t, after, 1).await.unwrap();
        assert_eq!(
            next.iter().map(|entry| entry.key).collect::<Vec<_>>(),
            [key]
        );
        after = Some(key);
    }
    assert_eq!(store.unindexed(&t, after, 9).await.unwrap(), []);
    store.index(&t, &[words("a", "first")]).await.unwrap();
    assert_eq!(store.unindexed(&t, None, 9).await.unwrap(), [entry("b")]);
    let given = [words("a", "first"), words("b", "second")];
    for _ in 0..3 {
        store.index(&t, &given).await.unwrap();
    }
    store.index(&t, &[words("a", "other")]).await.unwrap();
    assert_eq!(positions(&store, &branch("b"), "first").await, [0]);
    assert_eq!(positions(&store, &branch("b"), "other").await, [0; 0]);
    let error = store.index(&t, &[words("zzz", "x")]).await.unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    store.index(&t, &[]).await.unwrap();
    assert_eq!(store.unindexed(&t, None, 9).await.unwrap(), []);
}
