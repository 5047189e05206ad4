//! `epitome verify`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use epitome::Message;
use epitome::verify::{
    AnchorCounts, AnchorKind, Checked, Verdict, Verification, VerifyLimits, covered,
};
use serde_json::{Value, json};

use crate::Ending;
use crate::args::VerifyArgs;
use crate::source::{Kind, Source, messages};
use crate::terminal::{Page, Patience, Table, left, right};
use crate::writing::{Existing, Target};

pub(crate) fn run(args: &VerifyArgs) -> Result<Ending> {
    let target = args.out.as_deref().map(|out| {
        let inputs = [&args.source, &args.summary].into_iter();
        let inputs = inputs.chain(&args.previous).map(PathBuf::as_path);
        Target::checked(out, inputs, Existing::of_flag(args.force))
    });
    let target = target.transpose()?;
    let name = args.source.display().to_string();
    let _waiting = Patience::unless(args.json, format!("checking against {name}"));
    let said = read(args).with_context(|| name.clone())?;
    let summary = text(&args.summary)?;
    let previous = args.previous.as_deref().map(text).transpose()?;

    // A summary of our own says what it stands for; the rest stays in view beside it.
    let covered = covered(&summary).unwrap_or(0..said.len());
    let all = said.iter().enumerate();
    let (source, beside): (Vec<_>, Vec<_>) = all.partition(|(at, _)| covered.contains(at));
    let limits = VerifyLimits {
        meter: args.count.meter(),
        most_tokens: args.budget,
        ..VerifyLimits::default()
    };
    let checked = Verification::of(&source, previous.as_deref())
        .with_trimmed(&beside)
        .with_view(&beside)
        .with_limits(limits)
        .check(&summary);

    let is_rejected = matches!(checked.verdict, Verdict::Rejected(_));
    if let Some(target) = target.as_ref().filter(|_| !is_rejected) {
        target.write(checked.text.as_bytes())?;
    }
    match args.json {
        true => Target::report(target.as_ref(), &format!("{}\n", as_json(&checked)))?,
        false => Target::report_page(target.as_ref(), &page(&checked))?,
    }
    Ok(if checked.report.alarms.is_empty() {
        Ending::Done
    } else {
        Ending::No
    })
}

/// All that is said in the source, whatever it is.
fn read(args: &VerifyArgs) -> Result<Vec<Message>> {
    let mut source = Source::open(&args.source)?;
    match source.kind(args.format) {
        Kind::Session(format) => {
            let conversations = source.transcript(format)?.conversations.into_iter();
            Ok(conversations.flat_map(|found| found.messages).collect())
        }
        Kind::Body(wire) => messages(&source.detected(wire)?.body),
    }
}

/// A file of plain text.
fn text(path: &Path) -> Result<String> {
    let name = || path.display().to_string();
    if path.is_dir() {
        bail!("{}: is a folder; name a file", name());
    }
    let bytes = std::fs::read(path).with_context(name)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{}: is no text: byte {at} is not UTF-8", name())
    })
}

fn as_json(checked: &Checked) -> Value {
    let report = &checked.report;
    let kinds: serde_json::Map<String, Value> = AnchorKind::ALL
        .iter()
        .map(|kind| (kind.as_str().to_owned(), counts(&report.of(*kind))))
        .collect();
    let alarms: Vec<Value> = report
        .alarms
        .iter()
        .map(|alarm| json!({"kind": alarm.kind.as_str(), "text": alarm.text, "line": alarm.line}))
        .collect();
    json!({
        "verdict": checked.verdict.as_str(),
        "reason": reason(checked.verdict),
        "report": counts(&report.total()),
        "kinds": kinds,
        "checked": report.checked,
        "alarms": alarms,
        "struck": report.struck,
        "appended": report.appended,
        "summary": checked.text,
    })
}

fn counts(counts: &AnchorCounts) -> Value {
    json!({
        "anchors": counts.anchors,
        "retained": counts.retained,
        "recoverable": counts.recoverable,
        "missing": counts.missing,
        "invented": counts.invented,
    })
}

const fn reason(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Rejected(reason) => Some(reason.as_str()),
        Verdict::Accepted | Verdict::Repaired => None,
    }
}

fn page(checked: &Checked) -> Page {
    let report = &checked.report;
    let mut page = Page::default();
    let mut verdict = checked.verdict.as_str().to_owned();
    if let Some(reason) = reason(checked.verdict) {
        verdict.push_str(&format!(" ({reason})"));
    }
    page.heading(format!(
        "{verdict}: {} anchors of the summary checked, {} struck, {} put in",
        report.checked,
        report.struck.len(),
        report.appended.len()
    ));
    page.gap();
    let mut table = Table::new([
        left("kind"),
        right("in source"),
        right("retained"),
        right("recoverable"),
        right("missing"),
        right("invented"),
    ]);
    let rows = AnchorKind::ALL.map(|kind| (kind.as_str(), report.of(kind)));
    for (name, row) in rows.into_iter().chain([("all", report.total())]) {
        let counts = [
            row.anchors,
            row.retained,
            row.recoverable,
            row.missing,
            row.invented,
        ];
        table.row(
            [name.to_owned()]
                .into_iter()
                .chain(counts.map(|count| count.to_string())),
        );
    }
    page.table(table);
    if !report.alarms.is_empty() {
        page.gap();
    }
    for alarm in &report.alarms {
        let place = match alarm.line {
            0 => "-".to_owned(),
            line => format!("line {line}"),
        };
        let said: String = alarm.text.chars().take(160).collect();
        page.line(format!(
            "{place:<9} {:<20} {}",
            alarm.kind.as_str(),
            said.replace('\n', " ")
        ));
    }
    page
}
