//! What must be in a summary and is not: headings, instructions, to-dos.

use super::Verification;
use super::gist::Gist;
use super::item::{Line, LineKind};
use super::repair::Repair;
use super::report::{Alarm, AlarmKind, VerifyReport};
use crate::pin::PinKind;

impl Verification {
    /// Puts in the headings that are missing, with what the log says.
    pub(super) fn restore_headings(
        &self,
        lines: &[Line<'_>],
        report: &mut VerifyReport,
        repair: &mut Repair<'_>,
    ) {
        let bare = |text: &str| {
            text.trim_matches(|c: char| !c.is_alphabetic())
                .to_lowercase()
        };
        let there: Vec<String> = lines
            .iter()
            .filter(|line| line.kind == LineKind::Heading)
            .map(|line| bare(line.text))
            .collect();
        for heading in &self.headings {
            if !there.contains(&bare(&heading.name)) {
                report
                    .alarms
                    .push(missing(AlarmKind::HeadingMissing, &heading.name));
                repair.heading(&heading.name, &heading.fill);
            }
        }
    }

    /// Puts in the pins that neither `kept` nor the rest of the view has.
    pub(super) fn restore_pins(
        &self,
        kept: &str,
        report: &mut VerifyReport,
        repair: &mut Repair<'_>,
    ) {
        for pin in self.rules.missing(kept, &self.view_text) {
            let kind = match pin.kind {
                PinKind::Todo => AlarmKind::TodoDropped,
                PinKind::Passage | PinKind::Instruction | PinKind::Host => AlarmKind::PinMissing,
            };
            report.alarms.push(missing(kind, &pin.text));
            repair.pin(pin);
        }
    }

    /// Puts in the open to-dos of tools of which no line of `kept` speaks.
    pub(super) fn restore_todos(
        &self,
        kept: &str,
        report: &mut VerifyReport,
        repair: &mut Repair<'_>,
    ) {
        if self.todos.is_empty() {
            return;
        }
        let lines: Vec<Gist> = kept.lines().map(Gist::of).collect();
        for todo in &self.todos {
            if !Gist::of(todo).is_covered(&lines) {
                report.alarms.push(missing(AlarmKind::TodoDropped, todo));
                repair.todo(todo);
            }
        }
    }
}

pub(super) fn missing(kind: AlarmKind, text: &str) -> Alarm {
    Alarm {
        kind,
        text: text.to_owned(),
        line: 0,
    }
}
