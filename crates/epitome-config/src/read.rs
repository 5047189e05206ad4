//! Reads a file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use crate::layers::Layer;
use crate::origin::Origin;
use crate::problem::{Problem, ProblemKind};
use crate::{tree, walk};

/// No configuration is longer; a device that never ends is.
const LONGEST_BYTES: u64 = 1 << 20;

/// The text of a file.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let words = |error: &std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    };
    let file = File::open(path).map_err(|error| words(&error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("it is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    let mut start = file.take(LONGEST_BYTES + 1);
    start
        .read_to_end(&mut bytes)
        .map_err(|error| words(&error))?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(format!("it is longer than {LONGEST_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.utf8_error().valid_up_to();
        let lines = error.as_bytes().iter().take(before);
        let line = lines.filter(|byte| **byte == b'\n').count() + 1;
        format!("it is not UTF-8 text (line {line})")
    })
}

/// What a file sets.
pub(crate) fn layer(path: &Path, rank: usize) -> Layer {
    match text(path) {
        Ok(text) => layer_of(path, &text, rank),
        Err(reason) => Layer::unreadable(path, reason),
    }
}

/// What the text of a file sets.
pub(crate) fn layer_of(path: &Path, text: &str, rank: usize) -> Layer {
    let path: Arc<Path> = Arc::from(path);
    let problem = |line, kind| Problem {
        origin: Origin::File {
            path: Arc::clone(&path),
            line,
        },
        kind,
    };
    let (tree, errors) = tree::parse(text);
    if errors.is_empty() {
        return walk::walk(&tree, &path, rank);
    }
    // What stands around a slip of syntax may be read wrongly: only the slips are reported.
    let syntax = |error: tree::SyntaxError| {
        let tree::SyntaxError {
            line,
            column,
            message,
        } = error;
        problem(line, ProblemKind::Syntax { message, column })
    };
    Layer {
        problems: errors.into_iter().map(syntax).collect(),
        ..Layer::default()
    }
}
