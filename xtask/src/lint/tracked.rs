//! The files of the project: what git tracks, or everything but build output where there is no git.

use std::path::Path;

use anyhow::{Context, Result};

use super::files::File;
use crate::project::Project;

pub(super) fn read(project: &Project) -> Result<Vec<File>> {
    let paths = match tracked_by_git(project) {
        Some(paths) => paths,
        None => {
            println!("git lists no files here: checking all of them");
            let mut paths = Vec::new();
            walk(&project.root, &project.root, &mut paths)?;
            paths.sort();
            paths
        }
    };
    let mut files = Vec::new();
    for path in paths {
        let full = project.root.join(&path);
        // Tracked but deleted, a link, or a submodule: nothing of ours to read.
        if !full.symlink_metadata().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("could not read {path}"))?;
        files.push(File { path, bytes });
    }
    Ok(files)
}

fn tracked_by_git(project: &Project) -> Option<Vec<String>> {
    let mut git = project.command("git");
    git.args(["ls-files", "-z"]);
    let output = git.output().ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = listing.split_terminator('\0').map(str::to_owned).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn walk(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let kind = entry.file_type()?;
        let is_generated = [".git", "target", "__pycache__"]
            .iter()
            .any(|skip| name == *skip);
        if kind.is_dir() && !is_generated {
            walk(root, &path, paths)?;
        } else if kind.is_file() {
            paths.push(path.strip_prefix(root)?.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
