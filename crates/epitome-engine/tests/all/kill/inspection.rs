//! What is left after a kill.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use epitome_engine::Clock;
use epitome_engine::conversation::StepAction;
use epitome_store::{AnyStore, ChangeKind, ConversationId, Leases, Store, TenantId};
use epitome_testkit::stores;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use super::child::{LEASE_MS, WIRE, engine};
use crate::all::state_machine::model::Seen;

/// How long work in the background may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was acknowledged, by conversation.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) entries: BTreeMap<String, Vec<String>>,
    /// What was begun last and may be there or not.
    tried: Option<(String, String)>,
    pub(super) pushes: usize,
    pub(super) forks: usize,
    pub(super) compactions: usize,
    pub(super) undone: usize,
    pub(super) begun_anew: usize,
}

impl Known {
    /// Takes note of a line that the process wrote.
    pub(super) fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words.as_slice() {
            ["try-push", id, raw] => {
                self.tried = Some(((*id).to_owned(), (*raw).to_owned()));
            }
            ["push", id, raw] => {
                let entries = self.entries.entry((*id).to_owned()).or_default();
                entries.push((*raw).to_owned());
                self.tried = None;
                self.pushes += 1;
            }
            ["fork", parent, rest] => {
                let (id, shared) = rest.split_once(' ').unwrap();
                let parent = self.entries.get(*parent).cloned().unwrap_or_default();
                let shared = parent[..shared.parse::<usize>().unwrap()].to_vec();
                self.entries.insert(id.to_owned(), shared);
                self.forks += 1;
            }
            _ => {}
        }
    }

    /// Everything acknowledged is in the store, and what is there is whole, valid and workable.
    pub(super) async fn inspect(&mut self, location: &str, names: &[String]) {
        if let Some(file) = location.strip_prefix("sqlite:") {
            assert_sound(Path::new(file)).await;
        }
        stores::let_time_pass(location, LEASE_MS + 1);
        // Later than any lease that the dead one held.
        let clock = Clock::default();
        let later = Clock::new(move || clock.now_ms() + LEASE_MS + 1);
        let second = engine(location, later.clone(), 0).await;
        let first = engine(location, later.clone(), 0).await;
        let leases = AnyStore::open(location).await.unwrap();
        for name in names {
            let id = ConversationId::new(name).unwrap();
            let conversation = first.open(&id).await.unwrap();
            let seen = Seen::of(&conversation).await;
            self.assert_entries(name, &seen);
            seen.assert_valid(WIRE);
            seen.assert_nothing_twice();
            let again = Seen::of(&second.open(&id).await.unwrap()).await;
            seen.assert_same(&again, "put together twice");
            let now_ms = later.now_ms();
            let tenant = TenantId::local();
            let asked = leases.acquire_lease(&tenant, &id, "inspector", now_ms, now_ms + 1);
            let fence = asked.await.unwrap().expect("a job is stuck");
            leases.release_lease(&tenant, &id, fence).await.unwrap();
            // Somebody else goes on with it.
            let step = conversation.prepare_step().await.unwrap();
            if step.action == StepAction::Preparing {
                self.begun_anew += 1;
                let done = async {
                    while conversation.is_preparing().await {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                };
                let done = tokio::time::timeout(PATIENCE, done).await;
                done.expect("background work never ends");
            }
            Seen::of(&conversation).await.assert_valid(WIRE);
        }
        self.tried = None;
        leases.close().await;
        first.shutdown().await;
        second.shutdown().await;
    }

    fn assert_entries(&mut self, name: &str, seen: &Seen) {
        let stored = seen.entries.iter();
        let stored: Vec<&str> = stored
            .map(|raw| std::str::from_utf8(raw).unwrap())
            .collect();
        let known = self.entries.entry(name.to_owned()).or_default();
        if stored.len() == known.len() + 1
            && let Some((tried, raw)) = &self.tried
            && tried == name
        {
            // It was written, and the process died before it could say so.
            known.push(raw.clone());
        }
        assert_eq!(stored, *known, "the entries of {name}");
        let count = |kind| seen.log.iter().filter(|one| one.0 == kind).count();
        self.compactions += count(ChangeKind::Compacted);
        self.undone += count(ChangeKind::Undone);
    }
}

/// SQLite itself finds nothing wrong with the file.
async fn assert_sound(file: &Path) {
    use sqlx::Connection;
    let options = SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.unwrap();
    let found: String = sqlx::query_scalar("PRAGMA integrity_check")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(found, "ok");
    let orphans = sqlx::query("PRAGMA foreign_key_check")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert!(orphans.is_empty(), "rows refer to what is not there");
    connection.close().await.unwrap();
}
