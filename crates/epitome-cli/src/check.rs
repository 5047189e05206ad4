//! `epitome check`: what is wrong with a conversation, and a repaired copy of it.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use epitome_files::{Counts, FileFormat, Stamp, read_file, repaired};
use epitome_wire::{Body, ProblemCode, Wire, problems, repair};
use serde::Serialize;

use crate::Ending;
use crate::args::CheckArgs;
use crate::clock::now_ms;
use crate::source::{Kind, Source};
use crate::terminal::tell;
use crate::writing::{Existing, Target};

/// The object of `--json`. Its names are public surface.
#[derive(Serialize)]
struct Object {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    format: &'static str,
    problems: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Vec<Row>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    code: &'static str,
    position: String,
    message: String,
}

/// What was found, and what was made of it.
struct Findings {
    format: &'static str,
    problems: Vec<Row>,
    /// What was repaired and the new file, if that was asked for.
    repaired: Option<(Vec<Row>, Vec<u8>)>,
    left_out: Vec<String>,
    /// What is still wrong with the new file.
    left: Vec<Row>,
}

pub(crate) fn run(args: &CheckArgs) -> Result<Ending> {
    if args.file.is_dir() {
        return folder(args);
    }
    let target = args.out.as_deref().map(|out| {
        let existing = Existing::of_flag(args.force);
        Target::checked(out, [args.file.as_path()], existing)
    });
    let target = target.transpose()?;
    let name = args.file.display().to_string();
    let found = look(&args.file, args).with_context(|| name.clone())?;
    if let (Some(target), Some((_, bytes))) = (&target, &found.repaired) {
        target.write(bytes)?;
    }
    let is_whole = match &found.repaired {
        Some(_) => found.left.is_empty(),
        None => found.problems.is_empty(),
    };
    let ending = if is_whole { Ending::Done } else { Ending::No };
    let report = if args.json {
        serde_json::to_string(&Object::of(found, None))? + "\n"
    } else {
        text(&name, &found)
    };
    Target::report(target.as_ref(), &report)?;
    Ok(ending)
}

impl Object {
    fn of(found: Findings, file: Option<String>) -> Self {
        Self {
            file,
            format: found.format,
            problems: found.problems,
            repaired: found.repaired.map(|(done, _)| done),
            left_out: found.left_out,
            left: found.left,
        }
    }
}

/// Every file of a folder. What is no conversation is told, and is no problem of one.
fn folder(args: &CheckArgs) -> Result<Ending> {
    if args.repair {
        bail!(
            "--repair works on one file; {} is a folder",
            args.file.display()
        );
    }
    let files = crate::folder::files(&args.file)?;
    let found = crate::folder::all(&files, !args.json, |path| look(path, args));
    if found.iter().all(Result::is_err) {
        let count = files.len();
        bail!(
            "{}: none of {count} files could be read",
            args.file.display()
        );
    }
    let mut ending = Ending::Done;
    for (path, found) in files.iter().zip(found) {
        let name = path.display().to_string();
        match found {
            Ok(found) => {
                if !found.problems.is_empty() {
                    ending = Ending::No;
                }
                let said = match args.json {
                    true => serde_json::to_string(&Object::of(found, Some(name)))? + "\n",
                    false => text(&name, &found),
                };
                crate::print(&said)?;
            }
            Err(error) => tell!("epitome: {name}: {}", crate::told(&error)),
        }
    }
    Ok(ending)
}

fn look(path: &Path, args: &CheckArgs) -> Result<Findings> {
    let mut source = Source::open(path)?;
    match source.kind(args.format) {
        Kind::Session(format) => session(&mut source, format, args),
        Kind::Body(wire) => body(&mut source, wire, args),
    }
}

fn session(source: &mut Source, format: FileFormat, args: &CheckArgs) -> Result<Findings> {
    let row = |problem: &epitome_files::Problem| Row {
        code: problem.code.as_str(),
        position: problem.position.to_string(),
        message: problem.message.clone(),
    };
    let mut counts = Counts::default();
    read_file(source.reader()?, format, &mut |event| counts.add(&event))?;
    source.check_unchanged()?;
    let counts = counts.finish();
    if counts.messages == 0 {
        bail!("no message of a {format} file can be read here, from byte 0 on");
    }
    let mut found = Findings {
        format: format.as_str(),
        problems: counts.problems.kept.iter().map(row).collect(),
        repaired: None,
        left_out: Vec::new(),
        left: Vec::new(),
    };
    if args.repair {
        let bytes = source.bytes()?;
        let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
        let stamp = Stamp {
            session_id: &stem,
            folder: "/",
            time_ms: now_ms(),
        };
        let file = repaired(&bytes, format, stamp)?;
        let entries = file.left_out.iter();
        let losses = file.losses.iter().map(|loss| loss.code.words().to_owned());
        found.left_out = entries
            .map(|(kind, count)| format!("{count} entries of the kind {kind}"))
            .chain(losses)
            .collect();
        found.left_out.dedup();
        found.repaired = Some((file.done.kept.iter().map(row).collect(), file.bytes));
    }
    Ok(found)
}

fn body(source: &mut Source, wire: Option<Wire>, args: &CheckArgs) -> Result<Findings> {
    let body = source.detected(wire)?.body;
    let place = |message: Option<usize>| match message {
        Some(message) => position(&body, message),
        None => "byte 0".to_owned(),
    };
    let row = |code: ProblemCode, message: Option<usize>, text: &str| Row {
        code: code.as_str(),
        position: place(message),
        message: text.to_owned(),
    };
    let found = problems(&body);
    let mut left = Vec::new();
    let repaired = args.repair.then(|| {
        let repaired = repair(&body);
        let of_left = repaired.left.iter();
        left.extend(of_left.map(|problem| row(problem.code, problem.message, &problem.text)));
        let done = repaired.done.iter();
        let done = done
            .map(|fix| row(fix.code, fix.message, &fix.text))
            .collect();
        (done, repaired.splice.into_bytes().to_vec())
    });
    Ok(Findings {
        format: body.wire().as_str(),
        problems: found
            .iter()
            .map(|problem| row(problem.code, problem.message, &problem.text))
            .collect(),
        repaired,
        left_out: Vec::new(),
        left,
    })
}

/// Where a message stands, for an editor.
fn position(body: &Body, message: usize) -> String {
    let start = body.messages().get(message).map_or(0, |range| range.start);
    format!("message {} (byte {start})", message + 1)
}

fn text(name: &str, found: &Findings) -> String {
    let mut out = String::new();
    for row in &found.problems {
        out.push_str(&format!(
            "{name}: {}: {}: {}\n",
            row.position, row.code, row.message
        ));
    }
    match &found.repaired {
        Some((done, _)) if done.is_empty() => out.push_str("nothing to repair\n"),
        Some((done, _)) => out.push_str(&format!("{} repaired\n", done.len())),
        None if found.problems.is_empty() => {
            out.push_str(&format!("{name}: {}, no problems\n", found.format));
        }
        None => out.push_str(&format!("{} problems\n", found.problems.len())),
    }
    for row in &found.left {
        out.push_str(&format!(
            "still wrong: {}: {}: {}\n",
            row.position, row.code, row.message
        ));
    }
    for item in &found.left_out {
        out.push_str(&format!("left out: {item}\n"));
    }
    out
}
