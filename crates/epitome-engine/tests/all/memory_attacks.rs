//! Whatever stands in the way or is asked for, nothing outside the memory folder is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use epitome_engine::memory_folder::{MemoryError, MemoryFolder};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::memory_folder::{FILE, day, hostile_paths};

#[test]
fn nothing_strange_is_followed() {
    type Prepare = fn(&Path, &Path);
    // What somebody put in the way; `outside` holds a file and a folder that must stay as they are.
    let cases: [(&str, &str, Prepare); 11] = [
        ("memory is a link", "memory is a link", |root, outside| {
            symlink(outside.join("folder"), root.join("memory")).unwrap();
        }),
        (
            "memory is a dangling link",
            "memory is a link",
            |root, outside| {
                symlink(outside.join("nothing"), root.join("memory")).unwrap();
            },
        ),
        ("memory is a link inside", "memory is a link", |root, _| {
            fs::create_dir(root.join("elsewhere")).unwrap();
            symlink("elsewhere", root.join("memory")).unwrap();
        }),
        ("memory is a file", "memory is a file", |root, _| {
            fs::write(root.join("memory"), "x").unwrap();
        }),
        ("the file is a link", "is a link", |root, outside| {
            fs::create_dir(root.join("memory")).unwrap();
            symlink(outside.join("file"), root.join(FILE)).unwrap();
        }),
        (
            "the file is a dangling link",
            "is a link",
            |root, outside| {
                fs::create_dir(root.join("memory")).unwrap();
                symlink(outside.join("nothing"), root.join(FILE)).unwrap();
            },
        ),
        ("the file is a link to itself", "is a link", |root, _| {
            fs::create_dir(root.join("memory")).unwrap();
            symlink("2026-11-15.md", root.join(FILE)).unwrap();
        }),
        ("the file is a link to a device", "is a link", |root, _| {
            fs::create_dir(root.join("memory")).unwrap();
            symlink("/dev/full", root.join(FILE)).unwrap();
        }),
        (
            "the file has a second name outside",
            "other names",
            |root, outside| {
                fs::create_dir(root.join("memory")).unwrap();
                fs::hard_link(outside.join("file"), root.join(FILE)).unwrap();
            },
        ),
        ("the file is a folder", "is a folder", |root, _| {
            fs::create_dir_all(root.join(FILE)).unwrap();
        }),
        ("the file is a pipe", "is a pipe", |root, _| {
            fs::create_dir(root.join("memory")).unwrap();
            let made = std::process::Command::new("mkfifo")
                .arg(root.join(FILE))
                .status();
            assert!(made.unwrap().success());
        }),
    ];
    for (name, words, prepare) in cases {
        let parent = tempfile::tempdir().unwrap();
        let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("file"), "mine").unwrap();
        let folder = MemoryFolder::open(&root).unwrap();
        prepare(&root, &outside);
        let before = tree(parent.path());
        let error = folder.append(day(), "note").unwrap_err();
        assert!(
            matches!(error, MemoryError::NotAFile { .. }),
            "{name}: {error:?}"
        );
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert_eq!(tree(parent.path()), before, "{name}");
    }
}

#[test]
fn a_folder_that_moves_is_still_the_folder() {
    let parent = tempfile::tempdir().unwrap();
    let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    let folder = MemoryFolder::open(&root).unwrap();
    fs::rename(&root, parent.path().join("moved")).unwrap();
    symlink(&outside, &root).unwrap();
    folder.append(day(), "note").unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    let text = fs::read_to_string(parent.path().join("moved").join(FILE)).unwrap();
    assert_eq!(text, "note\n");
}

/// Somebody swaps the file, or its folder, for a link and back while notes are written.
#[test]
fn nobody_can_swap_a_link_in() {
    for place in [FILE, "memory"] {
        let parent = tempfile::tempdir().unwrap();
        let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("2026-11-15.md"), "mine").unwrap();
        let folder = MemoryFolder::open(&root).unwrap();
        folder.append(day(), "note").unwrap();
        let target = match place {
            FILE => outside.join("2026-11-15.md"),
            _ => outside.clone(),
        };
        let (there, link) = (root.join(place), root.join("link"));
        symlink(&target, &link).unwrap();
        let is_over = AtomicBool::new(false);
        let (written, refused) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &there, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                    std::thread::yield_now();
                }
            });
            let mut counts = (0_u32, 0_u32);
            // Enough of both, however the threads take turns.
            for note in 0..200_000 {
                match folder.append(day(), &format!("note {note}")) {
                    Ok(_) => counts.0 += 1,
                    Err(error) => {
                        assert!(matches!(
                            error,
                            MemoryError::NotAFile { .. } | MemoryError::Write { .. }
                        ));
                        counts.1 += 1;
                    }
                }
                if counts.0 > 500 && counts.1 > 500 {
                    break;
                }
            }
            is_over.store(true, Ordering::Relaxed);
            counts
        });
        assert!(
            written > 0 && refused > 0,
            "{place}: {written} written, {refused} refused"
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{place}");
        let text = fs::read_to_string(outside.join("2026-11-15.md")).unwrap();
        assert_eq!(text, "mine", "{place}");
    }
}

