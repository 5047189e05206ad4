//! What can happen to a file.

use std::fs;
use std::path::{Path, PathBuf};

use epitome_store::{Beliefs, Entries, Error, SqliteStore, Store};
use tempfile::TempDir;

use crate::fixtures::{chain, node, nothing, tenant};

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    (folder, path)
}

async fn filled(path: &Path) -> SqliteStore {
    let store = SqliteStore::open(path).await.unwrap();
    let append = chain("c", &["a", "b"], 0);
    store.append(&tenant("t"), &append).await.unwrap();
    store
}

async fn assert_filled(store: &SqliteStore) {
    let history = store.history(&tenant("t"), node("b")).await.unwrap();
    assert_eq!(history, chain("c", &["a", "b"], 0).entries);
}

async fn assert_refuses_writes(store: &SqliteStore) {
    assert!(store.is_read_only());
    let error = store
        .append(&tenant("t"), &nothing("c", 1))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
    let error = store.learn_window("e", "m", 1, 1).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
}

fn set_read_only(path: &Path) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions).unwrap();
}

/// Root may write whatever the permissions say.
fn permissions_bind(folder: &Path) -> bool {
    let probe = folder.join("probe");
    fs::write(&probe, "").unwrap();
    set_read_only(&probe);
    fs::OpenOptions::new().write(true).open(&probe).is_err()
}

#[tokio::test]
async fn reopened_after_close() {
    let (folder, path) = folder();
    filled(&path).await.close().await;
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "the write-ahead file was not folded in");
    assert_filled(&SqliteStore::open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn reopened_after_drop_without_close() {
    let (_folder, path) = folder();
    drop(filled(&path).await);
    assert_filled(&SqliteStore::open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn opened_twice_in_one_process() {
    let (_folder, path) = folder();
    let (first, second) = (filled(&path).await, SqliteStore::open(&path).await.unwrap());
    assert_filled(&second).await;
    second
        .append(&tenant("t"), &chain("c", &["a", "b", "c"], 2))
        .await
        .unwrap();
    assert_eq!(
        first.history(&tenant("t"), node("c")).await.unwrap().len(),
        3
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn created_by_many_at_once() {
    let (_folder, path) = folder();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let path = path.clone();
        tasks.spawn(async move { filled(&path).await });
    }
    for store in tasks.join_all().await {
        assert_filled(&store).await;
    }
}

/// What `kill -9` leaves behind: the files as they are while the store is open.
#[tokio::test]
async fn copied_while_open() {
    let (folder, path) = folder();
    let store = filled(&path).await;
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    fs::copy(
        folder.path().join("log.db-wal"),
        folder.path().join("copy.db-wal"),
    )
    .unwrap();
    let revived = SqliteStore::open(&copy).await.unwrap();
    assert_filled(&revived).await;
    revived
        .append(&tenant("t"), &chain("c", &["a", "b", "c"], 2))
        .await
        .unwrap();
    assert_filled(&store).await;
}

/// The end of the write-ahead file is torn off: the last commit is lost as a whole, the rest is sound.
#[tokio::test]
async fn torn_write_ahead_file() {
    let (folder, path) = folder();
    let store = filled(&path).await;
    let wal = folder.path().join("log.db-wal");
    let sound = fs::metadata(&wal).unwrap().len();
    store
        .append(&tenant("t"), &chain("c", &["a", "b", "c"], 2))
        .await
        .unwrap();
    let mut bytes = fs::read(&wal).unwrap();
    bytes.truncate(usize::try_from(sound).unwrap() + 1_000);
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    fs::write(folder.path().join("copy.db-wal"), bytes).unwrap();
    let revived = SqliteStore::open(&copy).await.unwrap();
    assert_filled(&revived).await;
    assert_eq!(
        revived
            .find_nodes(&tenant("t"), &[node("c")])
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn opened_read_only() {
    let (_folder, path) = folder();
    let error = SqliteStore::open_read_only(&path).await.unwrap_err();
    assert!(matches!(error, Error::CannotOpen(_)), "{error:?}");
    let writing = filled(&path).await;
    let reading = SqliteStore::open_read_only(&path).await.unwrap();
    assert_filled(&reading).await;
    assert_refuses_writes(&reading).await;
    writing.close().await;
    assert_filled(&SqliteStore::open_read_only(&path).await.unwrap()).await;
}

#[tokio::test]
async fn read_only_file() {
    let (folder, path) = folder();
    filled(&path).await.close().await;
    set_read_only(&path);
    let store = SqliteStore::open(&path).await.unwrap();
    assert_filled(&store).await;
    if permissions_bind(folder.path()) {
        assert_refuses_writes(&store).await;
    } else {
        assert!(!store.is_read_only());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn read_only_folder() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = folder();
    filled(&path).await.close().await;
    let binds = permissions_bind(folder.path());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert_filled(&store).await;
    let new = SqliteStore::open(folder.path().join("new.db")).await;
    if binds {
        assert_refuses_writes(&store).await;
        let error = new.unwrap_err();
        assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = folder();
    let _store = filled(&path).await;
    for file in ["log.db", "log.db-wal"] {
        let mode = fs::metadata(folder.path().join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}

#[tokio::test]
async fn garbage_file() {
    let (_folder, path) = folder();
    for garbage in [&b"not a database"[..], &[0xa5; 10_000]] {
        fs::write(&path, garbage).unwrap();
        let error = SqliteStore::open(&path).await.unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), garbage);
    }
}

#[tokio::test]
async fn damaged_pages() {
    let (_folder, path) = folder();
    filled(&path).await.close().await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = match SqliteStore::open(&path).await {
        Ok(store) => store.history(&tenant("t"), node("b")).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
}

#[tokio::test]
async fn folder_in_place_of_a_file() {
    let folder = TempDir::new().unwrap();
    let error = SqliteStore::open(folder.path()).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = SqliteStore::open(file.join("below/log.db"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

#[tokio::test]
async fn names_that_sqlite_would_interpret() {
    let folder = TempDir::new().unwrap();
    for name in ["file:x?mode=memory", "100%25 #1.db", ":memory:"] {
        let path = folder.path().join(name);
        filled(&path).await.close().await;
        assert!(path.exists(), "{name}");
        assert_filled(&SqliteStore::open_read_only(&path).await.unwrap()).await;
    }
}
