//! What was found, for people and for scripts.

use epitome_engine::archive::{Found, Hit};
use serde_json::{Value, json};

use super::file::Place;
use crate::history::{gist, moment};
use crate::homes;
use crate::terminal::Page;

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

pub(super) fn page(found: &Found, places: &[Place]) -> Page {
    let mut page = Page::default();
    for (at, hit) in found.hits.iter().enumerate() {
        let mut parts = Vec::new();
        if let Some(place) = places.get(at) {
            let at_ms = place.at_ms.and_then(|at_ms| i64::try_from(at_ms).ok());
            parts.extend(at_ms.map(moment));
            parts.push(homes::shown(&place.file));
        }
        if found.several {
            parts.push(format!("conversation {}", hit.conversation));
        }
        parts.push(format!("entry {}", hit.position));
        parts.extend(hit.role.map(str::to_owned));
        parts.extend(hit.key.as_ref().map(ToString::to_string));
        page.heading(parts.join(", "));
        page.line(format!("    {}", hit.excerpt));
        if let Some(cover) = &hit.covered_by {
            let summary = gist(&cover.summary, SUMMARY_CHARS);
            page.faint(format!("    covered by {}: {summary}", cover.name));
        }
    }
    page
}
