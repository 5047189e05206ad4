//! What can happen to a server and its databases.

use std::time::Duration;

use epitome_store::{
    AnyStore, BeliefRow, Beliefs, Claimed, Conversations, Entries, Error, Housekeeping, JobClaim,
    Jobs, Leases, Memories, Outcome, Outcomes, PinMark, PinRow, Pins, PostgresStore, Store,
};
use epitome_testkit::postgres::{self, Database};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row as _};
use tokio::task::JoinSet;

use crate::fixtures::{chain, conversation, keys, node, nothing, tenant};
use crate::suite::memories::memory;

/// Somebody else on the same server.
async fn somebody(database: &Database) -> PgConnection {
    PgConnection::connect(database.url()).await.unwrap()
}

async fn run(database: &Database, statement: &str) {
    let mut connection = somebody(database).await;
    let statement = AssertSqlSafe(statement.to_owned());
    sqlx::raw_sql(statement)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

async fn filled(url: &str) -> PostgresStore {
    let store = PostgresStore::open(url).await.unwrap();
    let append = chain("c", &["a", "b"], 0);
    store.append(&tenant("t"), &append).await.unwrap();
    store
}

async fn assert_filled(store: &PostgresStore) {
    let history = store.history(&tenant("t"), node("b")).await.unwrap();
    assert_eq!(history, chain("c", &["a", "b"], 0).entries);
}

/// The error and all that it stands on, as a log would show them.
fn said(error: &Error) -> String {
    let mut said = format!("{error:?} {error}");
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        said += &format!(" {inner:?} {inner}");
        source = inner.source();
    }
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn created_by_many_at_once() {
    for database in [
        postgres::database().await,
        postgres::pooled_database().await,
    ] {
        let Some(database) = database else { continue };
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let url = database.url().to_owned();
            tasks.spawn(async move { filled(&url).await });
        }
        for store in tasks.join_all().await {
            assert_filled(&store).await;
        }
    }
}

#[tokio::test]
async fn direct_url_is_for_migrations() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let direct: String = database
        .url()
        .bytes()
        .map(|one| format!("%{one:02x}"))
        .collect();
    let url = format!("{}&max_connections=2&direct_url={direct}", database.url());
    assert_filled(&filled(&url).await).await;
    let nowhere = format!("{}&direct_url=postgres://x@127.0.0.1:1/x", database.url());
    // Nothing is to be migrated, so nobody goes there.
    PostgresStore::open(&nowhere).await.unwrap();
    run(&database, "DELETE FROM epitome_migrations").await;
    let error = PostgresStore::open(&nowhere).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn opened_read_only() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let error = AnyStore::open_read_only(database.url()).await.unwrap_err();
    assert!(matches!(error, Error::CannotOpen(_)), "{error:?}");
    filled(database.url()).await;
    let reading = PostgresStore::open_read_only(database.url()).await.unwrap();
    assert_filled(&reading).await;
    let error = reading.append(&tenant("t"), &nothing("c", 1)).await;
    assert!(matches!(error, Err(Error::ReadOnly(_))), "{error:?}");
    let error = reading.learn_window("e", "m", 1, 1).await;
    assert!(matches!(error, Err(Error::ReadOnly(_))), "{error:?}");
}

/// As on a replica: the server itself refuses to write, until it is promoted.
#[tokio::test]
async fn server_that_only_reads() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let read_only = |on: &str| {
        let name = database.name();
        format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}")
    };
    run(&database, &read_only("on")).await;
    let error = PostgresStore::open(database.url()).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
    // A session keeps what it had when it began.
    let mut admin = somebody(&database).await;
    sqlx::raw_sql("SET default_transaction_read_only = off")
        .execute(&mut admin)
        .await
        .unwrap();
    let statement = AssertSqlSafe(read_only("off"));
    sqlx::raw_sql(statement).execute(&mut admin).await.unwrap();
    filled(database.url()).await.close().await;
    run(&database, &read_only("on")).await;
    let store = PostgresStore::open(database.url()).await.unwrap();
    assert_filled(&store).await;
    let error = store.append(&tenant("t"), &nothing("c", 1)).await;
    assert!(matches!(error, Err(Error::ReadOnly(_))), "{error:?}");
}

