//! What is kept of stored conversations and of models: `log`, `show`, `undo`, `fork`, `pins` and `models`.

mod fork;
mod log;
mod models;
mod pins;
mod show;
mod undo;

use anyhow::{Context, Result, bail};
use epitome_config::Address;
use epitome_server::StoreLocation;
use epitome_store::{AnyStore, ConversationId, Digest, Store};

use crate::Ending;
use crate::args::{ForkArgs, LogArgs, ModelsArgs, PinsArgs, ShowArgs, StoreArgs, UndoArgs};
use crate::serve::store_location;
use crate::terminal::tell;

pub(crate) fn log(args: &LogArgs) -> Result<Ending> {
    block_on(log::run(args))
}

pub(crate) fn models(args: &ModelsArgs) -> Result<Ending> {
    block_on(models::run(args))
}

pub(crate) fn pins(args: &PinsArgs) -> Result<Ending> {
    block_on(pins::run(args))
}

pub(crate) fn show(args: &ShowArgs) -> Result<Ending> {
    block_on(show::run(args))
}

pub(crate) fn undo(args: &UndoArgs) -> Result<Ending> {
    block_on(undo::run(args))
}

pub(crate) fn fork(args: &ForkArgs) -> Result<Ending> {
    block_on(fork::run(args))
}

impl StoreArgs {
    pub(crate) async fn open_read_only(&self) -> Result<AnyStore> {
        let location = self.location()?;
        AnyStore::open_read_only(&location)
            .await
            .with_context(|| Address::new(location).to_string())
    }

    async fn open(&self) -> Result<AnyStore> {
        let location = self.location()?;
        // Opening would make a new one, which is not what somebody means who names a conversation.
        self.open_read_only().await?.close().await;
        AnyStore::open(&location)
            .await
            .with_context(|| Address::new(location).to_string())
    }

    fn location(&self) -> Result<String> {
        match store_location(self.store.as_deref())? {
            StoreLocation::Url(url) => Ok(url),
            StoreLocation::None => bail!("nothing is kept without a store: name one with --store"),
        }
    }
}

/// Says on standard error that there is no such conversation.
pub(crate) fn unknown_session(id: &ConversationId) -> Ending {
    tell!("epitome: no conversation {id} in this store; `epitome log` lists them");
    Ending::No
}

/// Reads a digest as it is printed.
fn digest(text: &str) -> Option<Digest> {
    let bytes: Option<Vec<u8>> = (0..text.len())
        .step_by(2)
        .map(|start| u8::from_str_radix(text.get(start..start + 2)?, 16).ok())
        .collect();
    // A sign would be read as part of a number, hence the comparison.
    Digest::from_slice(&bytes?).filter(|digest| digest.to_string().eq_ignore_ascii_case(text))
}

/// Runs a command that asks a store.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?
        .block_on(future)
}
