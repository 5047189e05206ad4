//! Every command that writes a file: never the input, an existing one only with `--force`, whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{copy_of_the_command, epitome, example, json, run, stderr};

/// A command that writes a file. `INPUT`, `SUMMARY`, `PREVIOUS` and `OUT` stand for paths.
struct Writer {
    arguments: &'static [&'static str],
    /// What it reads, of those.
    inputs: &'static [&'static str],
}

const WRITERS: [Writer; 6] = [
    Writer {
        arguments: &["compact", "INPUT", "--out", "OUT"],
        inputs: &["INPUT"],
    },
    Writer {
        arguments: &["convert", "INPUT", "--quiet", "--to", "pi", "--out", "OUT"],
        inputs: &["INPUT"],
    },
    Writer {
        arguments: &["check", "INPUT", "--repair", "--out", "OUT"],
        inputs: &["INPUT"],
    },
    Writer {
        arguments: &["inspect", "INPUT", "--svg", "OUT"],
        inputs: &["INPUT"],
    },
    Writer {
        arguments: &[
            "verify",
            "--source",
            "INPUT",
            "--summary",
            "SUMMARY",
            "--previous",
            "PREVIOUS",
            "--out",
            "OUT",
        ],
        inputs: &["INPUT", "SUMMARY", "PREVIOUS"],
    },
    Writer {
        arguments: &["config", "init", "--out", "OUT"],
        inputs: &[],
    },
];

/// What stands in a file that is there before.
const OLD: &str = "the old text\n";

/// A folder with something to read.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::copy(example("coding-session.jsonl"), place.path("INPUT")).unwrap();
        let compacted = run(&["compact", place.path("INPUT").to_str().unwrap(), "--json"]);
        let report = json(&compacted);
        let summary = report
            .get("summary")
            .and_then(|text| text.as_str())
            .unwrap();
        fs::write(place.path("SUMMARY"), summary).unwrap();
        fs::write(place.path("PREVIOUS"), "Nothing was done so far.\n").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn arguments(&self, writer: &Writer, out: &Path) -> Vec<PathBuf> {
        let word = |word: &&str| match *word {
            "OUT" => out.to_owned(),
            "INPUT" | "SUMMARY" | "PREVIOUS" => self.path(word),
            other => PathBuf::from(other),
        };
        writer.arguments.iter().map(word).collect()
    }

    fn command(&self, writer: &Writer, out: &Path) -> Command {
        let mut command = epitome();
        command
            .args(self.arguments(writer, out))
            .current_dir(self.0.path());
        command
    }

    fn run(&self, writer: &Writer, out: &Path, extra: &[&str]) -> Output {
        self.command(writer, out).args(extra).output().unwrap()
    }

    /// Every file of the folder with what is in it; a link as where it leads.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    let target = fs::read_link(&path).unwrap();
                    files.push((path, target.to_str().unwrap().as_bytes().to_vec()));
                } else {
                    let bytes = fs::read(&path).unwrap();
                    files.push((path, bytes));
                }
            }
        }
        files.sort();
        files
    }

    /// Asserts that a command refuses in a line with these words, and that no file is another one afterwards.
    fn refused(&self, writer: &Writer, out: &Path, extra: &[&str], words: &str) {
        let before = self.files();
        let output = self.run(writer, out, extra);
        self.is_refusal(writer, out, &output, words);
        assert!(before == self.files(), "{:?}", writer.arguments);
    }

    fn is_refusal(&self, writer: &Writer, out: &Path, output: &Output, words: &str) {
        let line = stderr(output);
        let case = format!("{:?} {}: {line}", writer.arguments, out.display());
        assert_eq!(output.status.code(), Some(2), "{case}");
        assert_eq!(line.lines().count(), 1, "{case}");
        assert!(line.contains(words), "{case}");
        assert!(line.contains(out.to_str().unwrap()), "{case}");
        assert_eq!(output.stdout, b"", "{case}");
    }

    /// What a writer writes when nothing is in its way.
    fn expected(&self, writer: &Writer) -> Vec<u8> {
        let out = self.path("expected");
        let output = self.run(writer, &out, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let bytes = fs::read(&out).unwrap();
        fs::remove_file(out).unwrap();
        bytes
    }
}

/// Some formats date their entries: what is compared is what does not change with time.
fn is_same(writer: &Writer, one: &[u8], other: &[u8]) -> bool {
    if writer.arguments.contains(&"pi") {
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        return one.len() == other.len() && lines(one) == lines(other);
    }
    one == other
}