#[tokio::test]
async fn newer_schema() {
    let Some(database) = postgres::database().await else {
        return;
    };
    filled(database.url()).await.close().await;
    let newer = "INSERT INTO epitome_migrations (version, checksum) VALUES (99, '')";
    run(&database, newer).await;
    for opened in [
        PostgresStore::open(database.url()).await,
        PostgresStore::open_read_only(database.url()).await,
    ] {
        let error = opened.unwrap_err();
        let newer = matches!(
            error,
            Error::NewerSchema {
                found: 99,
                known: 6
            }
        );
        assert!(newer, "{error:?}");
    }
}

#[tokio::test]
async fn tables_of_another_program() {
    let Some(database) = postgres::database().await else {
        return;
    };
    run(&database, "CREATE TABLE entries (theirs INT)").await;
    let error = PostgresStore::open(database.url()).await.unwrap_err();
    assert!(matches!(error, Error::ForeignFile), "{error:?}");
    let mut connection = somebody(&database).await;
    let tables: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(tables, 1, "nothing was changed");
}

#[tokio::test]
async fn wrong_password() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    let mut admin = PgConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'right'")
        .execute(&mut admin)
        .await
        .unwrap();
    let with = |password: &str| url.replace("postgres@", &format!("locked:{password}@"));
    let store = filled(&with("right")).await;
    assert_filled(&store).await;
    assert!(!format!("{store:?}").contains("right"));
    let error = PostgresStore::open(&with("hunter2")).await.unwrap_err();
    assert!(matches!(error, Error::Login(_)), "{error:?}");
    assert!(!said(&error).contains("hunter2"), "{}", said(&error));

    // Changed while the store is open: what is connected goes on, and nothing else gets in.
    sqlx::raw_sql("ALTER ROLE locked PASSWORD 'other'")
        .execute(&mut admin)
        .await
        .unwrap();
    sqlx::raw_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'locked'",
    )
    .execute(&mut admin)
    .await
    .unwrap();
    let error = store.conversations(&tenant("t"), 1).await.unwrap_err();
    assert!(matches!(error, Error::Login(_)), "{error:?}");
    assert!(!said(&error).contains("right"), "{}", said(&error));
    sqlx::raw_sql("ALTER ROLE locked PASSWORD 'right'")
        .execute(&mut admin)
        .await
        .unwrap();
    assert_filled(&store).await;
}

