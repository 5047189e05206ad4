//! What common agents call their file tools, and how they name files.

use crate::message::Call;

use super::arguments;

/// A longer "path" is content in the wrong place.
const PATH_CHARS: usize = 1_024;
/// How a patch names the files it touches.
const PATCH_HEADS: &[&str] = &[
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// What a tool does to the files it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Modify,
}

/// A tool's or an argument's name as everybody spells it: `mcp__fs__read_file`, `ReadFile`, `read-file` → `readfile`.
pub(crate) fn plain(name: &str) -> String {
    let last = last_part(name);
    // Nearly all of them.
    if last.is_ascii() {
        let letters = last.bytes().filter(u8::is_ascii_alphanumeric);
        return letters
            .map(|letter| char::from(letter.to_ascii_lowercase()))
            .collect();
    }
    last.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A name without what it stands in: `mcp__x__updatePlan`, `functions.updatePlan`.
fn last_part(name: &str) -> &str {
    let bytes = name.as_bytes();
    let mark = memchr::memrchr3(b'.', b'/', b':', bytes).map_or(0, |at| at + 1);
    let behind = bytes.get(mark..).unwrap_or_default();
    let line = behind.windows(2).rposition(|two| two == b"__");
    let start = mark + line.map_or(0, |at| at + 2);
    name.get(start..).unwrap_or(name)
}

/// The words of a tool's name: `mcp__x__updatePlan`, `update_plan` → `update`, `plan`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let last = last_part(name);
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for letter in last.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_small {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a call does to files, if its tool is one that everybody knows.
pub(crate) fn access(call: &Call) -> Option<Access> {
    match plain(&call.name).as_str() {
        "read" | "readfile" | "readfiles" | "readmanyfiles" | "readmultiplefiles"
        | "readtextfile" | "readmediafile" | "notebookread" | "view" | "viewfile" | "viewimage"
        | "cat" | "open" | "openfile" | "getfilecontents" => Some(Access::Read),
        "write" | "writefile" | "writetofile" | "create" | "createfile" | "edit" | "editfile"
        | "multiedit" | "notebookedit" | "strreplace" | "replace" | "replaceinfile"
        | "replacefilecontent" | "searchreplace" | "searchandreplace" | "insert"
        | "insertcontent" | "applydiff" | "applypatch" | "patch" | "appendfile" | "delete"
        | "deletefile" | "move" | "movefile" | "rename" | "renamefile" => Some(Access::Modify),
        "strreplaceeditor" | "strreplacebasededittool" | "texteditor" => {
            let strings = arguments::strings(&call.arguments);
            let mut strings = strings.iter();
            let only_looks = strings.any(|(name, value)| name == "command" && value == "view");
            Some(if only_looks {
                Access::Read
            } else {
                Access::Modify
            })
        }
        _ => None,
    }
}

/// The paths among a file tool's arguments.
pub(crate) fn paths(call: &Call) -> Vec<String> {
    arguments::strings_under(&call.arguments, names_path)
        .into_iter()
        .filter_map(|(_, value)| path(&value))
        .collect()
}

fn names_path(name: &str) -> bool {
    matches!(
        plain(name).as_str(),
        "path"
            | "paths"
            | "file"
            | "files"
            | "filename"
            | "filenames"
            | "filepath"
            | "filepaths"
            | "targetfile"
            | "relativepath"
            | "absolutepath"
            | "notebookpath"
            | "relativeworkspacepath"
            | "oldpath"
            | "newpath"
            | "source"
            | "destination"
    )
}

/// The files of a patch, whoever carries it: a tool of its own, or a shell.
pub(super) fn patched(call: &Call) -> Vec<String> {
    let files = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| {
            let head = PATCH_HEADS.iter().find(|head| line.starts_with(**head))?;
            path(line.strip_prefix(head)?)
        });
        lines.collect()
    };
    let may_carry = match access(call) {
        Some(_) => matches!(plain(&call.name).as_str(), "applypatch" | "patch"),
        None => call.arguments.contains("*** Begin Patch"),
    };
    if !may_carry {
        return Vec::new();
    }
    let mut found = files(&call.arguments);
    for (_, value) in arguments::strings(&call.arguments) {
        found.extend(files(&value));
    }
    found
}

fn path(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("file://").unwrap_or(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_path = !text.is_empty()
        && text.chars().count() <= PATH_CHARS
        && !text.contains(|c: char| c.is_control());
    is_path.then(|| text.to_owned())
}
