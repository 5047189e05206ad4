//! `epitome store migrate`.

use anyhow::Result;
use epitome_store::{Housekeeping as _, Store as _};
use serde_json::json;

use crate::args::StorePlainArgs;
use crate::{Ending, print};

pub(super) async fn run(args: &StorePlainArgs) -> Result<Ending> {
    // What cannot be read without an update has no number yet.
    let before = match args.place().open_read_only().await {
        Ok(store) => {
            let found = store.statistics().await?.schema;
            store.close().await;
            Some(found)
        }
        Err(_) => None,
    };
    let store = args.open_or_create().await?;
    let schema = store.statistics().await?.schema;
    store.close().await;
    let text = match (args.json, before) {
        (true, _) => json!({ "from": before, "schema": schema }).to_string() + "\n",
        (false, Some(before)) if before == schema => format!("schema {schema}: up to date\n"),
        (false, Some(before)) => format!("schema {before} is now {schema}\n"),
        (false, None) => format!("schema {schema}\n"),
    };
    print(&text)?;
    Ok(Ending::Done)
}
