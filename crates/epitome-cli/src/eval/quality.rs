//! The tables of QUALITY.md: the numbers by which a release is judged, and how far each is from its target.

use epitome_eval::{Method, Search, Table, TableLine, WRITTEN_SUMMARY};

use super::print::{gates, heads, share, table};
use super::{CHATS, Report, score};

pub(super) fn text(report: &Report) -> String {
    let mut sections = vec![
        "### Targets\n".to_owned(),
        targets(report),
        "### Sessions: needs, files and words kept\n".to_owned(),
        sessions(report),
        "### At real compactions, at the size of the summary that a model wrote\n".to_owned(),
        real(report),
        "### Planted constraints and answers in long chats\n".to_owned(),
        chats(report),
    ];
    sections.extend(report.gates.as_ref().map(gates));
    sections.join("\n")
}

/// The least that the built-in summariser should reach, beside what it does reach.
struct Target {
    name: &'static str,
    least: f64,
    reached: Option<f64>,
    best_baseline: Option<f64>,
}

fn targets(report: &Report) -> String {
    let of = |name, least, value: &dyn Fn(&str) -> Option<f64>| {
        let baselines = Method::ALL.iter().filter(|m| **m != Method::Builtin);
        Target {
            name,
            least,
            reached: value(Method::Builtin.as_str()),
            best_baseline: baselines
                .filter_map(|method| value(method.as_str()))
                .max_by(f64::total_cmp),
        }
    };
    let at = |budget: Option<u64>, value: fn(&TableLine) -> f64| {
        move |method: &str| line(report, budget, method).map(value)
    };
    let found = |depth: usize| {
        move |_: &str| {
            let table = report.questions.iter().find(|table| table.chats == CHATS)?;
            let line = table
                .searches
                .iter()
                .find(|line| line.search == Search::Messages && line.lookup_only)?;
            line.hits.any.get(depth).copied()
        }
    };
    let rows = [
        of("FNR-g, 4,000", 0.78, &at(Some(4_000), |l| l.grounded)),
        of("FNR-g, 8,000", 0.85, &at(Some(8_000), |l| l.grounded)),
        of("far, 8,000", 0.90, &at(Some(8_000), |l| l.far)),
        of("rare, 8,000", 0.53, &at(Some(8_000), |l| l.rare)),
        of("AR, 4,000", 0.99, &at(Some(4_000), |l| l.artifacts)),
        of("CR, 4,000", 0.99, &|method| planted(report, method)),
        of("AFR, 8,000", 0.70, &|method| score::answers(report, method)),
        of("FNR-g, real", 0.80, &at(None, |l| l.grounded)),
        of("lookup any@5", 0.85, &found(1)),
        of("lookup any@10", 0.92, &found(2)),
    ];
    let rows = rows.into_iter().map(|target| {
        let verdict = match target.reached {
            Some(reached) if reached >= target.least => "yes",
            Some(_) => "no",
            None => "–",
        };
        vec![
            target.name.to_owned(),
            format!("{:.2}", target.least),
            target.best_baseline.map_or_else(dash, share),
            target.reached.map_or_else(dash, share),
            verdict.to_owned(),
        ]
    });
    table(
        &heads(&["measure", "target", "best baseline", "built-in", "met"]),
        rows,
    )
}

fn dash() -> String {
    "–".to_owned()
}

fn of_budget(report: &Report, budget: Option<u64>) -> Option<&Table> {
    report.needs.iter().find(|table| table.budget == budget)
}

fn line<'a>(report: &'a Report, budget: Option<u64>, method: &str) -> Option<&'a TableLine> {
    let table = of_budget(report, budget)?;
    table.lines.iter().find(|line| line.method == method)
}

fn planted(report: &Report, method: &str) -> Option<f64> {
    let table = report.planted.first()?;
    let line = table.lines.iter().find(|line| line.method == method)?;
    Some(line.all)
}

fn sessions(report: &Report) -> String {
    let names = heads(&[
        "method", "FNR-g 2k", "4k", "8k", "16k", "FNR 4k", "8k", "far 4k", "8k", "rare 4k", "8k",
        "AR 4k", "8k", "UR 4k", "+S 8k",
    ]);
    let rows = Method::ALL.iter().map(|method| {
        let cell = |budget: u64, value: fn(&TableLine) -> f64| {
            line(report, Some(budget), method.as_str()).map_or_else(dash, |line| share(value(line)))
        };
        let grounded = [2_000, 4_000, 8_000, 16_000].map(|budget| cell(budget, |l| l.grounded));
        let mut cells = vec![method.as_str().to_owned()];
        cells.extend(grounded);
        for value in [
            (|l| l.fnr) as fn(&TableLine) -> f64,
            |l| l.far,
            |l| l.rare,
            |l| l.artifacts,
        ] {
            cells.extend([4_000, 8_000].map(|budget| cell(budget, value)));
        }
        cells.push(cell(4_000, |l| l.user_words));
        cells.push(cell(8_000, |l| l.searched.unwrap_or(0.0)));
        cells
    });
    table(&names, rows)
}

fn real(report: &Report) -> String {
    let methods = Method::ALL.map(Method::as_str);
    let rows = methods
        .into_iter()
        .chain([WRITTEN_SUMMARY])
        .filter_map(|method| line(report, None, method))
        .map(|line| {
            let shares = [line.fnr, line.grounded, line.far, line.rare, line.artifacts];
            let mut cells = vec![line.method.to_owned()];
            cells.extend(shares.map(share));
            cells.push(share(line.user_words));
            cells
        });
    table(
        &heads(&["method", "FNR", "FNR-g", "far", "rare", "AR", "UR"]),
        rows,
    )
}

fn chats(report: &Report) -> String {
    let exam = report.questions.iter().find(|table| table.chats == CHATS);
    let budgets = exam.map(|exam| exam.budgets.clone()).unwrap_or_default();
    let mut names = heads(&["method", "CR 4k"]);
    names.extend(
        budgets
            .iter()
            .map(|budget| format!("AFR {}k", budget / 1_000)),
    );
    names.push("score".to_owned());
    let rows = Method::ALL.iter().map(|method| {
        let name = method.as_str();
        let mut cells = vec![name.to_owned()];
        cells.push(planted(report, name).map_or_else(dash, share));
        let kept = exam.and_then(|exam| exam.kept.iter().find(|line| line.method == name));
        cells.extend(
            kept.into_iter()
                .flat_map(|kept| &kept.by_budget)
                .map(|k| share(*k)),
        );
        let score = report.scores.iter().find(|score| score.method == name);
        cells.push(score.map_or_else(dash, |score| share(score.score)));
        cells
    });
    table(&names, rows)
}
