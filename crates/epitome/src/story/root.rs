//! The folder that a project stands in: it is told once, and paths are told from there.

use std::collections::HashMap;

use crate::files::{plain_name, strings_under};
use crate::message::Message;

/// Folders inside a project, not above one.
const INSIDE: &[&str] = &[
    "src", "cmd", "lib", "pkg", "packages", "apps", "test", "tests", "internal", "docs", "crates",
    "scripts",
];
/// So many paths make a project.
const FEWEST: u32 = 4;
/// The share of all paths that stand in it, in percent.
const SHARE_PERCENT: u32 = 60;
/// Files of which one may show where the folder is.
const SHOWN: usize = 32;
/// A folder is far above another whose path is longer by more than this, in bytes.
const FAR_ABOVE: usize = 24;
/// A project stands at least this deep.
const LEAST_DEPTH: usize = 2;

/// Where the project stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The folder.
    pub(crate) folder: String,
    /// A file in it as it was named, where nobody named the folder by itself: we name nothing that nobody named.
    shown_by: Option<String>,
}

impl Root {
    /// How paths are told, as a sentence.
    pub(crate) fn told(&self) -> String {
        match &self.shown_by {
            None => format!("Paths are told from {}.", self.folder),
            Some(path) => {
                let short = from_root(path, Some(&self.folder));
                format!("Paths are told from the project's folder: {short} is {path}.")
            }
        }
    }
}

fn is_folder(name: &str) -> bool {
    matches!(
        plain_name(name).as_str(),
        "workdir" | "cwd" | "workingdirectory"
    )
}

fn is_path(name: &str) -> bool {
    let name = plain_name(name);
    name.contains("path") || name == "file"
}

/// The folder in which most of the named files stand.
pub(super) fn find<'a>(messages: &(impl Iterator<Item = &'a Message> + Clone)) -> Option<Root> {
    let mut folders: HashMap<String, u32> = HashMap::new();
    let mut files: Vec<String> = Vec::new();
    let mut all = 0;
    for call in messages.clone().flat_map(Message::calls) {
        for (name, value) in strings_under(&call.arguments, |name| is_folder(name) || is_path(name))
        {
            let is_folder = is_folder(&name);
            let is_plain =
                value.starts_with('/') && !value.contains(['\n', ' ']) && value.len() < 400;
            if !is_plain || value.starts_with("/tmp/") {
                continue;
            }
            all += 1;
            if !is_folder && files.len() < SHOWN {
                files.push(value.to_string());
            }
            let mut parts = value.trim_end_matches('/').split('/').skip(1).peekable();
            let mut folder = String::new();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() && !is_folder || INSIDE.contains(&part) {
                    break;
                }
                folder.push('/');
                folder.push_str(part);
                *folders.entry(folder.clone()).or_default() += 1;
            }
        }
    }
    let depth = |folder: &str| folder.matches('/').count();
    let mut folders: Vec<String> = folders
        .into_iter()
        .filter(|(folder, count)| {
            *count >= FEWEST && count * 100 >= all * SHARE_PERCENT && depth(folder) >= LEAST_DEPTH
        })
        .map(|(folder, _)| folder)
        .collect();
    folders.sort_by(|one, other| (depth(other), other).cmp(&(depth(one), one)));
    let deepest = folders.first()?.clone();
    let named = folders
        .into_iter()
        .find(|folder| messages.clone().any(|message| names(message, folder)));
    // A folder that was named is better known, unless it stands far above: "/home/ana".
    if let Some(folder) =
        named.filter(|named| deepest.len().saturating_sub(named.len()) <= FAR_ABOVE)
    {
        return Some(Root {
            folder,
            shown_by: None,
        });
    }
    let is_shorter = |path: &String| from_root(path, Some(&deepest)) != *path;
    let shown_by = files
        .into_iter()
        .filter(is_shorter)
        .min_by_key(String::len)?;
    Some(Root {
        folder: deepest,
        shown_by: Some(shown_by),
    })
}

/// Whether a message names a folder by itself, not as the beginning of a path.
fn names(message: &Message, folder: &str) -> bool {
    let named = |text: &str| {
        let mut places = text.match_indices(folder);
        places.any(|(at, _)| {
            let behind = text.get(at + folder.len()..).unwrap_or_default();
            let behind = behind.strip_prefix('/').unwrap_or(behind);
            behind
                .chars()
                .next()
                .is_none_or(|one| one.is_whitespace() || "\"'`;&)\\".contains(one))
        })
    };
    message.spoken().any(named)
        || message.calls().any(|call| named(&call.arguments))
        || message
            .results()
            .flat_map(|result| result.texts())
            .any(named)
}

/// A text in which paths begin at the root. Those of files right in it stay whole: a name alone could be any file's.
pub(crate) fn from_root(text: &str, root: Option<&str>) -> String {
    let Some(root) = root.filter(|root| text.contains(*root)) else {
        return text.to_owned();
    };
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(root) {
        told.push_str(before);
        let inside = behind.strip_prefix('/').filter(|inside| {
            let end = inside.find(|one: char| one.is_whitespace() || "\"'`:,;()<>|…".contains(one));
            inside
                .get(..end.unwrap_or(inside.len()))
                .is_some_and(|path| {
                    path.trim_end_matches('/').contains('/') && !path.starts_with('.')
                })
        });
        match inside {
            Some(inside) => rest = inside,
            None => {
                told.push_str(root);
                rest = behind;
            }
        }
    }
    told.push_str(rest);
    told
}