#[tokio::test]
async fn no_server_and_no_database() {
    for nowhere in [
        "postgres://me:hunter2@127.0.0.1:1/log",
        "postgres://me:hunter2@localhost/log?host=/no/such/folder",
    ] {
        let error = PostgresStore::open(nowhere).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
        assert!(!said(&error).contains("hunter2"), "{}", said(&error));
    }
    let Some(database) = postgres::database().await else {
        return;
    };
    let missing = database.url().replace(database.name(), "no_such_database");
    let error = PostgresStore::open(&missing).await.unwrap_err();
    assert!(matches!(error, Error::CannotOpen(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_connections_in_use() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let url = format!("{}&max_connections=1", database.url());
    let store = filled(&url).await;
    let mut somebody = somebody(&database).await;
    let mut transaction = somebody.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE conversations")
        .execute(&mut *transaction)
        .await
        .unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let store = store.clone();
        tasks.spawn(async move { store.conversations(&tenant("t"), 1).await });
    }
    // The one that has the connection gives up on the lock, the other on the connection; whoever comes first.
    for _ in 0..2 {
        let error = tasks.join_next().await.unwrap().unwrap().unwrap_err();
        let expected = matches!(error, Error::NoConnection(_) | Error::Busy(_));
        assert!(expected, "{error:?}");
    }
    transaction.rollback().await.unwrap();
    assert_filled(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_go_by_the_clock_of_the_server() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let store = PostgresStore::open(database.url()).await.unwrap();
    let (tenant, id) = (tenant("t"), conversation("c"));
    let (early, late) = (1_000, 9_000_000_000_000);
    let hour = 3_600_000;
    let first = store.acquire_lease(&tenant, &id, "slow clock", early, early + hour);
    assert_eq!(first.await.unwrap(), Some(1));
    let second = store.acquire_lease(&tenant, &id, "fast clock", late, late + hour);
    assert_eq!(second.await.unwrap(), None, "an hour is not over yet");
    // An hour later, at the server.
    run(&database, "UPDATE leases SET until_ms = until_ms - 3600001").await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let (store, tenant, id) = (store.clone(), tenant.clone(), id.clone());
        tasks.spawn(async move {
            let holder = format!("node {number}");
            let asked = store.acquire_lease(&tenant, &id, &holder, early, early + hour);
            asked.await.unwrap()
        });
    }
    let granted: Vec<u64> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(granted, [2]);
}

/// Whoever claims a job has it locked before its lease. One that finishes the same job takes them in the same order.
#[tokio::test]
async fn a_job_is_finished_while_another_claims_it() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let store = PostgresStore::open(database.url()).await.unwrap();
    let tenant = tenant("t");
    let conversation = conversation("c");
    let claim = JobClaim {
        conversation: &conversation,
        reason: "near_line",
        holder: "me",
        now_ms: 0,
        until_ms: 60_000,
        most_running: 1,
    };
    let claimed = store.claim_job(&tenant, &claim).await.unwrap();
    let Claimed::Granted { fence, .. } = claimed else {
        panic!("{claimed:?}");
    };
    let mut other = somebody(&database).await;
    sqlx::raw_sql("BEGIN; SELECT tries FROM jobs FOR UPDATE")
        .execute(&mut other)
        .await
        .unwrap();
    let finish = store.finish_job(&tenant, &conversation, fence);
    let claim = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let lease = sqlx::raw_sql("SELECT holder FROM leases FOR UPDATE NOWAIT; COMMIT");
        lease.execute(&mut other).await
    };
    let (finished, claimed) = tokio::join!(finish, claim);
    claimed.expect("the lease is free for whoever has the job");
    assert!(finished.unwrap());
    assert_eq!(store.jobs(&tenant, 0, 9).await.unwrap(), []);
}

/// What PostgreSQL's own type for text refuses.
#[tokio::test]
async fn any_character_is_kept() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let store = filled(database.url()).await;
    let (tenant, odd) = (tenant("t"), "a\0b \u{10FFFF}\u{1}'\\");
    let mut append = nothing("c", 9);
    append.conversation.label = Some(odd.to_owned());
    store.append(&tenant, &append).await.unwrap();
    let found = store.conversation(&tenant, &conversation("c")).await;
    assert_eq!(found.unwrap().unwrap().label.as_deref(), Some(odd));
    let outcome = Outcome {
        conversation: None,
        at_ms: 1,
        action: "pass".to_owned(),
        reason: "small".to_owned(),
        tokens_before: 1,
        tokens_after: 1,
        model: odd.to_owned(),
    };
    store.record_outcome(&tenant, &outcome).await.unwrap();
    assert_eq!(store.outcomes(&tenant, 1).await.unwrap(), [outcome]);
    let long = odd.repeat(10_000);
    let pin = PinRow {
        conversation: conversation("c"),
        text: long.clone(),
        mark: PinMark::Dropped,
        at_ms: 1,
    };
    for _ in 0..2 {
        store.mark_pin(&tenant, &pin).await.unwrap();
    }
    let pins = store.marked_pins(&tenant, &conversation("c")).await;
    assert_eq!(pins.unwrap(), [pin]);
    let memory = memory(odd, &long, 1);
    store.save_memory(&tenant, &memory).await.unwrap();
    assert_eq!(store.memories(&tenant, None, 1).await.unwrap(), [memory]);
    let belief = BeliefRow {
        endpoint: odd.to_owned(),
        model: odd.to_owned(),
        window: Some(odd.to_owned()),
        counts: None,
        at_ms: 1,
    };
    store.save_belief(&belief).await.unwrap();
    assert_eq!(store.beliefs().await.unwrap(), [belief]);
}

