//! `epitome store import`: from a file of `export`, or straight from another store.

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;

use anyhow::{Context as _, Result, bail};
use epitome_config::Address;
use epitome_store::{
    AnyStore, Cell, Housekeeping as _, Keys, Restored, SnapshotLine, SnapshotRow, Store as _,
    SweepBefore,
};
use serde_json::json;

use super::progress::Progress;
use crate::args::StoreImportArgs;
use crate::history::block_on;
use crate::{Ending, print};

/// Rows and bytes that go into one transaction at most: a running proxy gets its turn between two.
const ROWS: usize = 1_000;
const BYTES: usize = 4 << 20;

/// No note, turn or mark is that old.
const ONLY_UNUSED: SweepBefore<'static> = SweepBefore {
    tenant: None,
    outcomes_ms: i64::MIN,
    turns_ms: i64::MIN,
    deleted_ms: i64::MIN,
};

pub(super) async fn run(args: &StoreImportArgs) -> Result<Ending> {
    let source = Source::open(&args.from)?;
    let store = args.at.open_or_create().await?;
    let mut into = Into::new(&store, args.at.quiet);
    let done = match source {
        Source::Lines(lines) => read_lines(lines, &mut into).await,
        // Both may be encrypted: one list of keys has those of both.
        Source::Store(from) => read_store(from, args.at.place().keys()?, &mut into).await,
    };
    let restored = match done {
        Ok(()) => into.finish().await,
        Err(error) => Err(error),
    };
    store.close().await;
    let Restored {
        written,
        left,
        refused,
    } = restored?;
    match args.at.json {
        true => {
            let counts = json!({ "written": written, "left": left, "refused": refused });
            print(&(counts.to_string() + "\n"))?;
        }
        false => {
            let refused = match refused {
                0 => String::new(),
                count => format!(", {count} belong to what was deleted here"),
            };
            print(&format!(
                "{written} rows brought in, {left} were there{refused}\n"
            ))?;
        }
    }
    Ok(Ending::Done)
}

enum Source {
    Lines(Box<dyn BufRead>),
    /// The location of one.
    Store(String),
}

impl Source {
    fn open(from: &str) -> Result<Self> {
        if from == "-" {
            return Ok(Self::Lines(Box::new(BufReader::new(std::io::stdin()))));
        }
        let is_store = ["sqlite:", "postgres:", "postgresql:"];
        if is_store.iter().any(|scheme| from.starts_with(scheme)) {
            return Ok(Self::Store(from.to_owned()));
        }
        let file = std::fs::File::open(from).with_context(|| format!("cannot read {from}"))?;
        Ok(Self::Lines(Box::new(BufReader::new(file))))
    }
}

/// A store that rows go into, a piece at a time.
struct Into<'a> {
    store: &'a AnyStore,
    waiting: Vec<SnapshotRow>,
    bytes: usize,
    restored: Restored,
    progress: Progress,
}

impl<'a> Into<'a> {
    fn new(store: &'a AnyStore, is_quiet: bool) -> Self {
        Self {
            store,
            waiting: Vec::new(),
            bytes: 0,
            restored: Restored::default(),
            progress: Progress::start(is_quiet),
        }
    }

    async fn add(&mut self, row: SnapshotRow) -> Result<()> {
        self.bytes += row.cells.iter().map(size).sum::<usize>();
        self.waiting.push(row);
        if self.waiting.len() >= ROWS || self.bytes >= BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        let restored = self.store.restore(&self.waiting).await?;
        self.restored.written += restored.written;
        self.restored.left += restored.left;
        self.restored.refused += restored.refused;
        self.waiting.clear();
        self.bytes = 0;
        let Restored {
            written,
            left,
            refused,
        } = self.restored;
        let rows = written + left + refused;
        self.progress.tell(|| format!("{rows} rows"));
        Ok(())
    }

    async fn finish(mut self) -> Result<Restored> {
        self.flush().await?;
        // Messages come before the links that may be refused: those of what was deleted here do not stay.
        self.store.sweep(ONLY_UNUSED).await?;
        self.progress.end();
        Ok(self.restored)
    }
}

fn size(cell: &Cell) -> usize {
    match cell {
        Cell::Null | Cell::Integer(_) => 8,
        Cell::Text(text) => text.len(),
        Cell::Bytes(bytes) => bytes.len(),
    }
}

async fn read_lines(lines: Box<dyn BufRead>, into: &mut Into<'_>) -> Result<()> {
    let mut rows = 0;
    let mut is_begun = false;
    for (number, line) in lines.lines().enumerate() {
        let at = || format!("line {}", number + 1);
        let line = line.with_context(at)?;
        match (SnapshotLine::parse(&line).with_context(at)?, is_begun) {
            (SnapshotLine::Head, false) => is_begun = true,
            (SnapshotLine::Row(row), true) => {
                rows += 1;
                into.add(row).await.with_context(at)?;
            }
            (SnapshotLine::End { rows: said }, true) if said == rows => return Ok(()),
            (SnapshotLine::End { rows: said }, true) => {
                bail!("the export has {rows} rows and says {said}: rows are missing")
            }
            _ => bail!("line {}: it is no export of a store", number + 1),
        }
    }
    bail!(
        "the export was cut off after {rows} rows; what came before is in the store, import the whole to go on"
    )
}

/// The other store is read at one moment, a piece ahead of what is written, on a thread and a runtime of its own: neither waits
/// for the other's database.
async fn read_store(from: String, keys: Keys, into: &mut Into<'_>) -> Result<()> {
    let (sender, receiver) = sync_channel(ROWS);
    let reading = std::thread::spawn(move || {
        block_on(async move {
            let opened = AnyStore::open_read_only_with(&from, &keys).await;
            let store = opened.with_context(|| Address::new(from).to_string())?;
            // Whoever does not listen any more has failed, and says so.
            let mut each = |row: SnapshotRow| match sender.send(row) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            let read = store.snapshot(&mut each).await;
            store.close().await;
            Ok(read?)
        })
    });
    while let Ok(row) = receiver.recv() {
        into.add(row).await?;
    }
    match reading.join() {
        Ok(read) => read,
        Err(_) => bail!("the other store could not be read"),
    }
}
