//! `epitome store export`.

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;

use anyhow::{Context as _, Result};
use epitome_store::{Housekeeping as _, SnapshotLine, SnapshotRow, Store as _};
use serde_json::json;

use super::progress::Progress;
use crate::Ending;
use crate::args::StoreExportArgs;
use crate::terminal::tell;
use crate::writing::{Existing, Target};

pub(super) fn run(args: &StoreExportArgs) -> Result<Ending> {
    let target = Target::checked(&args.out, [], Existing::of_flag(args.force))?.private();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let store = runtime.block_on(args.at.place().open_read_only())?;
    let mut progress = Progress::start(args.at.quiet);
    let mut failed = None;
    let mut rows = 0_u64;
    let written = target.write_with(&mut |out| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        writeln!(out, "{}", SnapshotLine::Head.to_text())?;
        let mut broken = None;
        let mut each =
            |row: SnapshotRow| match writeln!(out, "{}", SnapshotLine::Row(row).to_text()) {
                Ok(()) => {
                    rows += 1;
                    progress.tell(|| format!("{rows} rows"));
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    broken = Some(error);
                    ControlFlow::Break(())
                }
            };
        let read = runtime.block_on(store.snapshot(&mut each));
        if let Some(error) = broken {
            return Err(error);
        }
        if let Err(error) = read {
            failed = Some(error);
            return Err(std::io::Error::other(
                "the store could not be read to its end",
            ));
        }
        writeln!(out, "{}", SnapshotLine::End { rows }.to_text())?;
        out.flush()
    });
    runtime.block_on(store.close());
    progress.end();
    if let Some(error) = failed {
        return Err(error).context("nothing was written");
    }
    written?;
    if args.at.json {
        tell!("{}", json!({ "rows": rows }));
    } else if !args.at.quiet {
        tell!("{rows} rows written");
    }
    Ok(Ending::Done)
}
