use super::super::files::File;
use super::{PAGES, front_page, not_in_the_readme};

const PAGE: &str = "\
//! It counts stars.
//!
//! ```rust
//! use stars::count;
//!
//! # let sky = 3;
//! assert_eq!(count(sky), 3);
//! #
//! ```
//!
//! More about it.
mod sky;
";

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

fn check(readme: &str) -> Vec<String> {
    let pages = PAGES.map(|path| file(path, PAGE));
    let mut files = vec![file("README.md", readme)];
    files.extend(pages);
    not_in_the_readme(&files)
}

#[test]
fn a_front_page_is_what_readers_see_of_it() {
    let seen =
        "It counts stars.\n\n```rust\nuse stars::count;\n\nassert_eq!(count(sky), 3);\n```\n";
    assert_eq!(front_page(PAGE).as_deref(), Some(seen));
    assert_eq!(front_page("//! Words only.\nmod sky;\n"), None);
    assert_eq!(front_page("//! ```rust\n//! f();\nmod sky;\n"), None);
}

#[test]
fn the_readme_has_to_say_the_same() {
    let same = "# Stars\n\nIt counts stars.\n\n```rust\nuse stars::count;\n\nassert_eq!(count(sky), 3);\n```\n\nBye.\n";
    assert_eq!(check(same), Vec::<String>::new());
    let other = same.replace("(sky), 3", "(sky), 4");
    let problems = check(&other);
    assert_eq!(problems.len(), PAGES.len());
    assert!(problems[0].ends_with("begins with: assert_eq!(count(sky), 3);"));
    assert_eq!(check("").len(), PAGES.len());
}

#[test]
fn a_library_without_an_example_does_not_pass() {
    let problems = not_in_the_readme(&[file("README.md", "")]);
    assert_eq!(problems.len(), PAGES.len());
    assert!(problems[0].contains("has no example"));
}
