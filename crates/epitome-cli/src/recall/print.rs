//! What was found, for people and for scripts.

use std::fmt::Write;

use epitome_engine::archive::{Found, Hit, one_line};
use serde_json::{Value, json};

use super::file::Place;
use crate::history::moment;
use crate::homes;

const SUMMARY_CHARS: usize = 60;

/// `places` says in which file each of them is, where several were looked in.
pub(super) fn object(query: &str, found: &Found, places: &[Place]) -> Value {
    let mut hits: Vec<Value> = found.hits.iter().map(Hit::object).collect();
    for (hit, place) in hits.iter_mut().zip(places) {
        if let Value::Object(members) = hit {
            members.insert("file".to_owned(), place.file.display().to_string().into());
            members.insert("at_ms".to_owned(), place.at_ms.into());
        }
    }
    json!({ "query": query, "hits": hits })
}

/// Writing to a string cannot fail, so what `write!` returns is dropped.
pub(super) fn text(found: &Found, places: &[Place]) -> String {
    let mut out = String::new();
    for (at, hit) in found.hits.iter().enumerate() {
        if let Some(place) = places.get(at) {
            let at_ms = place.at_ms.and_then(|at_ms| i64::try_from(at_ms).ok());
            let date = at_ms.map_or_else(String::new, |at_ms| moment(at_ms) + ", ");
            let _ = write!(out, "{date}{}, ", homes::shown(&place.file));
        }
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
