//! Sentence by sentence: what is not in the source, and what was not said, or not by him.

use super::Verification;
use super::claim::{self, Doubt};
use super::item::{Line, LineKind};
use super::mark::{AnchorKind, Mark, is_file, marks};
use super::quantity;
use super::repair::Repair;
use super::report::{Alarm, AlarmKind, VerifyReport};
use super::rule::{self, Contradiction, Told};
use super::stances::Agreement;
use super::support::{Support, Surroundings, support};
use super::voice::{self, Claim, Voice};
use super::word::{Key, Word, words};
use crate::pin;

/// Shorter sentences say that there is nothing, or lead over to the next.
const FEWEST_WORDS: usize = 3;

/// A summary under judgement.
pub(super) struct Judge<'v, 'r, 'a> {
    pub(super) verification: &'v Verification,
    pub(super) report: &'r mut VerifyReport,
    pub(super) repair: &'r mut Repair<'a>,
    /// All of its text.
    pub(super) text: &'a str,
    /// Words of the files that the last line with files was about.
    pub(super) scope: Vec<Key>,
}

impl<'a> Judge<'_, '_, 'a> {
    /// Judges the sentences of a line.
    pub(super) fn line(&mut self, at: usize, line: &Line<'a>) {
        if line.kind == LineKind::Frame {
            return;
        }
        let invented = self.invented(line);
        let mut invented = invented.into_iter().peekable();
        let mut end = line.lead.len();
        let mut is_struck = false;
        for (place, sentence) in line.sentences.iter().enumerate() {
            end += sentence.len();
            let mut alarms = Vec::new();
            while let Some((_, alarm)) = invented.next_if(|(start, _)| *start < end) {
                alarms.push(alarm);
            }
            if line.kind == LineKind::Text {
                let start = end - sentence.len();
                let behind = line.text.get(start..).unwrap_or(sentence);
                if let Some((alarm, bytes)) = self.untrue(line, sentence, behind) {
                    alarms.push(alarm);
                    self.strike_with(at, place, line, bytes);
                }
            }
            if alarms.is_empty() && line.is_rule {
                is_struck |= self.in_his_words(at, place, line, sentence);
            }
            match line.kind {
                // A heading without its name still parts what stands above from what stands below.
                LineKind::Heading => {
                    for alarm in &alarms {
                        self.repair.blank(at, &alarm.text);
                    }
                }
                _ if alarms.is_empty() => {}
                _ => {
                    self.repair.strike(at, place);
                    is_struck = true;
                }
            }
            self.report.alarms.extend(alarms);
        }
        if !is_struck {
            self.whole_line(at, line);
        }
    }

    /// Where instructions of the user are listed only his own words stand: what tells one of them in other words is
    /// exchanged for them, and what cannot be found is told as what it is. Whoever wants to know on which side a
    /// sentence stands must understand it; whether it is his takes no understanding.
    fn in_his_words(
        &mut self,
        at: usize,
        place: usize,
        line: &Line<'a>,
        sentence: &'a str,
    ) -> bool {
        let Verification { ground, rules, .. } = self.verification;
        let listed = Claim {
            voice: Voice::User,
            content: voice::said(line.text, sentence),
        };
        let told = claim::told(listed, sentence);
        let is_short = words(sentence).take(FEWEST_WORDS).count() < FEWEST_WORDS;
        if self.is_his_own(line, sentence) || claim::is_quoted(ground, told) || self.is_pinned(line)
        {
            return false;
        }
        let alarm = Alarm {
            kind: AlarmKind::PinReworded,
            text: sentence.trim().to_owned(),
            line: line.number,
        };
        match ground.his_words(told).filter(|words| !rules.is_void(words)) {
            Some(words) => {
                let words = rules.pinned_in(words).unwrap_or(words);
                self.repair.exchange(at, place, words);
            }
            None if is_short => return false,
            None => self.repair.set_aside(at, place, sentence),
        }
        self.report.alarms.push(alarm);
        true
    }