#[tokio::test]
async fn database_in_another_encoding() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let name = format!("{}_latin", database.name());
    let create = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
    run(&database, &create).await;
    let url = database.url().replace(database.name(), &name);
    let error = PostgresStore::open(&url).await.unwrap_err();
    assert!(matches!(error, Error::CannotOpen(_)), "{error:?}");
    assert!(said(&error).contains("LATIN1"), "{}", said(&error));
    run(&database, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
}

/// The host is gone without a word: nobody hangs up. Whoever waits gives up, and so do the connections that nobody answers on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_vanishes() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let relay = postgres::Relay::to(&database);
    let url = format!("{}&max_connections=2", relay.url());
    let store = AnyStore::open(&url).await.unwrap();
    let append = chain("c", &["a", "b"], 0);
    store.append(&tenant("t"), &append).await.unwrap();
    // Both connections are in use when it happens, and their questions are given up as a request gives them up.
    relay.fall_silent();
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let store = store.clone();
        tasks.spawn(async move {
            let tenant = tenant("t");
            let asked = store.history(&tenant, node("b"));
            tokio::time::timeout(Duration::from_millis(50), asked).await
        });
    }
    for given_up in tasks.join_all().await {
        assert!(given_up.is_err(), "{given_up:?}");
    }
    let error = store.history(&tenant("t"), node("b")).await.unwrap_err();
    let expected = matches!(error, Error::Unreachable(_) | Error::NoConnection(_));
    assert!(expected, "{error:?}");
    relay.speak_again();
    let mut tries = 0;
    let history = loop {
        match store.history(&tenant("t"), node("b")).await {
            Ok(history) => break history,
            Err(error) => {
                tries += 1;
                assert!(tries < 10, "{error:?}");
            }
        }
    };
    assert_eq!(history, append.entries);
}

/// The server dies in the middle, again and again. The store goes on by itself, and what it said is stored is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_killed_and_started_again() {
    let Some(mut cluster) = postgres::own_cluster() else {
        return;
    };
    let store = filled(&cluster.url("postgres")).await;
    let mut names = vec!["a".to_owned(), "b".to_owned()];
    for round in 0..3 {
        let before = names.len();
        for number in 0..5 {
            names.push(format!("{round} {number}"));
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            let append = chain("c", &all, all.len() - 1);
            store.append(&tenant("t"), &append).await.unwrap();
        }
        // Some connections of the pool, not only one, are dead afterwards.
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let store = store.clone();
            tasks.spawn(async move { store.conversations(&tenant("t"), 1).await });
        }
        tasks.join_all().await;
        if round % 2 == 0 {
            cluster.kill();
        } else {
            cluster.stop();
        }
        let error = store.conversations(&tenant("t"), 1).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
        let error = store.append(&tenant("t"), &nothing("c", 1)).await;
        assert!(matches!(error, Err(Error::Unreachable(_))), "{error:?}");
        cluster.start_again();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let expected = chain("c", &all, 0).entries;
        let tip = node(all.last().unwrap());
        assert_eq!(store.history(&tenant("t"), tip).await.unwrap(), expected);
        assert!(names.len() > before);
    }
    store.close().await;
}

/// Room is given back in our tables, all of them, and nobody else's are touched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_our_own_tables_are_made_anew() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let store = AnyStore::open_with(database.url(), &keys()).await.unwrap();
    run(&database, "CREATE TABLE theirs (number BIGINT)").await;
    let files = async || -> Vec<(String, i64)> {
        let mut connection = somebody(&database).await;
        let rows = "SELECT relname::text, pg_relation_filenode(oid)::bigint FROM pg_class \
            WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1";
        let rows = sqlx::query(rows).fetch_all(&mut connection).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    let before = files().await;
    store.reseal().await.unwrap();
    let after = files().await;
    assert!(before.len() > 20);
    let same: Vec<_> = before.iter().filter(|one| after.contains(one)).collect();
    let names: Vec<_> = same.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["theirs"]);
    store.close().await;
}
