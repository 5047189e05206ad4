//! Writing files: never the input, an existing file only where the user says so, and whole or not at all.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::terminal::{Page, shown};

/// How many names for a temporary file are tried: a process that was killed may have left some behind.
const MOST_TRIES: u32 = 1_000;

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and the command refuses.
    Stays,
    /// It is replaced.
    IsReplaced,
}

impl Existing {
    /// What `--force` says.
    pub(crate) const fn of_flag(force: bool) -> Self {
        if force { Self::IsReplaced } else { Self::Stays }
    }
}

/// A file that a command is to write.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    path: &'a Path,
    inputs: Vec<&'a Path>,
    existing: Existing,
    /// Whether a new file is for its owner alone.
    is_private: bool,
}

/// What puts the bytes of a file where they go.
type Fill<'f> = &'f mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>;

/// Where the bytes go.
enum Place {
    StandardOutput,
    StandardError,
    /// A device or a pipe: there is nothing that could be replaced.
    Special,
    /// A file, without links, and what is there of it now.
    File {
        path: PathBuf,
        replaced: Option<Metadata>,
    },
}

impl<'a> Target<'a> {
    /// The file that a user names; `-` is standard output. `inputs` is what the command reads: files, folders, or `-`.
    /// It is looked at here, so that nobody waits for work that cannot be written, and again when it is written.
    pub(crate) fn checked(
        path: &'a Path,
        inputs: impl IntoIterator<Item = &'a Path>,
        existing: Existing,
    ) -> Result<Self> {
        let target = Self {
            path,
            inputs: inputs.into_iter().collect(),
            existing,
            is_private: false,
        };
        target.place()?;
        Ok(target)
    }

    /// The same, for content that is nobody else's business.
    pub(crate) const fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Writes the file. Afterwards all of it is there and will last; after an error it is as it was.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        if let Place::StandardOutput = self.place()? {
            return crate::print_bytes(bytes);
        }
        self.write_with(&mut |out| out.write_all(bytes))
    }

    /// Writes a file that is too large to be held, piece by piece, with the same promise. What goes to standard output is not
    /// looked at.
    pub(crate) fn write_with(&self, fill: Fill<'_>) -> Result<()> {
        let written = match self.place()? {
            Place::StandardOutput => fill(&mut io::stdout()),
            Place::StandardError => fill(&mut io::stderr()),
            Place::Special => {
                let file = OpenOptions::new().write(true).open(self.path);
                file.and_then(|mut file| fill(&mut file))
            }
            Place::File { path, replaced } => {
                match self.write_whole(&path, replaced.as_ref(), fill) {
                    // Somebody else was faster.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        return Err(self.is_there());
                    }
                    other => other,
                }
            }
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn write_whole(
        &self,
        path: &Path,
        replaced: Option<&Metadata>,
        fill: Fill<'_>,
    ) -> io::Result<()> {
        let folder = folder_of(path);
        let mode = match replaced {
            Some(replaced) => Some(mode_of(replaced)),
            None => self.is_private.then_some(0o600),
        };
        let (temporary, mut file) = Temporary::new(folder, mode)?;
        fill(&mut file)?;
        if let Some(replaced) = replaced {
            // Whoever may not give a file away keeps it.
            let _ = fchown(&file, Some(replaced.uid()), Some(replaced.gid()));
            file.set_permissions(Permissions::from_mode(mode_of(replaced)))?;
        }
        file.sync_all()?;
        temporary.place(path, self.existing)?;
        // A folder that may be written but not listed cannot be opened, and some file systems know no such thing.
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error) if error.kind() != ErrorKind::PermissionDenied && !is_unknown(&error) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn place(&self) -> Result<Place> {
        match self.path.to_str() {
            Some("-" | "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                return Ok(Place::StandardOutput);
            }
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
                return Ok(Place::StandardError);
            }
            _ => {}
        }
        let name = self.path.display();
        if self.path.symlink_metadata().is_err() {
            self.check_folder()?;
            return Ok(Place::File {
                path: self.path.to_owned(),
                replaced: None,
            });
        }
        let there = self.path.metadata().ok();
        match &there {
            Some(there) if there.is_dir() => bail!("{name} is a folder: name a file"),
            Some(there) if !there.is_file() => return Ok(Place::Special),
            Some(there) if self.is_input(there) => {
                bail!("{name} is the input, which is never written to: name another file")
            }
            _ if self.existing == Existing::Stays => return Err(self.is_there()),
            _ => {}
        }
        // What a link leads to is replaced and the link stays, unless it leads nowhere.
        let path = match there {
            Some(_) => self
                .path
                .canonicalize()
                .with_context(|| format!("cannot write {name}"))?,
            None => self.path.to_owned(),
        };
        Ok(Place::File {
            path,
            replaced: there,
        })
    }

    fn is_there(&self) -> anyhow::Error {
        anyhow::anyhow!(
            "{} is there already: use --force to replace it, or name another file",
            self.path.display()
        )
    }

    fn check_folder(&self) -> Result<()> {
        let name = self.path.display();
        if self.path.file_name().is_none() || name.to_string().ends_with('/') {
            bail!("cannot write `{name}`: name a file");
        }
        let folder = folder_of(self.path);
        match folder.metadata() {
            Ok(found) if found.is_dir() => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!(
                    "cannot write {name}: there is no folder {}",
                    folder.display()
                )
            }
            Err(error) => Err(error).with_context(|| format!("cannot write {name}")),
            Ok(_) => bail!("cannot write {name}: {} is not a folder", folder.display()),
        }
    }

    /// Whether a file is one that the command reads, by whatever name.
    fn is_input(&self, file: &Metadata) -> bool {
        let is_file = |other: &Metadata| (other.dev(), other.ino()) == (file.dev(), file.ino());
        self.inputs.iter().any(|input| {
            if *input == Path::new("-") {
                let Ok(other) = rustix::fs::fstat(io::stdin()) else {
                    return false;
                };
                return (other.st_dev, other.st_ino) == (file.dev(), file.ino());
            }
            match input.metadata() {
                Ok(other) if other.is_dir() => {
                    let files = crate::folder::files(input).unwrap_or_default();
                    let mut files = files.iter().filter_map(|path| path.metadata().ok());
                    files.any(|other| is_file(&other))
                }
                Ok(other) => is_file(&other),
                Err(_) => false,
            }
        })
    }

    /// Says on standard output what a command found, or on standard error where standard output has the file.
    pub(crate) fn report(target: Option<&Self>, text: &str) -> Result<()> {
        match target.map(Self::place) {
            Some(Ok(Place::StandardOutput)) => {
                // Nobody may be reading it, which is no reason to stop.
                let _ = io::stderr().write_all(shown(text).as_bytes());
                Ok(())
            }
            _ => crate::print(text),
        }
    }
}

