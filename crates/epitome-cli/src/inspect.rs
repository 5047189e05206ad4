//! `epitome inspect`: what a conversation is made of.

mod cost;
mod folder;
mod object;
mod svg;
mod tables;
mod tally;
mod timeline;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use epitome::Meter;
use epitome_files::{Event, FileFormat, Origin, Position, read_file};
use epitome_wire::Wire;

use crate::Ending;
use crate::args::{Format, InspectArgs};
use crate::source::{Kind, Source, messages};
use crate::terminal::Patience;
use crate::writing::{Existing, Target};
use object::Object;
pub(crate) use svg::draw;
pub(crate) use tables::plot;
use tally::Tally;
pub(crate) use timeline::Timeline;

pub(crate) fn run(args: &InspectArgs) -> Result<Ending> {
    let Some(file) = args.file.as_deref().filter(|file| !file.is_dir()) else {
        return folder::run(args);
    };
    if args.sort.is_some() {
        bail!("--sort is for a folder; {} is a file", file.display());
    }
    let target = args.svg.as_deref().map(|out| {
        let existing = Existing::of_flag(args.force);
        Target::checked(out, [file], existing)
    });
    let target = target.transpose()?;
    let name = file.display().to_string();
    let waiting = Patience::unless(args.quiet, format!("reading {name}"));
    let found = look(file, args.format, args.count.meter()).with_context(|| name.clone())?;
    drop(waiting);
    if let Some(target) = &target {
        let drawing = draw(&name, "message", &found.tally.timeline);
        target.write(drawing.as_bytes())?;
    }
    if args.json {
        let object = serde_json::to_string(&Object::of(&found, None))? + "\n";
        Target::report(target.as_ref(), &object)?;
    } else {
        Target::report_page(target.as_ref(), &tables::page(&name, &found))?;
    }
    Ok(Ending::Done)
}

/// A file and what is in it.
pub(crate) struct Found {
    pub(crate) format: &'static str,
    pub(crate) tally: Tally,
}

/// Reads a file once, a message at a time.
pub(crate) fn look(path: &Path, format: Format, meter: Meter) -> Result<Found> {
    let mut source = Source::open(path)?;
    match source.kind(format) {
        Kind::Session(format) => session(&mut source, format, meter),
        Kind::Body(wire) => body(&mut source, wire, meter),
    }
}

fn session(source: &mut Source, format: FileFormat, meter: Meter) -> Result<Found> {
    let mut tally = Tally::new(meter);
    read_file(source.reader()?, format, &mut |event| tally.add(&event))?;
    source.check_unchanged()?;
    let mut tally = tally.finish();
    if tally.counts.messages == 0 {
        bail!("no message of a {format} file can be read here, from byte 0 on");
    }
    if format == FileFormat::Aider {
        // The log marks what the user typed and nothing else: only those marks can be counted. The answers between
        // them are counted by role.
        let typed = tally.counts.by_role.get("user").copied();
        tally.counts.messages = typed.unwrap_or_default();
    }
    Ok(Found {
        format: format.as_str(),
        tally,
    })
}

fn body(source: &mut Source, wire: Option<Wire>, meter: Meter) -> Result<Found> {
    let body = source.detected(wire)?.body;
    let mut tally = Tally::new(meter);
    tally.add(&Event::Conversation);
    let places = body.messages().iter().enumerate();
    for ((entry, range), message) in places.zip(messages(&body)?) {
        let position = Position {
            byte: range.start as u64,
            line: None,
        };
        let origin = Origin {
            entry,
            position,
            ..Origin::default()
        };
        tally.add(&Event::Message { message, origin });
    }
    Ok(Found {
        format: body.wire().as_str(),
        tally: tally.finish(),
    })
}