    /// A rule may be several sentences, and be turned round as a whole.
    fn whole_line(&mut self, at: usize, line: &Line<'a>) {
        let is_his = |sentence: &&str| self.is_his_own(line, sentence);
        if line.kind != LineKind::Text
            || line.sentences.len() < 2
            || line.sentences.iter().all(is_his)
        {
            return;
        }
        let whole = line.text.get(line.lead.len()..).unwrap_or_default();
        let found = self.untrue(line, whole, whole);
        if let Some((alarm, _)) =
            found.filter(|(alarm, _)| alarm.kind == AlarmKind::PinContradicted)
        {
            self.report.alarms.push(alarm);
            for place in 0..line.sentences.len() {
                self.repair.strike(at, place);
            }
        }
    }

    /// The anchors of a line that the source does not support, and where they stand.
    fn invented(&mut self, line: &Line<'a>) -> Vec<(usize, Alarm)> {
        let mut found: Vec<Mark<'_>> = Vec::new();
        marks(line.text, |mark| found.push(mark));
        self.update_scope(&found);
        let has_numbers = found.iter().any(|mark| mark.kind == AnchorKind::Number);
        let line_words: Vec<Word<'_>> = if has_numbers {
            words(line.text).collect()
        } else {
            Vec::new()
        };
        let place = Surroundings {
            line: line.text,
            words: &line_words,
            scope: &self.scope,
        };
        let mut alarms = Vec::new();
        for mark in &found {
            let mut supported = support(&self.verification.ground, mark, place);
            if supported == Support::Lacking && self.is_his_amount(line, mark) {
                supported = Support::Given;
            }
            self.report.checked += usize::from(supported != Support::Open);
            if supported == Support::Lacking {
                self.report.of_mut(mark.kind).invented += 1;
                let alarm = Alarm {
                    kind: AlarmKind::Invented(mark.kind),
                    text: mark.text.to_owned(),
                    line: line.number,
                };
                alarms.push((mark.start, alarm));
            }
        }
        alarms
    }

    /// Whether a number among what the user wants is one that he wrote in another way.
    fn is_his_amount(&self, line: &Line<'_>, mark: &Mark<'_>) -> bool {
        let is_asked = line.voice == Voice::User && mark.kind == AnchorKind::Number;
        let amounts = || self.verification.ground.typed_amounts();
        is_asked
            && quantity::quantities(line.text).iter().any(|quantity| {
                quantity.place.contains(&mark.start) && quantity.is_among(amounts())
            })
    }

    /// The files that a line names are what the numbers in it and below it are about.
    fn update_scope(&mut self, found: &[Mark<'_>]) {
        let named: Vec<Key> = found
            .iter()
            .filter(|mark| mark.kind == AnchorKind::Path && is_file(mark.text))
            .filter_map(|mark| mark.text.rsplit('/').next())
            .filter_map(|name| words(name).next())
            .map(|word| word.key)
            .collect();
        if !named.is_empty() {
            self.scope = named;
        }
    }

    /// Takes out the sentences that `bytes` from the beginning of the one at `place` reach into.
    fn strike_with(&mut self, at: usize, place: usize, line: &Line<'a>, bytes: usize) {
        let mut start = 0;
        for (place, sentence) in line.sentences.iter().enumerate().skip(place) {
            if start > 0 && start >= bytes {
                break;
            }
            self.repair.strike(at, place);
            start += sentence.len();
        }
    }

    /// Whether a sentence stands among what the user said, and he said just that.
    fn is_his_own(&self, line: &Line<'_>, sentence: &str) -> bool {
        matches!(line.voice, Voice::User | Voice::UserAgrees)
            && self.verification.ground.has_sentence(sentence)
    }

    /// Whether a line of his instructions is one, word for word: he may have cut it into other sentences, and a host may
    /// have given it.
    fn is_pinned(&self, line: &Line<'_>) -> bool {
        let whole = line.text.get(line.lead.len()..).unwrap_or_default();
        line.is_rule && self.verification.rules.is_pin(whole)
    }

    /// What a sentence says that was not so, or not said by him, and how far what it claims goes. `behind` is the
    /// line from the sentence on.
    fn untrue(&self, line: &Line<'_>, sentence: &str, behind: &str) -> Option<(Alarm, usize)> {
        let Verification { ground, rules, .. } = self.verification;
        if self.is_his_own(line, sentence) {
            let told = || rule::single_spaced(self.text);
            let is_past = line.voice == Voice::User && rules.is_superseded(sentence, &told);
            let alarm = || Alarm {
                kind: AlarmKind::PinContradicted,
                text: sentence.trim().to_owned(),
                line: line.number,
            };
            return is_past.then(|| (alarm(), 0));
        }
        if self.is_pinned(line) {
            return None;
        }
        let listed = Claim {
            voice: line.voice,
            content: voice::said(line.text, sentence),
        };
        let told = voice::claim(sentence);
        let claim = match line.voice {
            Voice::Narrator => told,
            // Even in a list of what the user said, a sentence may tell what somebody else said.
            Voice::User | Voice::UserAgrees => told
                .filter(|told| told.voice == Voice::Others)
                .or(Some(listed)),
            // What is quoted may itself tell of the user.
            Voice::Others if claim::is_verbatim(ground, sentence) => Some(listed),
            Voice::Others | Voice::Tasks => told.or(Some(listed)),
        };
        let is_binding = || {
            claim.is_some_and(|claim| matches!(claim.voice, Voice::User | Voice::UserAgrees))
                || pin::is_standing(sentence)
        };
        // Only where instructions are listed, another wording is another instruction.
        let is_new = |word: &str| line.voice == Voice::User && !ground.has_typed(word);
        let content = claim.map_or(sentence, |claim| claim.content);
        let manner = Told {
            is_binding: &is_binding,
            is_new: &is_new,
        };
        let older = || match ground.has_sentence(sentence) {
            true => None,
            false => rules.contradicted(content, &manner),
        };
        let agreement = self.agreement(line, sentence, claim);
        let is_turned = match agreement {
            Agreement::Opposes => true,
            // Among instructions it is exchanged for his own words in any case, so that nobody need guess.
            Agreement::SeemsToOppose => !line.is_rule,
            // Denials alone do not tell on which side a sentence stands.
            Agreement::Agrees | Agreement::Unclear => older() == Some(Contradiction::Worded),
            Agreement::Unknown if line.is_rule => older() == Some(Contradiction::Worded),
            Agreement::Unknown => older().is_some(),
        };
        let whole = claim.map(|claim| claim::whole(claim, sentence, behind));
        let is_heard = || {
            matches!(
                agreement,
                Agreement::Agrees | Agreement::Unclear | Agreement::SeemsToOppose
            ) || self.is_touched(line, sentence, claim)
        };
        let doubt = || whole.and_then(|claim| claim::judge(ground, claim));
        let kind = if is_turned {
            Some(AlarmKind::PinContradicted)
        } else {
            doubt().and_then(|doubt| match doubt {
                Doubt::Unheard(_) if is_heard() => None,
                Doubt::Unheard(kind) | Doubt::Others(kind) => Some(kind),
            })
        };
        let alarm = |kind| Alarm {
            kind,
            text: sentence.trim().to_owned(),
            line: line.number,
        };
        let reach = whole.map_or(0, |claim| claim::end(claim, behind));
        kind.map(|kind| (alarm(kind), reach))
    }

    /// Whether a sentence in a list of what the user wants is about something that he asked for. Who tells it in words of
    /// his own may share few of them; only what sets something free is heard in more of them or not at all.
    fn is_touched(&self, line: &Line<'_>, sentence: &str, claim: Option<Claim<'_>>) -> bool {
        let claim = claim.filter(|claim| claim.voice == Voice::User && line.voice == Voice::User);
        claim.is_some_and(|claim| {
            let told = claim::told(claim, sentence);
            self.verification.ground.is_touched(told)
        })
    }

    /// How a sentence stands to what the user typed, if it claims to tell what he wants.
    fn agreement(&self, line: &Line<'_>, sentence: &str, claim: Option<Claim<'_>>) -> Agreement {
        let Verification { ground, rules, .. } = self.verification;
        let claim = claim.filter(|claim| claim.voice == Voice::User);
        // Several sentences take several sides.
        let is_one = line.sentences.contains(&sentence);
        let told = claim
            .filter(|_| is_one)
            .map(|claim| claim::told(claim, sentence));
        // What he asked for in the course of things is told with what came of it.
        let is_rule = |told: &&str| line.voice == Voice::User || pin::is_standing(told);
        let told = told.filter(is_rule);
        match told.filter(|told| !claim::is_quoted(ground, told)) {
            Some(told) => ground.agreement(told, &|typed| rules.is_void(typed)),
            None => Agreement::Unknown,
        }
    }
}
