//! The key that a store is encrypted with: from the environment, or from a file.

use std::path::Path;

use anyhow::{Context as _, Result};
use epitome_store::Keys;

/// Holds the keys themselves, where no file does. It is no flag, which everybody on the machine could read.
const VARIABLE: &str = "EPITOME_STORE_KEY";

/// The keys that are given; none where nobody gives one. The environment comes before a file.
pub(crate) fn keys(file: Option<&Path>) -> Result<Keys> {
    match (std::env::var(VARIABLE), file) {
        (Ok(text), _) if !text.is_empty() => Keys::parse(&text).context(VARIABLE),
        (_, Some(file)) => {
            let text = std::fs::read_to_string(file);
            let text = text.with_context(|| format!("the key file {}", file.display()))?;
            Keys::parse(&text).with_context(|| format!("the key file {}", file.display()))
        }
        _ => Ok(Keys::none()),
    }
}
