//! `epitome store vacuum`.

use anyhow::Result;
use epitome_store::{Housekeeping as _, Store as _};
use serde_json::json;

use super::human;
use crate::args::StorePlainArgs;
use crate::{Ending, print};

pub(super) async fn run(args: &StorePlainArgs) -> Result<Ending> {
    let store = args.place().open().await?;
    let before = store.statistics().await?.disk_bytes;
    store.vacuum().await?;
    let after = store.statistics().await?.disk_bytes;
    store.close().await;
    let text = match args.json {
        true => json!({ "disk_bytes_before": before, "disk_bytes": after }).to_string() + "\n",
        false => format!("{} on disk, {} before\n", human(after), human(before)),
    };
    print(&text)?;
    Ok(Ending::Done)
}
