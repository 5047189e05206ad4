//! `epitome store`: looking after the store, a module for each verb.

mod delete;
mod export;
mod gc;
mod import;
mod migrate;
mod progress;
mod rotate;
mod stats;
mod vacuum;

use anyhow::{Context as _, Result};
use epitome_config::Address;
use epitome_store::{AnyStore, TenantId};

use crate::Ending;
use crate::args::{StoreArgs, StoreCommand, StorePlainArgs};
use crate::history::block_on;

pub(crate) fn run(command: &StoreCommand) -> Result<Ending> {
    match command {
        StoreCommand::Stats(args) => block_on(stats::run(args)),
        StoreCommand::Gc(args) => block_on(gc::run(args)),
        StoreCommand::Delete(args) => block_on(delete::run(args)),
        StoreCommand::Export(args) => export::run(args),
        StoreCommand::Import(args) => block_on(import::run(args)),
        StoreCommand::Migrate(args) => block_on(migrate::run(args)),
        StoreCommand::Vacuum(args) => block_on(vacuum::run(args)),
        StoreCommand::Rotate(args) => block_on(rotate::run(args)),
    }
}

impl StorePlainArgs {
    /// Where it is.
    fn place(&self) -> StoreArgs {
        StoreArgs {
            store: self.store.clone(),
            key_file: self.key_file.clone(),
            tenant: TenantId::local(),
            json: self.json,
        }
    }

    /// Opens it, and makes it where there is none.
    async fn open_or_create(&self) -> Result<AnyStore> {
        let place = self.place();
        let location = place.location()?;
        AnyStore::open_with(&location, &place.keys()?)
            .await
            .with_context(|| Address::new(location).to_string())
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    i64::try_from(crate::clock::now_ms()).unwrap_or(i64::MAX)
}

/// A size as people read it.
fn human(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let unit = UNITS.into_iter().find(|(_, unit)| bytes >= *unit);
    match unit {
        Some((name, unit)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}
