use std::fs;

use super::*;

#[test]
fn a_file_of_a_folder_that_is_read_is_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let (read, other) = (folder.path().join("read"), folder.path().join("other"));
    fs::create_dir_all(read.join("deep")).unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(read.join("deep/one.jsonl"), "{}").unwrap();
    fs::hard_link(read.join("deep/one.jsonl"), other.join("hard")).unwrap();
    fs::write(other.join("two.jsonl"), "{}").unwrap();
    let refused = |out: &Path| {
        let checked = Target::checked(out, [read.as_path()], Existing::IsReplaced);
        checked.is_err_and(|error| error.to_string().contains("never written"))
    };
    assert!(refused(&read.join("deep/one.jsonl")));
    assert!(refused(&other.join("hard")));
    assert!(!refused(&other.join("two.jsonl")));
    assert!(!refused(&read.join("deep/new.jsonl")));
}

#[test]
fn a_file_that_came_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let target = Target::checked(&path, [], Existing::Stays).unwrap();
    fs::write(&path, "faster").unwrap();
    assert!(target.write(b"slower").is_err());
    // Even between the last look and the last step.
    let error = target
        .write_whole(&path, None, &mut |out| out.write_all(b"slower"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "faster");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_private_is_its_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let target = Target::checked(&path, [], Existing::Stays).unwrap();
    let target = target.private();
    target
        .write_with(&mut |out| writeln!(out, "a").and_then(|()| writeln!(out, "b")))
        .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    // What cannot be written to its end is not there at all.
    let other = folder.path().join("other");
    let target = Target::checked(&other, [], Existing::Stays).unwrap();
    let broken = target.write_with(&mut |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("enough"))
    });
    assert!(broken.is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_dead_processes_left_is_stepped_over() {
    let folder = tempfile::tempdir().unwrap();
    let process = std::process::id();
    for number in 0..3 {
        let name = format!(".epitome-{process}-{number}.tmp");
        fs::write(folder.path().join(name), "dead").unwrap();
    }
    let path = folder.path().join("out");
    let target = Target::checked(&path, [], Existing::Stays).unwrap();
    target.write(b"alive").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "alive");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}