#[test]
fn an_input_is_never_written_to() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    symlink(place.0.path(), place.path("folder/again")).unwrap();
    for input in ["INPUT", "SUMMARY", "PREVIOUS"] {
        symlink(input, place.path(&format!("{input}-link"))).unwrap();
        fs::hard_link(place.path(input), place.path(&format!("{input}-hard"))).unwrap();
    }
    for writer in &WRITERS {
        for input in writer.inputs {
            for out in [
                place.path(input),
                PathBuf::from(input),
                place.path(&format!("{input}-link")),
                place.path(&format!("{input}-hard")),
                place.path(&format!("./folder/../{input}")),
                place.path(&format!("folder/again/{input}")),
            ] {
                for extra in [&[][..], &["--force"]] {
                    place.refused(writer, &out, extra, "never written");
                }
            }
        }
    }
}

#[test]
fn neither_is_a_file_behind_standard_input() {
    let place = Place::new();
    for writer in WRITERS.iter().filter(|writer| !writer.inputs.is_empty()) {
        let out = place.path("INPUT");
        let words = place.arguments(writer, &out);
        let first = words.iter().position(|word| *word == out).unwrap();
        let mut command = epitome();
        for (at, word) in words.iter().enumerate() {
            command.arg(if at == first { Path::new("-") } else { word });
        }
        command.arg("--force").stdin(File::open(&out).unwrap());
        let before = place.files();
        let output = command.output().unwrap();
        place.is_refusal(writer, &out, &output, "never written");
        assert!(before == place.files());
    }
}

#[test]
fn an_existing_file_stays_without_force() {
    let place = Place::new();
    fs::write(place.path("there"), OLD).unwrap();
    symlink("there", place.path("link")).unwrap();
    symlink("nowhere", place.path("dangling")).unwrap();
    for writer in &WRITERS {
        for name in ["there", "link", "dangling"] {
            place.refused(writer, &place.path(name), &[], "--force");
        }
    }
}

