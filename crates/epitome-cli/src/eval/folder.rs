//! Reads a folder of recorded sessions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use epitome_eval::{Chat, Question, Session};

const CHAT_ENDING: &str = ".chat.json";

/// The sessions in `unified/`, by name.
pub(super) fn sessions(dir: &Path) -> Result<Vec<Session>> {
    let files = files(&dir.join("unified"), ".json")?;
    let sessions: Result<Vec<Session>> = files.iter().map(|file| read(file)).collect();
    let sessions = sessions?;
    if sessions.is_empty() {
        bail!(
            "{} has no unified/*.json; name a folder laid out like that",
            dir.display()
        );
    }
    Ok(sessions)
}

/// A chat and what is asked about it.
type Asked = (Chat, Vec<Question>);

/// The chats in `qa/beam/` with their questions, by the part of their names before the hyphen.
pub(super) fn chats(dir: &Path) -> Result<BTreeMap<String, Vec<Asked>>> {
    let dir = dir.join("qa").join("beam");
    let mut chats: BTreeMap<String, Vec<Asked>> = BTreeMap::new();
    for file in files(&dir, CHAT_ENDING)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name.strip_suffix(CHAT_ENDING) else {
            continue;
        };
        let questions = dir.join(format!("{name}.questions.json"));
        let chat = Chat::read(&bytes(&file)?).with_context(|| file.display().to_string())?;
        let questions = Question::read_all(&bytes(&questions)?)
            .with_context(|| questions.display().to_string())?;
        let group = name.split_once('-').map_or(name, |(group, _)| group);
        chats
            .entry(group.to_owned())
            .or_default()
            .push((chat, questions));
    }
    Ok(chats)
}

fn bytes(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| file.display().to_string())
}

fn read(file: &Path) -> Result<Session> {
    Session::read(&bytes(file)?).with_context(|| file.display().to_string())
}

/// The files of a folder with an ending, by name; none when there is no such folder.
fn files(dir: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| dir.display().to_string())?.path();
        if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