impl Target<'_> {
    /// The same for a page: where it goes to standard output, as wide as the terminal is.
    pub(crate) fn report_page(target: Option<&Self>, page: &Page) -> Result<()> {
        match target.map(Self::place) {
            Some(Ok(Place::StandardOutput)) => Self::report(target, &page.plain()),
            _ => page.print(),
        }
    }
}

/// A file that takes the place of another one when it is complete, and vanishes when it does not get that far.
struct Temporary {
    path: PathBuf,
    is_placed: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_placed {
            // There is nothing better to do about it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Temporary {
    /// A new file in a folder, as open to others as the one that it is to replace.
    fn new(folder: &Path, mode: Option<u32>) -> io::Result<(Self, File)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if let Some(mode) = mode {
            options.mode(mode);
        }
        let process = std::process::id();
        let mut number = 0;
        loop {
            let path = folder.join(format!(".epitome-{process}-{number}.tmp"));
            match options.open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_TRIES => {
                    number += 1;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    // The caller takes it for the file itself.
                    return Err(io::Error::other(
                        "too many temporary files of dead processes",
                    ));
                }
                Err(error) => return Err(error),
                Ok(file) => {
                    let is_placed = false;
                    return Ok((Self { path, is_placed }, file));
                }
            }
        }
    }

    fn place(mut self, path: &Path, existing: Existing) -> io::Result<()> {
        match existing {
            Existing::IsReplaced => std::fs::rename(&self.path, path)?,
            Existing::Stays => match rename_to_nothing(&self.path, path) {
                // A second name and then one less does the same where the system has no better way.
                Err(error) if is_unknown(&error) => return std::fs::hard_link(&self.path, path),
                other => other?,
            },
        }
        self.is_placed = true;
        Ok(())
    }
}

/// Renames a file unless the new name is taken.
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (from, to);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Whether a file system says that it cannot do such a thing at all.
fn is_unknown(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::InvalidInput
    )
}

/// Who may do what with it; a new owner does not get the powers of the old one.
fn mode_of(file: &Metadata) -> u32 {
    file.mode() & 0o777
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[path = "writing_tests.rs"]
mod tests;
