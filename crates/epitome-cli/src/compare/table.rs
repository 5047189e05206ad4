//! `compare` for people: a table that fits eighty columns.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use epitome_cost::SideTotals;

use super::Compared;
use crate::inspect::{counted, grouped};
use crate::play::dollars;

/// Writing to a string cannot fail, so what `write!` returns is dropped.
pub(super) fn text(path: &Path, compared: &Compared) -> String {
    let mut out = String::new();
    let first = compared.designs.first().map(|design| design.totals);
    let totals = first.unwrap_or_default();
    let files = match compared.files {
        1 => String::new(),
        files => format!("{}, ", counted(files, "file")),
    };
    let windows: Vec<String> = compared.windows.iter().copied().map(grouped).collect();
    let _ = writeln!(
        out,
        "{}: {files}{}, {}\nwindow {}\n",
        path.display(),
        counted(compared.conversations, "conversation"),
        counted(totals.requests, "request"),
        windows.join(" or "),
    );
    let _ = writeln!(
        out,
        "{:<9} {:>6} {:>14} {:>6} {:>10} {:>6} {:>8} {:>9}",
        "preset", "comp.", "tokens sent", "cached", "cost", "kept", "too long", "time"
    );
    for design in &compared.designs {
        let totals = &design.totals;
        let kept = totals.kept_share();
        let kept = kept.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        line(
            &design.name,
            totals.compactions,
            &totals.sent,
            &kept,
            &taken(design.taken),
            &mut out,
        );
    }
    line("none", 0, &totals.bare, "–", "–", &mut out);
    let _ = writeln!(
        out,
        "\n\
         none: the recording as it is; what is too long for the window would be refused\n\
         kept: of all paths, names, numbers and addresses said until a compaction, what\n\
         is in view right after it\n\
         time: of this computer, for all requests\n\
         own spend: $0, the built-in summariser asks no model; costs are net of it"
    );
    for told in &compared.prices {
        let _ = writeln!(out, "{told}");
    }
    if compared
        .designs
        .iter()
        .all(|design| design.totals.compactions == 0)
    {
        let _ = writeln!(
            out,
            "nothing had to be compacted; --window sets a smaller window"
        );
    }
    out
}

fn line(
    name: &str,
    compactions: u64,
    side: &SideTotals,
    kept: &str,
    taken: &str,
    out: &mut String,
) {
    let input = side.spent.input_tokens();
    let cached = side.spent.read_tokens as f64 * 100.0 / input.max(1) as f64;
    let _ = writeln!(
        out,
        "{name:<9} {:>6} {:>14} {cached:>4.0} % {:>10} {kept:>6} {:>8} {taken:>9}",
        grouped(compactions),
        grouped(input),
        dollars(side.nanodollars),
        grouped(side.too_long),
    );
}

fn taken(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms < 10_000 => format!("{ms} ms"),
        ms => format!("{} s", ms / 1_000),
    }
}
