//! House rule: the README says of the libraries what their own front pages say.
//!
//! The front page of a crate is its documentation from the first line to the end of its first example. Lines of the
//! example that readers do not see are left out. The example itself is compiled with the tests of the crate.

#[cfg(test)]
#[path = "front_pages_tests.rs"]
mod tests;

use super::files::File;

/// The crates whose front pages the README repeats.
const PAGES: [&str; 2] = [
    "crates/epitome/src/lib.rs",
    "crates/epitome-engine/src/lib.rs",
];

pub(super) fn not_in_the_readme(files: &[File]) -> Vec<String> {
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
    };
    let readme = text("README.md").unwrap_or_default();
    let mut problems = Vec::new();
    for path in PAGES {
        match text(path).as_deref().and_then(front_page) {
            None => problems.push(format!(
                "{path}: its documentation has no example: begin with one, as ```rust"
            )),
            Some(page) => {
                let missing = page.split("\n\n").find(|part| !readme.contains(part));
                problems.extend(missing.map(|part| {
                    let line = part.lines().next().unwrap_or_default();
                    format!("README.md: it does not say what {path} begins with: {line}")
                }));
            }
        }
    }
    problems
}

/// The documentation of a crate up to the end of its first example, as readers see it.
fn front_page(source: &str) -> Option<String> {
    let mut page = String::new();
    let mut is_inside = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let is_hidden = is_inside && (line == "#" || line.starts_with("# "));
        if is_hidden {
            continue;
        }
        page.push_str(line);
        page.push('\n');
        if line.starts_with("```") {
            if is_inside {
                return Some(page);
            }
            is_inside = true;
        }
    }
    None
}
