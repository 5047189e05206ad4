//! Opening what a user names: a session file, a request body, or standard input.

mod opencode;

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use epitome::Message;
use epitome_files::{FileFormat, Problems, SNIFF_BYTES, Transcript};
use epitome_wire::{Body, Detected, Wire, decode, detect};

use crate::args::{FileKind, Format};
use crate::terminal::tell;

/// Request bodies are read as a whole, so there is a size beyond which it is surely something else.
const LARGEST_BODY_BYTES: u64 = 512 << 20;
/// How many problems of a file are told one by one.
const TOLD: usize = 5;

/// An opened file.
pub(crate) struct Source {
    reader: Box<dyn BufReadSeek>,
    /// The file and its size when it was opened; standard input cannot change.
    file: Option<(File, u64)>,
    head: Vec<u8>,
}

/// What a file is read as.
pub(crate) enum Kind {
    /// An agent's session.
    Session(FileFormat),
    /// Messages for a provider; which one is found by looking where it is not said.
    Body(Option<Wire>),
}

/// What readers of session files ask for.
trait BufReadSeek: BufRead + Seek {}

impl<T: BufRead + Seek> BufReadSeek for T {}

impl Source {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut source = if path == Path::new("-") {
            Self::in_memory(std::io::stdin().lock())?
        } else {
            if path.is_dir() {
                bail!("is a folder; name a file");
            }
            if opencode::is_session(path) {
                return Self::of_bytes(opencode::exported(path)?);
            }
            let file = File::open(path).context("cannot be opened")?;
            let metadata = file.metadata().context("cannot be opened")?;
            if metadata.is_file() {
                Self::on_disk(file, &metadata)?
            } else {
                Self::in_memory(file)?
            }
        };
        source.look()?;
        Ok(source)
    }

    /// What was never a file of its own.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Result<Self> {
        let mut source = Self::in_memory(Cursor::new(bytes))?;
        source.look()?;
        Ok(source)
    }

    /// Reads what tells one kind of file from another.
    fn look(&mut self) -> Result<()> {
        (&mut self.reader)
            .take(SNIFF_BYTES as u64)
            .read_to_end(&mut self.head)
            .context("cannot be read at byte 0")?;
        self.rewind()?;
        if self.head.iter().all(u8::is_ascii_whitespace) {
            bail!("is empty");
        }
        Ok(())
    }

    fn in_memory(mut reader: impl Read) -> Result<Self> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).context("cannot be read")?;
        Ok(Self {
            reader: Box::new(Cursor::new(bytes)),
            file: None,
            head: Vec::new(),
        })
    }

    fn on_disk(file: File, metadata: &Metadata) -> Result<Self> {
        let again = file.try_clone().context("cannot be opened")?;
        Ok(Self {
            reader: Box::new(BufReader::with_capacity(1 << 18, file)),
            file: Some((again, metadata.len())),
            head: Vec::new(),
        })
    }

    fn rewind(&mut self) -> Result<()> {
        self.reader
            .seek(SeekFrom::Start(0))
            .context("cannot be read from the start")?;
        Ok(())
    }

    /// What the file is, if it is a session file.
    fn session_format(&self) -> Option<FileFormat> {
        FileFormat::sniff(&self.head)
    }

    /// How to read the file: as what the user says it is, or as what it looks like.
    pub(crate) fn kind(&self, format: Format) -> Kind {
        match format.kind() {
            FileKind::Auto => self
                .session_format()
                .map_or(Kind::Body(None), Kind::Session),
            FileKind::Wire(wire) => Kind::Body(Some(wire)),
            FileKind::Session(format) => Kind::Session(format),
        }
    }

    /// The messages of a provider's format, as they stand.
    pub(crate) fn detected(&mut self, wire: Option<Wire>) -> Result<Detected> {
        let bytes = Bytes::from(self.body()?);
        detect(&bytes, wire).context("no conversation that can be read here")
    }

    /// The reader, at the first byte.
    pub(crate) fn reader(&mut self) -> Result<&mut (impl BufRead + Seek)> {
        self.rewind()?;
        Ok(&mut self.reader)
    }

    /// The conversations of a session file.
    pub(crate) fn transcript(&mut self, format: FileFormat) -> Result<Transcript> {
        let transcript = Transcript::collect(self.reader()?, format)?;
        self.check_unchanged()?;
        if transcript
            .conversations
            .iter()
            .all(|conversation| conversation.messages.is_empty())
        {
            bail!("no message of a {format} file can be read here, from byte 0 on");
        }
        Ok(transcript)
    }

    /// All of the file.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>> {
        self.rewind()?;
        let mut bytes = Vec::new();
        self.reader
            .read_to_end(&mut bytes)
            .context("cannot be read")?;
        self.check_unchanged()?;
        Ok(bytes)
    }

    /// All of a request body, or of messages in a provider's format.
    fn body(&mut self) -> Result<Vec<u8>> {
        let first = self
            .head
            .iter()
            .position(|byte| !byte.is_ascii_whitespace());
        let first = first.unwrap_or_default();
        if !matches!(self.head.get(first), Some(b'{' | b'[' | 0xEF)) {
            bail!("no conversation that can be read here: no object and no list at byte {first}");
        }
        if let Some((_, len)) = &self.file
            && *len > LARGEST_BODY_BYTES
        {
            bail!("is {len} bytes; a request body is read up to {LARGEST_BODY_BYTES} bytes");
        }
        self.bytes()
    }

    /// Somebody who writes to the file meanwhile makes what was read a mixture.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let Some((file, before)) = &self.file else {
            return Ok(());
        };
        let now = file.metadata().context("cannot be looked at")?.len();
        if now != *before {
            bail!("changed while it was read: it had {before} bytes and has {now}; try again");
        }
        Ok(())
    }
}

/// Which conversations of a file are meant: all, or the one with this number.
pub(crate) fn chosen(transcript: &Transcript, number: Option<usize>) -> Result<Range<usize>> {
    let count = transcript.conversations.len();
    match number {
        None => Ok(0..count),
        Some(number) if (1..=count).contains(&number) => Ok(number - 1..number),
        Some(number) => bail!("holds {count} conversations, from 1 on; there is no {number}"),
    }
}

/// The messages of a body, in order.
pub(crate) fn messages(body: &Body) -> Result<Vec<Message>> {
    (0..body.len())
        .map(|index| {
            let at = || format!("message {}", index + 1);
            let value = body.read(index).with_context(at)?;
            Ok(decode(body.wire(), &value).with_context(at)?.message)
        })
        .collect()
}

/// Says on standard error what is wrong with a session file.
pub(crate) fn tell_problems(name: &str, problems: &Problems) {
    for problem in problems.kept.iter().take(TOLD) {
        let code = problem.code.as_str();
        tell!(
            "epitome: {name}: {}: {code}: {}",
            problem.position,
            problem.message
        );
    }
    let more = problems.total().saturating_sub(TOLD as u64);
    if more > 0 {
        tell!("epitome: {name}: {more} more problems");
    }
}
