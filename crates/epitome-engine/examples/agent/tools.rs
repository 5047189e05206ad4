//! Three tools that see one folder and nothing else.

use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use epitome::{Call, Message};
use epitome_engine::model::Tool;
use serde_json::{Value, json};

pub(crate) struct Tools {
    root: PathBuf,
}

impl Tools {
    /// Opens the folder, and makes it where there is none.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let root = folder.canonicalize()?;
        Ok(Self { root })
    }

    pub(crate) fn declared() -> Vec<Tool> {
        let tool = |name: &str, description: &str, fields: &[&str]| Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({
                "type": "object",
                "properties": fields.iter()
                    .map(|field| ((*field).to_owned(), json!({"type": "string"})))
                    .collect::<serde_json::Map<_, _>>(),
                "required": fields,
            }),
        };
        vec![
            tool("read_file", "Reads a file of the folder.", &["path"]),
            tool(
                "write_file",
                "Writes a file of the folder, in place of what it had.",
                &["path", "content"],
            ),
            tool(
                "list_folder",
                "Lists a folder: `.` is the whole.",
                &["path"],
            ),
        ]
    }

    /// The result of each call of a message, by the call's id.
    pub(crate) fn answer(&self, message: &Message) -> Vec<(Box<str>, Result<String, String>)> {
        let calls = message.calls();
        calls
            .map(|call| (call.id.clone(), self.call(call)))
            .collect()
    }

    fn call(&self, call: &Call) -> Result<String, String> {
        let arguments: Value = serde_json::from_str(&call.arguments)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?;
        let text = |name: &str| {
            let value = arguments.get(name).and_then(Value::as_str);
            value.ok_or_else(|| format!("`{name}` is missing: give it as a text"))
        };
        let path = self.inside(text("path")?)?;
        let failed = |error: std::io::Error| error.to_string();
        match &*call.name {
            "read_file" => std::fs::read_to_string(path).map_err(failed),
            "write_file" => {
                let content = text("content")?;
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder).map_err(failed)?;
                }
                std::fs::write(path, content).map_err(failed)?;
                Ok(format!("{} bytes written", content.len()))
            }
            "list_folder" => {
                let entries = std::fs::read_dir(path).map_err(failed)?;
                let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                let mut names: Vec<String> = names.collect();
                names.sort();
                Ok(names.join("\n"))
            }
            other => Err(format!("there is no tool `{other}`")),
        }
    }

    /// The place of a path, if it lies in the folder, also when links are followed.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("`{path}` is not in the folder: give a path relative to it");
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(path).components().all(is_plain) {
            return Err(outside());
        }
        let full = self.root.join(path);
        // What is not there yet lies where the first of its folders lies that is.
        let there = full.ancestors().find_map(|part| part.canonicalize().ok());
        let is_inside = there.is_some_and(|there| there.starts_with(&self.root));
        let dangles = full.is_symlink() && !full.exists();
        (is_inside && !dangles).then_some(full).ok_or_else(outside)
    }
}
