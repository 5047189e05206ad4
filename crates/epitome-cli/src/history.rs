//! What is kept of stored conversations and of models: `log`, `show`, `undo`, `fork`, `pins`, `savings`, `models`, and `mcp`, which
//! lets agents look there.

mod fork;
mod log;
mod mcp;
mod models;
mod pins;
mod savings;
mod show;
mod undo;

use std::path::Path;

use anyhow::{Context, Result, bail};
use epitome_config::Address;
use epitome_server::StoreLocation;
use epitome_store::{AnyStore, ConversationId, Conversations, Digest, Keys, Store, TenantId};

use crate::Ending;
use crate::args::{
    ForkArgs, LogArgs, McpArgs, ModelsArgs, PinsArgs, SavingsArgs, ShowArgs, StoreArgs, UndoArgs,
};
use crate::serve::store_location;
use crate::store_key;
use crate::terminal::tell;
pub(crate) use log::gist;

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

pub(crate) fn savings(args: &SavingsArgs) -> Result<Ending> {
    block_on(savings::run(args))
}

pub(crate) fn mcp(args: &McpArgs) -> Result<Ending> {
    block_on(mcp::run(args))
}

impl StoreArgs {
    pub(crate) async fn open_read_only(&self) -> Result<AnyStore> {
        let location = self.location()?;
        let file = location
            .strip_prefix("sqlite:")
            .filter(|file| *file != ":memory:");
        if file.is_some_and(|file| !Path::new(file.trim_start_matches("//")).exists()) {
            bail!(
                "{}: there is no file yet: the first start of `epitome serve` or `epitome wrap` makes it, and --store names \
                 another",
                Address::new(location)
            );
        }
        AnyStore::open_read_only_with(&location, &self.keys()?)
            .await
            .with_context(|| Address::new(location).to_string())
    }

    /// Opens what is there already for writing.
    pub(crate) async fn open(&self) -> Result<AnyStore> {
        let location = self.location()?;
        // Opening would make a new one, which is not what somebody means who names a conversation.
        self.open_read_only().await?.close().await;
        AnyStore::open_with(&location, &self.keys()?)
            .await
            .with_context(|| Address::new(location).to_string())
    }

    pub(crate) fn keys(&self) -> Result<Keys> {
        store_key::keys(self.key_file.as_deref())
    }

    pub(crate) fn location(&self) -> Result<String> {
        match store_location(self.store.as_deref())? {
            StoreLocation::Url(url) | StoreLocation::Encrypted { url, .. } => Ok(url),
            StoreLocation::None => bail!("nothing is kept without a store: name one with --store"),
        }
    }
}

/// How many conversations are looked through for one whose name begins as somebody typed it.
const NAMED_AMONG: u32 = 100_000;
/// The shortest name that is shown.
const SHORT_CHARS: usize = 8;

/// The conversation with this name, or the only one whose name begins with it; `None` when there is none.
pub(crate) async fn full_session(
    store: &AnyStore,
    tenant: &TenantId,
    given: &ConversationId,
) -> Result<Option<ConversationId>> {
    if store.conversation(tenant, given).await?.is_some() {
        return Ok(Some(given.clone()));
    }
    let rows = store.conversations(tenant, NAMED_AMONG).await?;
    let begins =
        |row: &&epitome_store::ConversationRow| row.id.as_str().starts_with(given.as_str());
    let mut found = rows.iter().filter(begins);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(Some(one.id.clone())),
        (Some(one), Some(other)) => bail!(
            "several conversations begin with {given}: {}, {} …; type more of it",
            one.id,
            other.id
        ),
        (None, _) => Ok(None),
    }
}

/// The shortest beginnings by which these names can be told apart.
pub(crate) fn short_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let alike = |one: &str, other: &str| {
        let both = one.chars().zip(other.chars());
        both.take_while(|(one, other)| one == other).count()
    };
    let most = sorted.windows(2).map(|pair| match pair {
        [one, other] => alike(one, other),
        _ => 0,
    });
    let chars = (most.max().unwrap_or(0) + 1).max(SHORT_CHARS);
    let short = |id: &&str| id.chars().take(chars).collect();
    ids.iter().map(short).collect()
}

/// A point in time, in UTC.
pub(crate) fn moment(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .map(|at| at.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
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
