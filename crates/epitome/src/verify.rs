//! Whether a summary is true, and what is done when it is not.
//!
//! A summary is checked both ways: what mattered must be there, and what is there must have been in the source. The
//! check needs no model and takes time in proportion to the source.
//!
//! - what can be looked up: `mark` over `word`; where: `ground`; whether it is there: `support`
//! - what matters in the source: `weigh`; what the user wants kept: `rule`; what is still to be done: `todo`
//! - a summary as lines and sentences: `item`; who is said to have spoken: `voice`; whether he did: `claim`
//! - what was found: `report`; what is done about it: `repair`

mod claim;
mod ground;
mod item;
mod mark;
mod repair;
mod report;
mod rule;
mod support;
mod todo;
mod voice;
mod weigh;
mod word;

pub use mark::AnchorKind;
pub use report::{Alarm, AlarmKind, AnchorCounts, Verdict, VerifyReport};

use crate::message::Message;
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::reason::Reason;
use crate::summary::Earlier;
use ground::Ground;
use item::{Line, LineKind};
use mark::{is_file, marks};
use repair::Repair;
use rule::{Gist, Rules};
use support::{Support, support};
use voice::{Claim, Voice};
use weigh::Anchor;
use word::{Key, words};

/// How far verification goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyLimits {
    /// How tokens are counted.
    pub meter: Meter,
    /// The most that a summary may take, with what is put in.
    pub most_tokens: Option<u64>,
    /// The most that the names of what a summary left out may take. Instructions and to-dos come on top.
    pub ledger_tokens: u64,
    /// A summary of which more than this share of the anchors is invented is not worth repairing.
    pub invented_percent: usize,
}

impl Default for VerifyLimits {
    fn default() -> Self {
        Self {
            meter: Meter::Estimate,
            most_tokens: None,
            ledger_tokens: 400,
            invented_percent: 25,
        }
    }
}

/// Fewer inventions than this are always struck.
const FEW: usize = 4;

/// A heading that a summary must have, and what stands under it when it is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredHeading {
    /// The heading, without signs: `Completed Work`.
    pub name: String,
    /// What the log says.
    pub fill: String,
}

/// A source, ready to check any number of summaries of it.
///
/// ```
/// use epitome::verify::{Verdict, Verification};
/// use epitome::{Message, Role};
///
/// let messages = [
///     Message::text(Role::User, "Fix the login in src/auth.rs. Never push to main."),
///     Message::text(Role::Assistant, "Fixed: the session in src/auth.rs lived 30 minutes too long."),
/// ];
/// let source: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
/// let verification = Verification::of(&source, None);
///
/// let summary = "The session in src/auth.rs lived 30 minutes too long.\n\
///     The login in src/auth.rs is fixed.\n\
///     Then src/cookies.rs was rewritten.";
/// let checked = verification.check(summary);
/// assert_eq!(checked.verdict, Verdict::Repaired);
/// assert!(!checked.text.contains("src/cookies.rs"));
/// assert!(checked.text.contains("Never push to main."));
/// ```
#[derive(Clone, Debug)]
pub struct Verification {
    ground: Ground,
    anchors: Vec<Anchor>,
    rules: Rules,
    todos: Vec<String>,
    headings: Vec<RequiredHeading>,
    limits: VerifyLimits,
}

/// A summary after verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The summary, repaired where it had to be. What was handed in, when it is rejected.
    pub text: String,
    /// What was found and done.
    pub report: VerifyReport,
    /// What comes of it.
    pub verdict: Verdict,
}

impl Verification {
    /// Reads a source: the entries that a summary stands for, and the summary of the round before, if it is not among
    /// them. The pins are those that the source itself gives.
    #[must_use]
    pub fn of(source: &[(usize, &Message)], previous: Option<&str>) -> Self {
        let carried = previous
            .and_then(Earlier::read)
            .into_iter()
            .flat_map(|earlier| earlier.pins)
            .map(|text| Pin::carried(0, text))
            .collect();
        Self {
            ground: Ground::of(source, previous),
            anchors: weigh::anchors(source),
            rules: Rules::of(pin::carry(carried, source.iter().copied())),
            todos: todo::open(source.iter().map(|(_, message)| *message)),
            headings: Vec::new(),
            limits: VerifyLimits::default(),
        }
    }

    /// With these pins instead of those that the source gives.
    #[must_use]
    pub fn with_pins(mut self, pins: Vec<Pin>) -> Self {
        self.rules = Rules::of(pins);
        self
    }

