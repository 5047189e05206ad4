//! `epitome config key`: a key for a tenant, and the digest of one.

use std::io::Read as _;

use anyhow::{Context, Result, bail};
use epitome_server::{KeyDigest, fresh_key};
use serde_json::json;

use crate::Ending;
use crate::args::ConfigKeyArgs;
use crate::terminal::tell;

pub(super) fn run(args: &ConfigKeyArgs) -> Result<Ending> {
    let (key, shown) = match args.stdin {
        true => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read standard input")?;
            if text.trim().is_empty() || text.trim().lines().count() > 1 {
                bail!("standard input is not one key: echo \"$KEY\" | epitome config key --stdin");
            }
            (text.trim().to_owned(), None)
        }
        false => {
            let key = fresh_key().context("the system gives no random numbers")?;
            (key.clone(), Some(key))
        }
    };
    let digest = KeyDigest::of(&key).to_string();
    if args.json {
        crate::print(&format!("{}\n", json!({ "key": shown, "digest": digest })))?;
    } else if let Some(key) = shown {
        crate::print(&format!("key = \"{key}\"\ndigest = \"{digest}\"\n"))?;
        tell!(
            "epitome: give the key to the tenant's clients, as x-epitome-key; the digest belongs into `keys` of [tenants.NAME]"
        );
    } else {
        crate::print(&format!("{digest}\n"))?;
    }
    Ok(Ending::Done)
}