/// Paths made of what is dangerous, close to the right form and far from it.
fn any_path() -> impl Strategy<Value = String> {
    let pieces = [
        "memory",
        "/",
        "/",
        "..",
        ".",
        ".md",
        "2026-11-15",
        "2026-02-30",
        "-",
        "0",
        "9",
        "\\",
        "\0",
        "\n",
        " ",
        "~",
        "%2e",
        "Memory",
        "etc",
        "root",
        "outside",
        "link",
        "٢",
        "é",
        "C:",
        "//",
        "a",
    ];
    let joined = vec(select(pieces.to_vec()), 0..8).prop_map(|pieces| pieces.concat());
    let dated = (0_i32..12_000, 0_u32..15, 0_u32..34)
        .prop_map(|(year, month, day)| format!("memory/{year:04}-{month:02}-{day:02}.md"));
    let spoiled =
        (select(hostile_paths()), any::<char>(), any::<usize>()).prop_map(|(path, letter, at)| {
            let mut letters: Vec<char> = path.chars().take(300).collect();
            letters.insert(at % (letters.len() + 1), letter);
            letters.into_iter().collect::<String>()
        });
    prop_oneof![3 => joined, 1 => dated, 3 => spoiled, 1 => any::<String>()]
}

#[test]
fn whatever_is_asked_for_nothing_else_changes() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    let parent = tempfile::tempdir().unwrap();
    let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
    fs::create_dir_all(outside.join("memory")).unwrap();
    fs::create_dir(&root).unwrap();
    fs::write(outside.join("2026-11-15.md"), "mine").unwrap();
    fs::write(root.join("2026-11-15.md"), "mine").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    let folder = MemoryFolder::open(&root).unwrap();
    let rest = || -> BTreeMap<PathBuf, String> {
        let inside = root.join("memory");
        let tree = tree(parent.path()).into_iter();
        tree.filter(|(path, _)| !path.starts_with(&inside))
            .collect()
    };
    let before = rest();
    let config = Config {
        cases: u32::try_from(number("EPITOME_CASES").unwrap_or(1_000_u64)).unwrap(),
        rng_seed: RngSeed::Fixed(number("EPITOME_SEED").unwrap_or(2_026)),
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&any_path(), |path| {
        let call = json!({"path": path, "content": "a note"});
        let is_written = folder.call(&call.to_string(), day()).is_ok();
        assert_eq!(rest(), before, "{path:?}");
        assert_eq!(is_written, is_plain(&path), "{path:?}");
        for entry in fs::read_dir(root.join("memory")).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(is_plain(&format!("memory/{name}")), "{path:?} made {name}");
        }
        let _clean = fs::remove_dir_all(root.join("memory"));
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// The right form, written a second time.
fn is_plain(path: &str) -> bool {
    let Some(name) = path
        .strip_prefix("memory/")
        .and_then(|name| name.strip_suffix(".md"))
    else {
        return false;
    };
    let shape: String = name
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    if shape != "0000-00-00" {
        return false;
    }
    let number = |from: usize, to: usize| name[from..to].parse::<u32>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    year >= 1 && (1..=days).contains(&day)
}

/// Everything under a folder: what it is, how many names it has, and what stands in it.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let kind = facts.file_type();
            let content = if kind.is_symlink() {
                format!("{:?}", fs::read_link(&path).unwrap())
            } else if kind.is_file() {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            } else if kind.is_dir() {
                open.push(path.clone());
                "folder".to_owned()
            } else {
                format!("fifo: {}", kind.is_fifo())
            };
            let names = if kind.is_dir() { 0 } else { facts.nlink() };
            found.insert(path, format!("{:o} {names} {content}", facts.mode()));
        }
    }
    found
}