#[test]
fn force_replaces_a_file_and_keeps_its_permissions_and_its_links() {
    let place = Place::new();
    for writer in &WRITERS {
        let expected = place.expected(writer);
        assert!(expected.len() > 1_100, "{:?}", writer.arguments);
        let there = place.path("there");
        for mode in [0o600, 0o640, 0o444, 0o666, 0o755] {
            fs::write(&there, OLD).unwrap();
            fs::set_permissions(&there, Permissions::from_mode(mode)).unwrap();
            let output = place.run(writer, &there, &["--force"]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert!(is_same(writer, &fs::read(&there).unwrap(), &expected));
            let now = there.metadata().unwrap().permissions().mode();
            assert_eq!(now & 0o7777, mode, "{:?}", writer.arguments);
            fs::remove_file(&there).unwrap();
        }
        fs::write(&there, OLD).unwrap();
        let link = place.path("link");
        symlink("there", &link).unwrap();
        let output = place.run(writer, &link, &["--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("there"));
        assert!(is_same(writer, &fs::read(&there).unwrap(), &expected));
        // A link that leads nowhere is what is replaced.
        fs::remove_file(&there).unwrap();
        let output = place.run(writer, &link, &["--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(link.symlink_metadata().unwrap().is_file() && !there.exists());
        fs::remove_file(&link).unwrap();
        let names: Vec<PathBuf> = place.files().into_iter().map(|(path, _)| path).collect();
        let expected = ["INPUT", "PREVIOUS", "SUMMARY"].map(|name| place.path(name));
        assert_eq!(names, expected, "no other file is left");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_named_and_nothing_is_left() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    for writer in &WRITERS {
        for (out, words) in [
            (place.path("none/out"), "there is no folder"),
            (place.path("INPUT/out"), "not a folder"),
            (place.path("folder"), "is a folder"),
            (place.path("folder/"), "is a folder"),
            (place.path("new/"), "name a file"),
            (place.path(&"x".repeat(300)), "cannot write"),
        ] {
            for extra in [&[][..], &["--force"]] {
                place.refused(writer, &out, extra, words);
            }
        }
    }
}

/// Root may write everywhere: then somebody else does it, with a copy of the command that everybody may run.
#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let place = Place::new();
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("there"), OLD).unwrap();
    open(&folder.join("there"), 0o666);
    open(&folder, 0o555);
    open(place.0.path(), 0o755);
    let program = copy_of_the_command(place.0.path());
    let is_root = File::create(folder.join("probe")).is_ok();
    if is_root {
        fs::remove_file(folder.join("probe")).unwrap();
    }
    for writer in &WRITERS {
        for (name, extra) in [("out", &[][..]), ("there", &["--force"])] {
            let out = folder.join(name);
            let mut command = Command::new(&program);
            command.args(place.arguments(writer, &out)).args(extra);
            command.env_clear().current_dir("/");
            if is_root {
                command.uid(65_534).gid(65_534);
            }
            let output = command.output().unwrap();
            place.is_refusal(writer, &out, &output, "cannot write");
            assert!(!folder.join("out").exists());
            assert_eq!(fs::read_to_string(folder.join("there")).unwrap(), OLD);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
    }
    open(&folder, 0o755);
}

/// A limit on the size of files stops writing in the middle, as a full disk does, on every machine.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let place = Place::new();
    fs::write(place.path("there"), OLD).unwrap();
    for writer in &WRITERS {
        for (name, extra) in [("out", &[][..]), ("there", &["--force"])] {
            let out = place.path(name);
            let before = place.files();
            let mut command = Command::new("sh");
            command
                .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
                .arg(env!("CARGO_BIN_EXE_epitome"))
                .args(place.arguments(writer, &out))
                .args(extra)
                .env("XDG_CONFIG_HOME", "/nonexistent")
                .current_dir(place.0.path());
            let output = command.output().unwrap();
            place.is_refusal(writer, &out, &output, "cannot write");
            assert!(before == place.files(), "{:?}", writer.arguments);
        }
        place.refused(writer, Path::new("/dev/full"), &[], "cannot write");
    }
}

#[test]
fn a_killed_command_leaves_the_old_file_or_the_new_one() {
    let place = Place::new();
    let session = fs::read(place.path("INPUT")).unwrap();
    fs::write(place.path("INPUT"), session.repeat(8)).unwrap();
    for writer in WRITERS.iter().take(3) {
        let input = fs::read(place.path("INPUT")).unwrap();
        let expected = place.expected(writer);
        for moment in 0..12 {
            let (name, extra) = match moment % 2 {
                0 => ("out", &[][..]),
                _ => ("there", &["--force"][..]),
            };
            let out = place.path(name);
            fs::write(place.path("there"), OLD).unwrap();
            let _ = fs::remove_file(place.path("out"));
            let mut child = place
                .command(writer, &out)
                .args(extra)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // The first ones early; the others when there is something of the new file, then a little later each time.
            if moment < 4 {
                std::thread::sleep(Duration::from_millis(10 * moment));
            } else {
                while child.try_wait().unwrap().is_none() && unfinished(place.0.path()).is_none() {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_micros(150 * (moment - 4)));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let case = format!("{:?} {moment}", writer.arguments);
            match fs::read(&out) {
                Ok(bytes) if bytes == OLD.as_bytes() => assert_eq!(name, "there", "{case}"),
                Ok(bytes) => assert!(is_same(writer, &bytes, &expected), "{case}"),
                Err(_) => assert_eq!(name, "out", "{case}"),
            }
            assert!(fs::read(place.path("INPUT")).unwrap() == input, "{case}");
            if let Some(left) = unfinished(place.0.path()) {
                fs::remove_file(left).unwrap();
            }
        }
    }
}

/// A file that is not yet what it is to be.
fn unfinished(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names = entries.map(|entry| entry.unwrap().file_name());
    let found = names.find(|name| name.to_str().unwrap().starts_with(".epitome-"));
    found.map(|name| folder.join(name))
}

#[test]
fn a_dash_is_standard_output_and_the_report_moves_aside() {
    let place = Place::new();
    for writer in &WRITERS {
        let expected = place.expected(writer);
        for out in ["-", "/dev/stdout"] {
            let before = place.files();
            let output = place.run(writer, Path::new(out), &[]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert!(is_same(writer, &output.stdout, &expected), "{out}");
            assert!(before == place.files(), "there is no file called {out}");
        }
        // Also where standard output is a file.
        let file = place.path("redirected");
        let mut command = place.command(writer, Path::new("/dev/stdout"));
        let status = command
            .stdout(File::create(&file).unwrap())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        assert!(is_same(writer, &fs::read(&file).unwrap(), &expected));
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn devices_and_pipes_are_written_to_as_they_are() {
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for writer in &WRITERS {
        let expected = place.expected(writer);
        let output = place.run(writer, Path::new("/dev/null"), &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let pipe_of_reader = pipe.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut file = File::open(pipe_of_reader).unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let output = place.run(writer, &pipe, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(is_same(writer, &reader.join().unwrap(), &expected));
    }
    use std::os::unix::fs::FileTypeExt;
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
}

#[test]
fn force_needs_a_file_to_force() {
    let place = Place::new();
    for writer in WRITERS.iter().filter(|writer| !writer.inputs.is_empty()) {
        let words = place.arguments(writer, Path::new("out"));
        let flag = words
            .iter()
            .rposition(|word| word.starts_with("--out") || word.starts_with("--svg"));
        let words = words.iter().take(flag.unwrap());
        let output = epitome().args(words).arg("--force").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{:?}", writer.arguments);
    }
}
