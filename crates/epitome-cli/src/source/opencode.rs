//! OpenCode's own folder: a session is a file, each of its messages another, each part of a message another. Put together they
//! are what it exports, which is what is read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::LARGEST_BODY_BYTES;

/// Whether this is the file of a session in that folder: `storage/session/PROJECT/SESSION.json`.
pub(super) fn is_session(path: &Path) -> bool {
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    let sessions = path.parent().and_then(Path::parent);
    sessions.is_some_and(|sessions| {
        is_named(sessions, "session") && messages(path).is_some_and(|messages| messages.is_dir())
    })
}

/// The session with its messages and their parts, each as it was written. Names sort by age.
pub(super) fn exported(path: &Path) -> Result<Vec<u8>> {
    let storage = storage(path).context("is not in a folder of OpenCode")?;
    let mut out = Document::default();
    out.push(b"{\"info\":")?;
    out.file(path)?;
    out.push(b",\"messages\":[")?;
    let messages = messages(path).context("is not in a folder of OpenCode")?;
    for (at, message) in files(&messages)?.iter().enumerate() {
        out.push(if at > 0 {
            b",{\"info\":"
        } else {
            b"{\"info\":"
        })?;
        out.file(message)?;
        out.push(b",\"parts\":[")?;
        let parts = storage
            .join("part")
            .join(message.file_stem().unwrap_or_default());
        // A message that was just begun has none.
        let parts = if parts.is_dir() {
            files(&parts)?
        } else {
            Vec::new()
        };
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                out.push(b",")?;
            }
            out.file(part)?;
        }
        out.push(b"]}")?;
    }
    out.push(b"]}")?;
    Ok(out.0)
}

fn storage(session: &Path) -> Option<&Path> {
    session.parent()?.parent()?.parent()
}

fn messages(session: &Path) -> Option<PathBuf> {
    Some(storage(session)?.join("message").join(session.file_stem()?))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("{}: cannot be listed", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What is put together, up to the size of what is read as a whole.
#[derive(Default)]
struct Document(Vec<u8>);

impl Document {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if (self.0.len() + bytes.len()) as u64 > LARGEST_BODY_BYTES {
            bail!("is more than {LARGEST_BODY_BYTES} bytes with all its messages");
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        self.push(&bytes)
    }
}