    /// With headings that a summary must have.
    #[must_use]
    pub fn with_headings(mut self, headings: Vec<RequiredHeading>) -> Self {
        self.headings = headings;
        self
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: VerifyLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Checks a summary and repairs it. The same text always comes out the same.
    #[must_use]
    pub fn check(&self, text: &str) -> Checked {
        if !rule::says_something(text) {
            return rejected(text, AlarmKind::Empty, Reason::SummaryEmpty);
        }
        let lines = item::lines(text);
        let mut report = VerifyReport::default();
        let mut repair = Repair::new(&lines);
        self.judge_lines(&lines, &mut report, &mut repair);

        let invented = report.total().invented;
        let share = invented * 100 > report.checked * self.limits.invented_percent;
        let is_worthless = invented >= FEW && share;

        let kept = repair.kept();
        self.restore_headings(&lines, &mut report, &mut repair);
        self.restore_pins(&kept, &mut report, &mut repair);
        self.restore_todos(&kept, &mut report, &mut repair);
        let room = self.limits.ledger_tokens;
        repair.ledger(
            &self.anchors,
            &Ground::of_text(&kept),
            self.limits.meter,
            room,
        );

        let repaired = repair.finish(text);
        self.count_anchors(&repaired.text, &mut report);
        report.struck = repaired.struck;
        report.appended = repaired.appended;
        let tokens = self.limits.meter.text(&repaired.text);
        let is_long = self.limits.most_tokens.is_some_and(|most| tokens > most);
        if is_long {
            report.alarms.push(Alarm {
                kind: AlarmKind::TooLong,
                text: format!("{tokens} tokens"),
                line: 0,
            });
        }
        let nothing_left = !rule::says_something(&kept);
        let verdict = if is_worthless || is_long || nothing_left {
            Verdict::Rejected(Reason::SummaryRejected)
        } else if repaired.text == text {
            Verdict::Accepted
        } else {
            Verdict::Repaired
        };
        let text = match verdict {
            Verdict::Rejected(_) => text.to_owned(),
            Verdict::Accepted | Verdict::Repaired => repaired.text,
        };
        Checked {
            text,
            report,
            verdict,
        }
    }

    fn judge_lines<'a>(
        &self,
        lines: &[Line<'a>],
        report: &mut VerifyReport,
        repair: &mut Repair<'a>,
    ) {
        let mut scope: Vec<Key> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            if line.kind == LineKind::Frame {
                continue;
            }
            update_scope(&mut scope, line.text);
            let mut start = line.lead.len();
            for (place, sentence) in line.sentences.iter().enumerate() {
                let end = start + sentence.len();
                let mut alarms = self.invented(line, start..end, &scope, report);
                if line.kind == LineKind::Text {
                    alarms.extend(self.untrue(line, sentence));
                }
                match line.kind {
                    // A heading without its name still parts what stands above from what stands below.
                    LineKind::Heading => alarms
                        .iter()
                        .for_each(|alarm| repair.blank(at, &alarm.text)),
                    _ if alarms.is_empty() => {}
                    _ => repair.strike(at, place),
                }
                report.alarms.extend(alarms);
                start = end;
            }
            self.judge_whole_line(at, line, report, repair);
        }
    }

