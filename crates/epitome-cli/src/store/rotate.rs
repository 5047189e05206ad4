//! `epitome store rotate`.

use anyhow::Result;
use epitome_store::{Error, Housekeeping as _, Store as _};
use serde_json::json;

use crate::args::StorePlainArgs;
use crate::{Ending, print};

pub(super) async fn run(args: &StorePlainArgs) -> Result<Ending> {
    let place = args.place();
    if place.keys()?.is_empty() {
        return Err(Error::KeyNeeded.into());
    }
    let store = place.open().await?;
    let resealed = store.reseal().await;
    store.close().await;
    let rows = resealed?.rows;
    let text = match args.json {
        true => json!({ "rows": rows }).to_string() + "\n",
        false => format!("{rows} rows encrypted with the first key; no other key is needed now\n"),
    };
    print(&text)?;
    Ok(Ending::Done)
}
