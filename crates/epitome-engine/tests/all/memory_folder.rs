//! Memories go to one file a day under one folder, and nothing else is ever touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use epitome_engine::memory_folder::{
    DAY_BYTES, MEMORY_TOOL, MemoryError, MemoryFolder, MemoryPath, NoteKept, TEXT_BYTES,
};
use jiff::civil::{Date, date};
use jiff::tz::{self, TimeZone};
use serde_json::json;

use super::memory_attacks::tree;

pub(crate) const FILE: &str = "memory/2026-11-15.md";

pub(crate) fn day() -> Date {
    date(2026, 11, 15)
}

#[test]
fn notes_are_appended_in_blocks() {
    // What stands in the file, what is written, and what stands there then.
    let cases = [
        (None, "one", "one\n"),
        (Some(""), "one", "one\n"),
        (Some("one\n"), "two", "one\n\ntwo\n"),
        (Some("one"), "two", "one\n\ntwo\n"),
        (Some("one\n\n"), "two", "one\n\ntwo\n"),
        (Some("one\n"), "\n\r\n  two  \n\n", "one\n\n  two\n"),
        // The same once more.
        (Some("one\n"), "one", "one\n"),
        (Some("one\n"), "one\n\n", "one\n"),
        (Some("zero\n\none\n"), "one", "zero\n\none\n"),
        (Some("zero\n\none\ntwo\n"), "one\ntwo", "zero\n\none\ntwo\n"),
        // Not the same: a part of a block, an earlier block, a torn one.
        (Some("zero one\n"), "one", "zero one\n\none\n"),
        (Some("zero\none\n"), "one", "zero\none\n\none\n"),
        (Some("one\n\ntwo\n"), "one", "one\n\ntwo\n\none\n"),
        (Some("one"), "one", "one\n\none\n"),
        (Some("\none\n"), "one", "\none\n\none\n"),
    ];
    for (before, text, after) in cases {
        let root = tempfile::tempdir().unwrap();
        let folder = MemoryFolder::open(root.path()).unwrap();
        if let Some(before) = before {
            fs::create_dir(root.path().join("memory")).unwrap();
            fs::write(root.path().join(FILE), before).unwrap();
        }
        let written = folder.append(day(), text).unwrap();
        let found = fs::read_to_string(root.path().join(FILE)).unwrap();
        assert_eq!(found, after, "{before:?} + {text:?}");
        let is_same = before == Some(after);
        assert_eq!(written == NoteKept::AlreadyThere { day: day() }, is_same);
    }
}

#[test]
fn folders_and_files_are_private() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("made/on/demand");
    let folder = MemoryFolder::open(&root).unwrap();
    folder.append(day(), "one").unwrap();
    assert_eq!(folder.root(), root);
    for (place, mode) in [("memory", 0o700), (FILE, 0o600)] {
        let found = fs::metadata(root.join(place)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{place}");
    }
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    let error = MemoryFolder::open(&file).unwrap_err();
    assert!(matches!(error, MemoryError::Folder { .. }), "{error}");
}

#[test]
fn sizes_are_bounded() {
    let root = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(root.path()).unwrap();
    for empty in ["", " ", "\n\n"] {
        assert!(matches!(
            folder.append(day(), empty),
            Err(MemoryError::Empty)
        ));
    }
    let longest = "x".repeat(TEXT_BYTES);
    folder.append(day(), &longest).unwrap();
    let error = folder.append(day(), &format!("{longest}x")).unwrap_err();
    assert!(matches!(error, MemoryError::TooLong { bytes } if bytes == TEXT_BYTES + 1));

    let file = fs::File::options()
        .append(true)
        .open(root.path().join(FILE))
        .unwrap();
    file.set_len(DAY_BYTES - 10).unwrap();
    let error = folder.append(day(), "0123456789").unwrap_err();
    assert!(matches!(error, MemoryError::DayFull { .. }), "{error}");
    assert!(folder.append(day(), "1").is_ok());
    assert!(folder.append(date(2026, 11, 16), "0123456789").is_ok());
}

#[test]
fn only_a_date_in_its_folder_is_a_path() {
    for good in [
        "memory/2026-11-15.md",
        "memory/2024-02-29.md",
        "memory/0001-01-01.md",
        "memory/9999-12-31.md",
    ] {
        assert_eq!(good.parse::<MemoryPath>().unwrap().to_string(), good);
    }
    for bad in hostile_paths() {
        let error = bad.parse::<MemoryPath>().unwrap_err();
        assert!(
            error.to_string().contains("memory/YYYY-MM-DD.md"),
            "{bad:?}"
        );
    }
    assert!(MemoryPath::of(date(0, 1, 1)).is_err());
    assert!(MemoryPath::of(date(-5, 1, 1)).is_err());
}

