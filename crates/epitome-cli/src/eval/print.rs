//! The tables, for people and for QUALITY.md alike.

use epitome_eval::{ExamTable, Gates, Hits, PlantedTable, Search, Table};

use super::Report;

pub(super) fn text(report: &Report) -> String {
    let needs = report.needs.iter().map(needs);
    let planted = report.planted.iter().map(planted);
    let questions = report.questions.iter().map(questions);
    let gates = report.gates.iter().map(gates);
    let sections: Vec<String> = needs
        .chain(planted)
        .chain(questions)
        .chain(gates)
        .chain(scores(report))
        .collect();
    sections.join("\n")
}

/// A table of cells in Markdown.
pub(super) fn table(heads: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(heads);
    out.push_str(&format!("|{}\n", "---|".repeat(heads.len())));
    out.extend(rows.map(|row| line(&row)));
    out
}

pub(super) fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn share(value: f64) -> String {
    format!("{value:.3}")
}

fn needs(needs: &Table) -> String {
    let title = match needs.budget {
        Some(budget) => format!("Budget {budget}, sessions cut at 40, 60 and 80 %"),
        None => "At real compactions, each method gets the size of the written summary".to_owned(),
    };
    let rows = needs.lines.iter().map(|line| {
        let (low, high) = line.interval;
        vec![
            line.method.to_owned(),
            share(line.fnr),
            format!("{low:.2}–{high:.2}"),
            share(line.grounded),
            share(line.far),
            share(line.rare),
            share(line.artifacts),
            share(line.user_words),
            line.searched.map_or_else(|| "–".to_owned(), share),
            format!("{:.0}", line.tokens.trunc()),
        ]
    });
    let heads = heads(&[
        "method",
        "FNR",
        "95 %",
        "FNR-g",
        "far",
        "rare",
        "AR",
        "UR",
        "+search@5",
        "tokens",
    ]);
    format!(
        "### {title}\n\n{} cuts of {} sessions, {} needs ({} far), {} changed files, median prefix {} tokens.\n\n{}",
        needs.cuts,
        needs.sessions,
        needs.needs,
        needs.far,
        needs.artifacts,
        needs.median_prefix_tokens,
        table(&heads, rows)
    )
}

fn planted(planted: &PlantedTable) -> String {
    let rows = planted.lines.iter().map(|line| {
        let cells = [line.method.to_owned()].into_iter();
        cells
            .chain(line.by_depth.map(share))
            .chain([share(line.all)])
            .collect()
    });
    let heads = heads(&[
        "method",
        "0–20 %",
        "20–40 %",
        "40–60 %",
        "60–80 %",
        "80–100 %",
        "all",
    ]);
    format!(
        "### Planted constraints kept word for word, budget {}\n\n{} constraints in {} sessions, by depth.\n\n{}",
        planted.budget,
        planted.constraints,
        planted.sessions,
        table(&heads, rows)
    )
}

fn questions(exam: &ExamTable) -> String {
    let rows = exam.kept.iter().map(|line| {
        let cells = [line.method.to_owned()].into_iter();
        let kept = line.by_budget.iter().map(|kept| share(*kept));
        cells.chain(kept).collect()
    });
    let mut kept_heads = heads(&["method"]);
    kept_heads.extend(exam.budgets.iter().map(|budget| format!("AFR {budget}")));
    let kept = table(&kept_heads, rows);
    let rows = exam.searches.iter().map(|line| {
        let questions = if line.lookup_only { "lookup" } else { "all" };
        let mut cells = vec![search(line.search).to_owned(), questions.to_owned()];
        cells.extend(hit_cells(&line.hits));
        cells.push(line.questions.to_string());
        cells
    });
    let found = table(
        &heads(&[
            "search",
            "questions",
            "any@1",
            "any@5",
            "any@10",
            "any@20",
            "rec@1",
            "rec@5",
            "rec@10",
            "rec@20",
            "MRR",
            "n",
        ]),
        rows,
    );
    let rows = exam.abilities.iter().map(|(ability, line)| {
        let mut cells = vec![ability.clone()];
        cells.extend(hit_cells(&line.hits));
        cells.push(line.questions.to_string());
        cells
    });
    let abilities = table(
        &heads(&[
            "ability", "any@1", "any@5", "any@10", "any@20", "rec@1", "rec@5", "rec@10", "rec@20",
            "MRR", "n",
        ]),
        rows,
    );
    format!(
        "### Chats {}: answer facts kept ({} lookup questions)\n\n{kept}\n### Chats {}: evidence found by a recall search\n\n{found}\n{abilities}",
        exam.chats, exam.answers, exam.chats
    )
}

const fn search(search: Search) -> &'static str {
    match search {
        Search::Messages => "keywords, messages",
        Search::Passages => "keywords, passages",
        Search::MostRecent => "most recent",
        Search::Random => "random",
        Search::Neighbours => "keywords, with neighbours",
    }
}

fn hit_cells(hits: &Hits) -> Vec<String> {
    let cells = hits.any.into_iter().chain(hits.recall);
    cells.chain([hits.reciprocal_rank]).map(share).collect()
}

pub(super) fn gates(gates: &Gates) -> String {
    let refused: Vec<String> = gates
        .refused
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let rows = [
        (
            "breaks a rule of providers that its input did not break",
            gates.newly_invalid,
        ),
        ("above its budget", gates.over_budget),
        ("different the second time", gates.not_repeatable),
        ("changed by a second compaction", gates.not_idempotent),
        (
            "names something in its summary that its input does not",
            gates.inventing,
        ),
    ];
    let rows = rows
        .into_iter()
        .map(|(gate, count)| vec![gate.to_owned(), count.to_string()]);
    format!(
        "### Gates of the built-in summariser\n\n{} compactions tried, {} outputs, {} of them valid ({} inputs were not). Refused: {}.\n\n{}",
        gates.tried,
        gates.outputs,
        gates.valid,
        gates.damaged_inputs,
        if refused.is_empty() {
            "none".to_owned()
        } else {
            refused.join(", ")
        },
        table(&heads(&["output that is", "how many"]), rows)
    )
}

fn scores(report: &Report) -> Option<String> {
    if report.scores.is_empty() {
        return None;
    }
    let rows = report
        .scores
        .iter()
        .map(|score| vec![score.method.to_owned(), share(score.score)]);
    let title = "### Score: 0.35 FNR-g + 0.15 far + 0.10 rare + 0.15 AR (8000), 0.10 planted (4000), 0.15 AFR (8000)";
    Some(format!(
        "{title}\n\n{}",
        table(&heads(&["method", "score"]), rows)
    ))
}
