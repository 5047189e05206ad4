//! Opening without following links, and appending without a second look.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, statat};
use rustix::io::Errno;

use super::path::FOLDER;
use super::tool::NoteKept;
use super::{DAY_BYTES, MemoryError, MemoryPath};

/// Stands between two texts in a file.
const GAP: &[u8] = b"\n\n";

pub(super) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    std::fs::create_dir_all(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// Appends a text that is not empty.
pub(super) fn append(
    root: &OwnedFd,
    path: MemoryPath,
    text: &str,
) -> Result<NoteKept, MemoryError> {
    let mut file = open(root, path)?;
    let refused = |source| MemoryError::Write { path, source };
    let length = file.metadata().map_err(refused)?.len();
    let end = End::of(&file, length, text).map_err(refused)?;
    if end == End::Same {
        return Ok(NoteKept::AlreadyThere { day: path.day() });
    }
    let mut block = Vec::with_capacity(text.len() + 3);
    block.extend_from_slice(end.gap());
    block.extend_from_slice(text.as_bytes());
    block.push(b'\n');
    if length.saturating_add(block.len() as u64) > DAY_BYTES {
        return Err(MemoryError::DayFull { path });
    }
    // One write in append mode, so that texts of several processes do not mix.
    file.write_all(&block).map_err(refused)?;
    Ok(NoteKept::Appended {
        day: path.day(),
        bytes: text.len(),
    })
}

/// Opens the file of a day for appending. What is checked is what is written to: the file that was opened, not a
/// name that may mean something else by now.
fn open(root: &OwnedFd, path: MemoryPath) -> Result<File, MemoryError> {
    let refused = |errno: Errno| MemoryError::Write {
        path,
        source: errno.into(),
    };
    match mkdirat(root, FOLDER, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(refused(errno)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(root, FOLDER, flags, Mode::empty())
        .map_err(|errno| instead(root, FOLDER, FOLDER.to_owned(), errno, path))?;

    // Without waiting: something like a pipe in the file's place must not hold anybody up.
    let flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let name = path.file_name();
    let file = openat(&folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| instead(&folder, &name, path.to_string(), errno, path))?;
    let stat = fstat(&file).map_err(refused)?;
    match strange(&stat) {
        Some(found) => Err(MemoryError::NotAFile {
            place: path.to_string(),
            found,
        }),
        None => Ok(File::from(file)),
    }
}

/// The error for a place that could not be opened: what stands there, if that is the reason.
fn instead(
    folder: impl AsFd,
    name: &str,
    place: String,
    errno: Errno,
    path: MemoryPath,
) -> MemoryError {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let found = match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Some(FileType::Symlink) => "a link",
        Some(FileType::Directory) if errno == Errno::ISDIR => "a folder",
        Some(FileType::RegularFile) if errno == Errno::NOTDIR => "a file",
        Some(FileType::Fifo | FileType::Socket) => "a pipe or socket",
        Some(FileType::CharacterDevice | FileType::BlockDevice) => "a device",
        _ => {
            return MemoryError::Write {
                path,
                source: errno.into(),
            };
        }
    };
    MemoryError::NotAFile { place, found }
}

/// What an opened file is, if it is not a plain one that has this name alone.
fn strange(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink == 1 => None,
        FileType::RegularFile => Some("a file that has other names too, or none any more"),
        FileType::Fifo | FileType::Socket => Some("a pipe or socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        _ => Some("no plain file"),
    }
}

/// How a file ends, before a text is appended to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is nothing in it.
    Empty,
    /// In the middle of a line.
    Line,
    /// With the end of a line.
    Newline,
    /// With a blank line.
    Blank,
    /// With the very text.
    Same,
}

impl End {
    fn of(file: &File, length: u64, text: &str) -> io::Result<Self> {
        if length == 0 {
            return Ok(Self::Empty);
        }
        // The text, the end of its line and the gap before it.
        let wanted = (text.len() + 1 + GAP.len()) as u64;
        let start = length.saturating_sub(wanted);
        let mut tail = vec![0; usize::try_from(length - start).unwrap_or_default()];
        file.read_exact_at(&mut tail, start)?;
        let before = tail
            .strip_suffix(b"\n")
            .and_then(|tail| tail.strip_suffix(text.as_bytes()));
        let is_whole =
            before.is_some_and(|before| before == GAP || (before.is_empty() && start == 0));
        Ok(if is_whole {
            Self::Same
        } else if tail.ends_with(GAP) {
            Self::Blank
        } else if tail.ends_with(b"\n") {
            Self::Newline
        } else {
            Self::Line
        })
    }

    /// What is missing up to a blank line.
    const fn gap(self) -> &'static [u8] {
        match self {
            Self::Line => GAP,
            Self::Newline => b"\n",
            Self::Empty | Self::Blank | Self::Same => b"",
        }
    }
}
