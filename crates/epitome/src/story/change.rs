//! What was done to files: every edit of a file merged into one account of it.

use std::borrow::Cow;
use std::collections::HashSet;

use super::outline::declared;
use super::telling::{declaration, heart, messages};
use crate::files::{paths, plain_name, strings};
use crate::message::Call;
use crate::word_cut::clip;

/// What happened to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRecord {
    pub(crate) path: String,
    pub(crate) edits: u32,
    pub(crate) reads: u32,
    pub(crate) is_new: bool,
    pub(crate) is_deleted: bool,
    /// The entry that touched it last, and the one that changed it last.
    pub(crate) last: usize,
    pub(crate) last_edit: Option<usize>,
    /// What edits declared anew, with the lines that do, what they took away, and what they changed inside.
    pub(crate) added: Vec<(String, String)>,
    pub(crate) removed: Vec<String>,
    pub(crate) touched: Vec<String>,
    /// The most telling line of each edit, the newest last.
    pub(crate) hearts: Vec<String>,
    /// The lines of edits that say what is wrong, or what people will read, the newest last.
    pub(crate) messages: Vec<String>,
    /// What edits of it were said to be for, the newest last; looks at it, as long as no edit was.
    pub(crate) purposes: Vec<String>,
    /// What it declares, as far as it was read.
    pub(crate) outline: Vec<(String, String)>,
}

/// An edit of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) is_new: bool,
    pub(crate) is_deleted: bool,
}

/// Lists of names of one file are kept up to this length.
const NAMES: usize = 40;
/// The longest line of a file that is quoted.
const LINE_CHARS: usize = 110;

impl FileRecord {
    /// Adds an edit. What looks at the file were for says nothing of what was done to it.
    pub(crate) fn edit(&mut self, edit: &Edit, position: usize) {
        if self.edits == 0 {
            self.purposes.clear();
        }
        self.edits += 1;
        self.last = position;
        self.last_edit = Some(position);
        self.is_new |= edit.is_new && self.reads == 0 && self.edits == 1;
        self.is_deleted = edit.is_deleted;
        let (old, new) = (declared(&edit.old), declared(&edit.new));
        let old_names: HashSet<&str> = old.iter().map(|declared| declared.name).collect();
        let new_names: HashSet<&str> = new.iter().map(|declared| declared.name).collect();
        for declared in &new {
            let was = old_names.contains(declared.name);
            let known = self
                .added
                .iter()
                .position(|(name, _)| name == declared.name);
            match (was, known) {
                (_, Some(at)) => {
                    if let Some((_, line)) = self.added.get_mut(at) {
                        *line = declaration(declared, &edit.new);
                    }
                }
                (false, None) if self.added.len() < NAMES => {
                    let line = declaration(declared, &edit.new);
                    self.added.push((declared.name.to_owned(), line));
                }
                (true, None) => push_newest(&mut self.touched, declared.name),
                (false, None) => {}
            }
            self.removed.retain(|name| name != declared.name);
        }
        for was in old {
            if !new_names.contains(was.name) {
                self.added.retain(|(name, _)| name != was.name);
                self.touched.retain(|name| name != was.name);
                push_newest(&mut self.removed, was.name);
            }
        }
        if let Some(heart) = heart(&edit.old, &edit.new) {
            push_newest(&mut self.hearts, &heart);
        }
        for message in messages(&edit.old, &edit.new) {
            if self.hearts.last() != Some(&message) {
                push_newest(&mut self.messages, &message);
            }
        }
    }

    /// Adds a look at it.
    pub(crate) fn read(&mut self, text: &str, position: usize) {
        self.reads += 1;
        self.last = position;
        for declared in declared(text) {
            let is_known = self.outline.iter().any(|(name, _)| name == declared.name);
            if !is_known && self.outline.len() < NAMES {
                let line = clip(declared.line, LINE_CHARS);
                self.outline.push((declared.name.to_owned(), line));
            }
        }
    }

    /// Notes what a look was for. Of a file that was changed, this says nothing of what was done to it.
    pub(crate) fn is_read_for(&mut self, purpose: Option<&str>) {
        if let Some(purpose) = purpose.filter(|_| self.edits == 0) {
            push_newest(&mut self.purposes, purpose);
        }
    }

    /// Notes what an edit was for.
    pub(crate) fn is_edited_for(&mut self, purpose: Option<&str>) {
        if let Some(purpose) = purpose {
            push_newest(&mut self.purposes, purpose);
        }
    }
}

fn push_newest(list: &mut Vec<String>, text: &str) {
    list.retain(|known| known != text);
    if list.len() == NAMES {
        list.remove(0);
    }
    list.push(text.to_owned());
}

/// The edits that a call asks for.
pub(crate) fn edits(call: &Call) -> Vec<Edit> {
    let strings = strings(&call.arguments);
    let patch = strings
        .iter()
        .map(|(_, value)| value.as_ref())
        .find(|value| is_patch(value));
    let raw = Some(call.arguments.as_ref()).filter(|text| is_patch(text) && strings.is_empty());
    if let Some(patch) = patch.or(raw) {
        return patched(patch);
    }
    let mut edits: Vec<Edit> = Vec::new();
    let mut old: Option<Cow<'_, str>> = None;
    for (name, value) in strings {
        match plain_name(&name).as_str() {
            "oldstring" | "oldstr" | "oldtext" | "search" => old = Some(value),
            "newstring" | "newstr" | "newtext" | "replace" | "inserttext" | "newsource" => edits
                .push(Edit {
                    old: old.take().unwrap_or_default().into_owned(),
                    new: value.into_owned(),
                    ..Edit::default()
                }),
            "content" | "filetext" | "contents" => edits.push(Edit {
                new: value.into_owned(),
                is_new: true,
                ..Edit::default()
            }),
            _ => {}
        }
    }
    let Some(path) = paths(call).into_iter().next() else {
        return Vec::new();
    };
    for edit in &mut edits {
        edit.path.clone_from(&path);
    }
    if edits.is_empty() {
        edits.push(Edit {
            path,
            ..Edit::default()
        });
    }
    edits
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// The edits of a patch.
fn patched(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for line in patch.lines() {
        let file = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|head| Some((*head, line.strip_prefix(head)?)));
        if let Some((head, path)) = file {
            edits.push(Edit {
                path: path.trim().to_owned(),
                is_new: head.contains("Add"),
                is_deleted: head.contains("Delete"),
                ..Edit::default()
            });
            continue;
        }
        let Some(edit) = edits.last_mut().filter(|_| !line.starts_with("***")) else {
            continue;
        };
        let add = |text: &mut String, line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        if let Some(line) = line.strip_prefix('+') {
            add(&mut edit.new, line);
        } else if let Some(line) = line.strip_prefix('-') {
            add(&mut edit.old, line);
        } else {
            let line = line
                .strip_prefix("@@")
                .unwrap_or(line)
                .trim_start_matches(' ');
            add(&mut edit.old, line);
            add(&mut edit.new, line);
        }
    }
    edits
}
