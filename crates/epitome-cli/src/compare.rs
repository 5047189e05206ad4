//! `epitome compare`: all designs side by side.

mod object;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use epitome::PresetName;
use epitome_cost::Totals;

use crate::Ending;
use crate::args::CompareArgs;
use crate::clock::Stopwatch;
use crate::folder;
use crate::play::{Stage, Wishes, read};
use crate::terminal::{Patience, counted, tell};
use object::Object;

/// What all designs made of one file, or of several.
pub(crate) struct Compared {
    files: u64,
    conversations: u64,
    windows: Vec<u64>,
    prices: Vec<String>,
    models: Vec<String>,
    designs: Vec<Design>,
}

struct Design {
    name: String,
    totals: Totals,
    taken: Duration,
}

pub(crate) fn run(args: &CompareArgs, config: Option<&Path>) -> Result<Ending> {
    let stages = PresetName::ALL.iter().map(|preset| {
        let stage = Stage::set(&Wishes {
            config,
            preset: Some(*preset),
            window: args.window,
            model: args.model.as_deref(),
            // What the configuration says of one, it says of all.
            quiet: args.quiet || *preset != PresetName::default(),
        });
        Ok((preset.to_string(), stage?))
    });
    let stages: Vec<(String, Stage)> = stages.collect::<Result<_>>()?;
    let work = |path: &Path| compare(path, args, &stages);
    let compared = if args.file.is_dir() {
        of_folder(args, work)?
    } else {
        let doing = format!("walking through {}", args.file.display());
        let _waiting = Patience::unless(args.quiet || args.json, doing);
        work(&args.file).with_context(|| args.file.display().to_string())?
    };
    if args.json {
        for object in Object::all(&compared) {
            crate::print(&format!("{}\n", serde_json::to_string(&object)?))?;
        }
    } else {
        table::page(&args.file, &compared).print()?;
    }
    Ok(Ending::Done)
}

fn of_folder(
    args: &CompareArgs,
    work: impl Fn(&Path) -> Result<Compared> + Sync,
) -> Result<Compared> {
    let files: Vec<PathBuf> = folder::files(&args.file)?;
    let outcomes = folder::all(&files, !args.quiet && !args.json, work);
    let mut sum: Option<Compared> = None;
    for (path, outcome) in files.iter().zip(outcomes) {
        match (outcome, &mut sum) {
            (Ok(one), None) => sum = Some(one),
            (Ok(one), Some(sum)) => sum.add(one),
            (Err(error), _) if !args.quiet => tell!("epitome: {}: {error:#}", path.display()),
            (Err(_), _) => {}
        }
    }
    match sum {
        Some(sum) => Ok(sum),
        None => bail!(
            "{}: nothing to compare in {}",
            args.file.display(),
            counted(files.len() as u64, "file")
        ),
    }
}

fn compare(path: &Path, args: &CompareArgs, stages: &[(String, Stage)]) -> Result<Compared> {
    let inputs = read(path, args.format, args.count.meter(), args.quiet)?;
    let mut compared = Compared {
        files: 1,
        conversations: inputs.len() as u64,
        windows: Vec::new(),
        prices: Vec::new(),
        models: Vec::new(),
        designs: Vec::new(),
    };
    for (name, stage) in stages {
        let started = Stopwatch::start();
        let mut totals = Totals::default();
        for input in &inputs {
            let scene = stage.scene(input);
            totals.add(&scene.play(input).turns);
            put(&mut compared.windows, scene.window.tokens);
            put(&mut compared.prices, scene.model.told());
            put(&mut compared.models, scene.model.model.name.clone());
        }
        compared.designs.push(Design {
            name: name.clone(),
            totals,
            taken: started.taken(),
        });
    }
    Ok(compared)
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.conversations += other.conversations;
        other
            .windows
            .into_iter()
            .for_each(|window| put(&mut self.windows, window));
        other
            .prices
            .into_iter()
            .for_each(|told| put(&mut self.prices, told));
        other
            .models
            .into_iter()
            .for_each(|model| put(&mut self.models, model));
        for (design, more) in self.designs.iter_mut().zip(other.designs) {
            design.totals.merge(&more.totals);
            design.taken += more.taken;
        }
    }
}

/// Adds what is not there yet.
fn put<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}