    /// A rule may be several sentences, and be turned round as a whole.
    fn judge_whole_line<'a>(
        &self,
        at: usize,
        line: &Line<'a>,
        report: &mut VerifyReport,
        repair: &mut Repair<'a>,
    ) {
        if line.kind != LineKind::Text || line.sentences.len() < 2 {
            return;
        }
        let whole = line.text.get(line.lead.len()..).unwrap_or_default();
        let found = self.untrue(line, whole);
        let turned = found.filter(|alarm| alarm.kind == AlarmKind::PinContradicted);
        if let Some(alarm) = turned.filter(|_| !repair.has_struck(at)) {
            report.alarms.push(alarm);
            (0..line.sentences.len()).for_each(|place| repair.strike(at, place));
        }
    }

    /// The anchors of a sentence that the source does not support.
    fn invented(
        &self,
        line: &Line<'_>,
        range: std::ops::Range<usize>,
        scope: &[Key],
        report: &mut VerifyReport,
    ) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        marks(line.text, |mark| {
            if !range.contains(&mark.start) {
                return;
            }
            let found = support(&self.ground, &mark, line.text, scope);
            report.checked += usize::from(found != Support::Open);
            if found == Support::Lacking {
                count(report, mark.kind).invented += 1;
                alarms.push(Alarm {
                    kind: AlarmKind::Invented(mark.kind),
                    text: mark.text.to_owned(),
                    line: line.number,
                });
            }
        });
        alarms
    }

    /// What a sentence says that was not so, or not said by him.
    fn untrue(&self, line: &Line<'_>, sentence: &str) -> Option<Alarm> {
        let listed = Claim {
            voice: line.voice,
            content: voice::said(line.text, sentence),
        };
        let told = voice::claim(sentence);
        let claim = match line.voice {
            Voice::Narrator => told,
            Voice::User | Voice::UserAgrees => Some(listed),
            // What is quoted may itself tell of the user.
            Voice::Others if claim::is_verbatim(&self.ground, sentence) => Some(listed),
            Voice::Others | Voice::Tasks => told.or(Some(listed)),
        };
        let kind = claim.and_then(|claim| claim::judge(&self.ground, claim));
        let is_binding = pin::is_standing(sentence)
            || claim.is_some_and(|claim| matches!(claim.voice, Voice::User | Voice::UserAgrees));
        // Only where instructions are listed, another wording is another instruction.
        let is_new = |word: &str| line.voice == Voice::User && !self.ground.has_typed(word);
        let turned = |content: &str| self.rules.contradicted(content, is_new).is_some();
        let is_turned = is_binding
            && !self.ground.has_sentence(sentence)
            && turned(claim.map_or(sentence, |claim| claim.content));
        let kind = if is_turned {
            Some(AlarmKind::PinContradicted)
        } else {
            kind
        };
        kind.map(|kind| Alarm {
            kind,
            text: sentence.trim().to_owned(),
            line: line.number,
        })
    }

    fn restore_headings(
        &self,
        lines: &[Line<'_>],
        report: &mut VerifyReport,
        repair: &mut Repair<'_>,
    ) {
        let bare = |text: &str| {
            let signs = |c: char| !c.is_alphanumeric() && c != ')';
            text.trim_matches(|c: char| signs(c) || c.is_ascii_digit())
                .to_lowercase()
        };
        for heading in &self.headings {
            let is_there = lines
                .iter()
                .filter(|line| line.kind == LineKind::Heading)
                .any(|line| bare(line.text) == bare(&heading.name));
            if !is_there {
                report
                    .alarms
                    .push(missing(AlarmKind::HeadingMissing, &heading.name));
                repair.heading(&heading.name, &heading.fill);
            }
        }
    }

    fn restore_pins(&self, kept: &str, report: &mut VerifyReport, repair: &mut Repair<'_>) {
        for pin in self.rules.missing(kept) {
            let kind = match pin.kind {
                pin::PinKind::Todo => AlarmKind::TodoDropped,
                _ => AlarmKind::PinMissing,
            };
            report.alarms.push(missing(kind, &pin.text));
            repair.pin(pin);
        }
    }

    fn restore_todos(&self, kept: &str, report: &mut VerifyReport, repair: &mut Repair<'_>) {
        let lines: Vec<Gist> = kept.lines().map(Gist::of).collect();
        for todo in self
            .todos
            .iter()
            .filter(|todo| !rule::is_covered(todo, &lines))
        {
            report.alarms.push(missing(AlarmKind::TodoDropped, todo));
            repair.todo(todo);
        }
    }

    fn count_anchors(&self, text: &str, report: &mut VerifyReport) {
        let shown = Ground::of_text(text);
        for anchor in &self.anchors {
            let is_retained = anchor.is_in(&shown);
            let counts = count(report, anchor.kind);
            counts.anchors += 1;
            if is_retained {
                counts.retained += 1;
            } else if anchor.is_heavy() {
                counts.missing += 1;
            } else {
                counts.recoverable += 1;
            }
        }
    }
}

/// The files that a line names are what the numbers below it are about.
fn update_scope(scope: &mut Vec<Key>, line: &str) {
    let mut named = Vec::new();
    marks(line, |mark| {
        if mark.kind == AnchorKind::Path && is_file(mark.text) {
            let name = mark.text.rsplit('/').next().unwrap_or_default();
            named.extend(words(name).next().map(|word| word.key));
        }
    });
    if !named.is_empty() {
        *scope = named;
    }
}

fn count(report: &mut VerifyReport, kind: AnchorKind) -> &mut AnchorCounts {
    let [path, identifier, number, url] = &mut report.kinds;
    match kind {
        AnchorKind::Path => path,
        AnchorKind::Identifier => identifier,
        AnchorKind::Number => number,
        AnchorKind::Url => url,
    }
}

fn missing(kind: AlarmKind, text: &str) -> Alarm {
    Alarm {
        kind,
        text: text.to_owned(),
        line: 0,
    }
}

fn rejected(text: &str, kind: AlarmKind, reason: Reason) -> Checked {
    Checked {
        text: text.to_owned(),
        report: VerifyReport {
            alarms: vec![missing(kind, "")],
            ..VerifyReport::default()
        },
        verdict: Verdict::Rejected(reason),
    }
}
