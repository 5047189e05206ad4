//! Locations and names.

use epitome_store::{AnyStore, ConversationId, Error, TenantId};

#[tokio::test]
async fn locations() {
    let check = async |location: &str, expected: &str| {
        let error = AnyStore::open(location).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let known = "a location is sqlite:PATH, sqlite::memory: or postgres://…";
    check(
        "mysql://root:secret@x",
        &format!("unknown store scheme \"mysql\": {known}"),
    )
    .await;
    check("log.db", &format!("unknown store scheme \"\": {known}")).await;
    check(
        "sqlite:",
        "the store has no path: a location is sqlite:PATH or sqlite::memory:",
    )
    .await;
    let unread = "the location of the store cannot be read: it is no such address; \
        it is postgres://USER:PASSWORD@HOST:PORT/DATABASE";
    check("postgres://user:secret@x:y/db", unread).await;
    check("postgresql://user:secret@x:y/db", unread).await;
    AnyStore::open("sqlite::memory:").await.unwrap();
    AnyStore::open_read_only("sqlite::memory:").await.unwrap();
    let error = AnyStore::open_read_only("sqlite:/no/such/file.db").await;
    assert!(matches!(error, Err(Error::CannotOpen(_))), "{error:?}");
}

#[test]
fn ids() {
    let longest = "x".repeat(64);
    for good in ["a", "default", "A.b_c-9", &longest] {
        assert_eq!(TenantId::new(good).unwrap().as_str(), good);
        assert_eq!(good.parse::<ConversationId>().unwrap().to_string(), good);
    }
    let too_long = "x".repeat(65);
    for bad in ["", " ", "a b", "a/b", "é", "a\0", &too_long] {
        let error = TenantId::new(bad).unwrap_err();
        assert!(
            matches!(
                error,
                Error::InvalidId {
                    kind: "tenant id",
                    ..
                }
            ),
            "{error:?}"
        );
        ConversationId::new(bad).unwrap_err();
    }
}
