//! `compare` for people.

use std::path::Path;
use std::time::Duration;

use epitome_cost::SideTotals;

use super::Compared;
use crate::play::dollars;
use crate::terminal::{Page, Table, counted, grouped, left, right};

pub(super) fn page(path: &Path, compared: &Compared) -> Page {
    let mut page = Page::default();
    let first = compared.designs.first().map(|design| design.totals);
    let totals = first.unwrap_or_default();
    let files = match compared.files {
        1 => String::new(),
        files => format!("{}, ", counted(files, "file")),
    };
    let windows: Vec<String> = compared.windows.iter().copied().map(grouped).collect();
    page.heading(format!(
        "{}: {files}{}, {}",
        path.display(),
        counted(compared.conversations, "conversation"),
        counted(totals.requests, "request"),
    ));
    page.line(format!("window {}", windows.join(" or ")));
    page.gap();
    let mut table = Table::new([
        left("preset"),
        right("comp."),
        right("tokens sent"),
        right("cached").leaves(2),
        right("cost"),
        right("kept"),
        right("too long").leaves(1),
        right("time").leaves(0),
    ]);
    for design in &compared.designs {
        let totals = &design.totals;
        let kept = totals.kept_share();
        let kept = kept.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        let (name, sent) = (&design.name, &totals.sent);
        table.row(cells(
            name,
            totals.compactions,
            sent,
            &kept,
            &taken(design.taken),
        ));
    }
    table.row(cells("none", 0, &totals.bare, "–", "–"));
    page.table(table);
    page.gap();
    for remark in REMARKS {
        page.faint(remark);
    }
    for told in &compared.prices {
        page.faint(told);
    }
    let has_none = |design: &super::Design| design.totals.compactions == 0;
    if compared.designs.iter().all(has_none) {
        page.line("nothing had to be compacted; --window sets a smaller window");
    }
    page
}

/// What the columns mean.
const REMARKS: [&str; 4] = [
    "none: the recording as it is; what is too long for the window would be refused",
    "kept: of all paths, names, numbers and addresses said until a compaction, what is in view right after it",
    "time: of this computer, for all requests",
    "own spend: $0, the built-in summariser asks no model; costs are net of it",
];

fn cells(name: &str, compactions: u64, side: &SideTotals, kept: &str, taken: &str) -> [String; 8] {
    let input = side.spent.input_tokens();
    let cached = side.spent.read_tokens as f64 * 100.0 / input.max(1) as f64;
    [
        name.to_owned(),
        grouped(compactions),
        grouped(input),
        format!("{cached:.0} %"),
        dollars(side.nanodollars),
        kept.to_owned(),
        grouped(side.too_long),
        taken.to_owned(),
    ]
}

fn taken(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms < 10_000 => format!("{ms} ms"),
        ms => format!("{} s", ms / 1_000),
    }
}
