//! `cargo xtask agents`: real clients against the scripted upstream, through `epitome serve` and without it.
//!
//! Layout: [`clients`] is who is driven and how, [`install`] puts them there in the versions of `xtask/agents.toml`,
//! [`stage`] starts the programs of one run in front of an [`upstream`], [`outcome`] judges it, [`table`] is what people read.

mod clients;
mod install;
mod outcome;
mod stage;
mod table;
mod upstream;

use std::path::PathBuf;

use anyhow::{Context, Result};

pub(crate) use self::clients::Scenario;
use self::clients::{CLIENTS, Client};
use self::install::Sets;
pub(crate) use self::outcome::Outcome;
use self::outcome::Row;
use self::stage::{Side, Stage};
pub(crate) use self::upstream::Upstream;
use crate::Verdict;
use crate::clock;
use crate::needs::{self, FOR_AGENTS};
use crate::project::{Project, succeeds};

/// How much of the table is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The part that `cargo xtask test` has.
    Short,
    /// All scenarios of these clients, or one of them; of all clients when none is named.
    Clients {
        names: Vec<String>,
        only: Option<Scenario>,
    },
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) rows: Vec<Row>,
    /// Clients that could not be driven, with the reason.
    pub(crate) absent: Vec<(String, String)>,
}

impl Findings {
    pub(crate) fn failed(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_good()).count()
    }
}

/// The command: prints the table and writes it to `docs/clients.md`, where clients that were not driven keep their rows.
pub(crate) fn run(project: &Project, extent: &Extent) -> Result<Verdict> {
    let findings = execute(project, extent)?;
    print!("\n{}", table::markdown(&findings));
    let is_good = findings.failed() == 0 && findings.absent.is_empty();
    println!(
        "\nagents: {} runs, {} not good, {} clients could not be driven",
        findings.rows.len(),
        findings.failed(),
        findings.absent.len()
    );
    Ok(Verdict::good_if(is_good))
}

/// Installs, builds and drives.
pub(crate) fn execute(project: &Project, extent: &Extent) -> Result<Findings> {
    let chosen = chosen(extent)?;
    let target = project.target_folder()?;
    needs::prepare(project, FOR_AGENTS);
    let sets = chosen.iter().flat_map(|(client, _)| client.sets());
    let sets = Sets::prepare(project, &target, sets)?;
    build(project)?;
    let stage = Stage::new(project, &target);
    let mut findings = Findings::default();
    for (client, scenarios) in chosen {
        match sets.missing(client) {
            Some(reason) => findings.absent.push((client.name.to_owned(), reason)),
            None => {
                for scenario in scenarios {
                    findings.rows.push(drive(&stage, &sets, client, scenario)?);
                }
            }
        }
        // After each client, so that a run that is interrupted leaves what it found.
        if let Extent::Clients { only, .. } = extent {
            table::write(project, &findings, *only)?;
        }
    }
    Ok(findings)
}

/// The folder for `EPITOME_AGENTS`, or why it could not be filled.
pub(crate) fn for_session_files(project: &Project) -> Result<Result<PathBuf, String>> {
    let target = project.target_folder()?;
    needs::prepare(project, FOR_AGENTS);
    let sets = Sets::prepare(project, &target, [install::AGENTS])?;
    Ok(sets.folder(install::AGENTS))
}

/// One scenario with epitome and without, at the same time.
fn drive(stage: &Stage, sets: &Sets, client: &Client, scenario: Scenario) -> Result<Row> {
    let begin = clock::now();
    let (with, without) = std::thread::scope(|scope| {
        let without = scope.spawn(|| stage.run(sets, client, scenario, Side::Without));
        let with = stage.run(sets, client, scenario, Side::With);
        (with, without.join())
    });
    let without = without.map_err(|_| anyhow::anyhow!("a run without epitome panicked"))??;
    let seconds = clock::now()
        .duration_since(begin)
        .unwrap_or_default()
        .as_secs();
    let row = Row::new(client, scenario, with?, without, seconds);
    println!("{}", table::progress(&row));
    Ok(row)
}

fn chosen(extent: &Extent) -> Result<Vec<(&'static Client, Vec<Scenario>)>> {
    let Extent::Clients { names, only } = extent else {
        let short = CLIENTS.iter().filter(|client| !client.short.is_empty());
        return Ok(short
            .map(|client| (client, client.short.to_vec()))
            .collect());
    };
    let clients: Vec<&Client> = if names.is_empty() {
        CLIENTS.iter().collect()
    } else {
        names
            .iter()
            .map(|name| named(name))
            .collect::<Result<_>>()?
    };
    let wanted = |scenario: &Scenario| only.is_none_or(|only| only == *scenario);
    let chosen = clients.into_iter().map(|client| {
        let scenarios: Vec<_> = client.scenarios.iter().copied().filter(&wanted).collect();
        (client, scenarios)
    });
    let chosen: Vec<_> = chosen.filter(|(_, some)| !some.is_empty()).collect();
    anyhow::ensure!(!chosen.is_empty(), "no client named has this scenario");
    Ok(chosen)
}

fn named(name: &str) -> Result<&'static Client> {
    let known = CLIENTS.iter().find(|client| client.name == name);
    known.with_context(|| {
        let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
        format!("there is no client `{name}`; known: {}", names.join(", "))
    })
}

/// The whole workspace at once, as the tests build it: packages by themselves would be compiled a second time with other
/// features.
pub(crate) fn build(project: &Project) -> Result<()> {
    let all = ["build", "--locked", "--workspace", "--bins", "--examples"];
    anyhow::ensure!(
        succeeds(project.cargo(&all)),
        "the workspace does not build"
    );
    Ok(())
}

/// What a run without errors counts as; used where a run could not even begin.
impl Outcome {
    fn broken(reason: String) -> Self {
        Self {
            errors: vec![reason],
            ..Self::default()
        }
    }
}
