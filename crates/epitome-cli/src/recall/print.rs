//! What was found, for people and for scripts.

use std::fmt::Write;

use epitome_engine::archive::{Found, Hit, one_line};
use serde_json::{Value, json};

const SUMMARY_CHARS: usize = 60;

pub(super) fn object(query: &str, found: &Found) -> Value {
    let hits: Vec<Value> = found.hits.iter().map(Hit::object).collect();
    json!({ "query": query, "hits": hits })
}

/// Writing to a string cannot fail, so what `write!` returns is dropped.
pub(super) fn text(found: &Found) -> String {
    let mut out = String::new();
    for hit in &found.hits {
        if found.several {
            let _ = write!(out, "conversation {}, ", hit.conversation);
        }
        let _ = write!(out, "entry {}", hit.position);
        if let Some(role) = hit.role {
            let _ = write!(out, ", {role}");
        }
        if let Some(key) = &hit.key {
            let _ = write!(out, ", {key}");
        }
        let _ = writeln!(out, "\n    {}", hit.excerpt);
        if let Some(cover) = &hit.covered_by {
            let summary = one_line(&cover.summary, SUMMARY_CHARS);
            let _ = writeln!(out, "    covered by {}: {summary}", cover.name);
        }
    }
    out
}
