//! `epitome replay`: a conversation walked through again, request by request.

mod object;
mod page;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use epitome_cost::{Step, Turn};

use crate::Ending;
use crate::args::ReplayArgs;
use crate::inspect::{Timeline, draw};
use crate::play::{Input, Stage, Wishes, read};
use crate::terminal::Patience;
use crate::writing::{Existing, Target};
use object::Object;

pub(crate) fn run(args: &ReplayArgs, config: Option<&Path>) -> Result<Ending> {
    let target = args.svg.as_deref().map(|out| {
        let existing = Existing::of_flag(args.force);
        Target::checked(out, [args.file.as_path()], existing)
    });
    let target = target.transpose()?;
    let stage = Stage::set(&Wishes {
        config,
        preset: args.preset,
        window: args.window,
        model: args.model.as_deref(),
        quiet: args.quiet,
    })?;
    let name = args.file.display().to_string();
    let waiting = Patience::unless(args.quiet, format!("walking through {name}"));
    let input = chosen(args).with_context(|| name.clone())?;
    let scene = stage.scene(&input);
    let replayed = scene.play(&input);
    let turns = &replayed.turns;
    let timeline = timeline(turns);
    if let Some(target) = &target {
        target.write(draw(&name, "request", &timeline).as_bytes())?;
    }
    drop(waiting);
    if args.json {
        let lines = turns.iter().enumerate().map(|(at, turn)| {
            let object = serde_json::to_string(&Object::of(at, turn, &input))?;
            Ok(object + "\n")
        });
        Target::report(target.as_ref(), &lines.collect::<Result<String>>()?)?;
    } else {
        let page = page::page(&name, &input, &scene, &replayed, &timeline);
        Target::report_page(target.as_ref(), &page)?;
    }
    Ok(Ending::Done)
}

fn chosen(args: &ReplayArgs) -> Result<Input> {
    let inputs = read(&args.file, args.format, args.count.meter(), args.quiet)?;
    let count = inputs.len();
    let number = match args.conversation {
        Some(number) => number,
        None if count == 1 => 1,
        None => bail!("holds {count} conversations; choose one with --conversation"),
    };
    let Some(input) = inputs.into_iter().find(|input| input.number == number) else {
        bail!("holds {count} conversations, from 1 on; there is no {number}");
    };
    if input.recording.requests() == 0 {
        bail!("no model answers in conversation {number}: there is no request to walk through");
    }
    Ok(input)
}

/// The size of what goes out, request by request.
fn timeline(turns: &[Turn]) -> Timeline {
    let sizes = turns.iter().map(|turn| turn.sent.spent.input_tokens());
    let compacted = turns.iter().enumerate();
    let compacted = compacted.filter(|(_, turn)| matches!(turn.step, Step::Compacted(_)));
    Timeline::of(sizes.collect(), compacted.map(|(at, _)| at).collect())
}