pub(crate) fn hostile_paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "",
        ".",
        "..",
        "/",
        "memory",
        "memory/",
        "memory/.md",
        "MEMORY.md",
        "2026-11-15.md",
        "/memory/2026-11-15.md",
        "./memory/2026-11-15.md",
        "memory//2026-11-15.md",
        "memory/./2026-11-15.md",
        "memory/../2026-11-15.md",
        "memory/../memory/2026-11-15.md",
        "../memory/2026-11-15.md",
        "memory/2026-11-15.md/",
        "memory/2026-11-15.md/..",
        "memory/2026-11-15.md\0",
        "memory/2026-11-15\0.md",
        "memory/2026-11-15.md\n",
        " memory/2026-11-15.md",
        "memory/2026-11-15.md ",
        "memory\\2026-11-15.md",
        "memory/..\\2026-11-15.md",
        "Memory/2026-11-15.md",
        "memory/2026-11-15.MD",
        "memory/2026-11-15",
        "memory/2026-11-15.txt",
        "memory/2026-11-15.md.md",
        "memory/2026-11-15..md",
        "memory/.2026-11-15.md",
        "memory/2026-11-15.md~",
        "memory/2026-02-30.md",
        "memory/2025-02-29.md",
        "memory/2026-00-10.md",
        "memory/2026-13-01.md",
        "memory/2026-01-00.md",
        "memory/2026-04-31.md",
        "memory/0000-01-01.md",
        "memory/0000-00-00.md",
        "memory/-001-01-01.md",
        "memory/+2026-11-15.md",
        "memory/2026-+1-15.md",
        "memory/2026-1-5.md",
        "memory/26-11-15.md",
        "memory/02026-11-15.md",
        "memory/20261115.md",
        "memory/2026-11-15-1.md",
        "memory/2026/11/15.md",
        "memory/2026-11-15T00:00.md",
        "memory/٢٠٢٦-١١-١٥.md",
        "memory/２０２６-11-15.md",
        "memory/2026–11–15.md",
        "memory／2026-11-15.md",
        "memory/2026-11-15․md",
        "mem\u{200b}ory/2026-11-15.md",
        "memory/sub/2026-11-15.md",
        "~/memory/2026-11-15.md",
        "file:memory/2026-11-15.md",
        "memory/%2e%2e/2026-11-15.md",
        "$HOME/2026-11-15.md",
        "memory/2026-11-15.md:stream",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.push(format!("memory/{}2026-11-15.md", "../".repeat(5_000)));
    paths
}

/// What a call may say beside the plain form.
#[test]
fn calls_of_the_tool() {
    let root = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(root.path()).unwrap();
    let today = date(2026, 11, 16);
    let good = [
        (json!({"path": FILE, "content": "a"}), day()),
        (json!({"file_path": FILE, "content": "b"}), day()),
        (json!({"filePath": FILE, "text": "c"}), day()),
        (json!({"file": FILE, "text": "d", "mode": "append"}), day()),
        (json!({"content": "e"}), today),
        (json!({"path": null, "content": "f"}), today),
    ];
    for (arguments, day) in good {
        let written = folder.call(&arguments.to_string(), today).unwrap();
        assert_eq!(written, NoteKept::Appended { day, bytes: 1 }, "{arguments}");
        assert_eq!(
            written.to_string(),
            format!("Appended 1 bytes to memory/{day}.md.")
        );
    }
    let text = fs::read_to_string(root.path().join(FILE)).unwrap();
    assert_eq!(text, "a\n\nb\n\nc\n\nd\n");

    let bad = [
        "",
        "null",
        "[]",
        "{}",
        "{\"path\":",
        "\"memory/2026-11-15.md\"",
        r#"{"path": "memory/2026-11-15.md"}"#,
        r#"{"path": "memory/2026-11-15.md", "content": ""}"#,
        r#"{"path": "memory/2026-11-15.md", "content": ["a"]}"#,
        r#"{"path": 7, "content": "a"}"#,
        r#"{"path": "", "content": "a"}"#,
        r#"{"path": "memory/2026-11-15.md", "file": "memory/2026-11-15.md", "content": "a"}"#,
        r#"{"path": "memory/2026-11-15.md\u0000/../x", "content": "a"}"#,
    ];
    let before = tree(root.path());
    for arguments in bad {
        assert!(folder.call(arguments, today).is_err(), "{arguments}");
    }
    assert_eq!(tree(root.path()), before);
    let tool = MemoryFolder::tool();
    assert_eq!(tool.name, MEMORY_TOOL);
    assert_eq!(tool.schema["required"], json!(["path", "content"]));
}

#[test]
fn threads_do_not_mix_their_notes() {
    let root = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(root.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                for note in 0..50 {
                    let text = format!("{thread}/{note} {}", "x".repeat(note * 40));
                    folder.append(day(), &text).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(root.path().join(FILE)).unwrap();
    let blocks: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 200);
    for block in blocks {
        let (name, rest) = block.split_once(' ').unwrap_or((block, ""));
        let note: usize = name.split('/').nth(1).unwrap().parse().unwrap();
        assert_eq!(rest.len(), note * 40, "{name}");
    }
}

#[test]
fn the_day_is_that_of_the_clock_on_the_wall() {
    let noon = 1_794_744_000_000;
    let east = TimeZone::fixed(tz::offset(13));
    let west = TimeZone::fixed(tz::offset(-13));
    let cases = [
        (noon, &TimeZone::UTC, "memory/2026-11-15.md"),
        (noon, &east, "memory/2026-11-16.md"),
        (noon, &west, "memory/2026-11-14.md"),
        (0, &TimeZone::UTC, "memory/1970-01-01.md"),
        (i64::MAX, &TimeZone::UTC, "memory/1970-01-01.md"),
        (i64::MIN, &west, "memory/1969-12-31.md"),
    ];
    for (now_ms, zone, path) in cases {
        assert_eq!(MemoryPath::at(now_ms, zone).to_string(), path, "{now_ms}");
    }
}
