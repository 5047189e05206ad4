//! Claims about who said something need an entry in which he said it.

use std::collections::HashSet;

use super::ground::{Ground, Speakers};
use super::report::AlarmKind;
use super::stance;
use super::voice::{self, Claim, Voice};
use super::word::{Key, Word, is_unspaced, pair, words};

const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')];
/// Words in a quotation from which on it is checked as one.
const QUOTED_WORDS: usize = 4;

/// Why a claim is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Somebody else said it, word for word.
    Others(AlarmKind),
    /// Nothing like it was said by him.
    Unheard(AlarmKind),
}

/// What is wrong with a claim, if the source tells.
pub(super) fn judge(ground: &Ground, claim: Claim<'_>) -> Option<Doubt> {
    let quoted = quotation(claim.content);
    let content = quoted.unwrap_or(claim.content);
    if quoted.is_none() && claim.voice == Voice::User && opens_with_his_own(ground, content) {
        return None;
    }
    let is_direct = quoted.is_some() || is_listed(claim.content);
    match claim.voice {
        Voice::Narrator => None,
        Voice::User if is_direct => of_user(ground, content, DIRECT_PERCENT),
        // What announces a list claims nothing by itself.
        Voice::User if content.trim_end().ends_with([':', '：']) => None,
        Voice::User => of_user(ground, content, INDIRECT_PERCENT),
        Voice::UserAgrees => of_agreeing(ground, content).map(Doubt::Others),
        Voice::Others => of_others(ground, content).map(Doubt::Others),
        Voice::Tasks => of_tools(ground, content).map(Doubt::Others),
    }
}

/// Telling words with which a claim can be judged by itself.
const ENOUGH: usize = 4;

/// All that is claimed: a quotation goes on until it ends, and so does what stands behind a colon, where its first
/// sentence says too little. `behind` is the line from `sentence` on.
pub(super) fn whole<'a>(claim: Claim<'a>, sentence: &str, behind: &'a str) -> Claim<'a> {
    let start = sentence.len() - claim.content.len();
    let is_end = sentence.ends_with(claim.content);
    let Some(rest) = behind.get(start..).filter(|_| is_end) else {
        return claim;
    };
    let bare = claim.content.trim_start_matches([':', '：', ' ']);
    let is_open = QUOTES.iter().find_map(|(open, close)| {
        let inner = bare.strip_prefix(*open)?;
        (!inner.contains(*close)).then_some((*open, *close))
    });
    let content = match is_open {
        Some((open, close)) => {
            let inner = rest.find(open).map_or(0, |at| at + open.len_utf8());
            let end = rest.get(inner..).and_then(|rest| rest.find(close));
            let end = end.map_or(rest.len(), |end| inner + end + close.len_utf8());
            rest.get(..end).unwrap_or(rest)
        }
        None if is_listed(claim.content) && words(claim.content).filter(tells).count() < ENOUGH => {
            rest
        }
        None => claim.content,
    };
    Claim { content, ..claim }
}

/// How far a claim goes into the text that it is a part of, in bytes.
pub(super) fn end(claim: Claim<'_>, behind: &str) -> usize {
    let start = behind.find(claim.content).unwrap_or_default();
    start + claim.content.len()
}

/// Whether what is claimed stands behind a colon.
fn is_listed(content: &str) -> bool {
    content.trim_start().starts_with([':', '：'])
}

/// How much of what the user is said to have said, word for word, must be in one message of his.
const DIRECT_PERCENT: usize = 60;
/// How much of it when it is told in other words.
const INDIRECT_PERCENT: usize = 25;
/// How much of those words of it that say what it is about, and how many of them must be there to tell.
const KNOWN_PERCENT: usize = 30;
const ENOUGH_TO_TELL: usize = 3;

/// The longest quotation in a text, if it is long enough to be one.
fn quotation(text: &str) -> Option<&str> {
    let mut quotations = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(open) {
            let Some((inner, behind)) = behind.split_once(close) else {
                break;
            };
            quotations.push(inner);
            rest = behind;
        }
    }
    quotations
        .into_iter()
        .filter(|inner| words(inner).take(QUOTED_WORDS).count() == QUOTED_WORDS)
        .max_by_key(|inner| inner.len())
}

/// Whether a claim begins with a few words in quotes that the user said just so. What stands behind them is told about
/// them: `"push it", which was done`.
fn opens_with_his_own(ground: &Ground, content: &str) -> bool {
    let bare = content.trim_start_matches([':', '：', ' ']);
    QUOTES.iter().any(|(open, close)| {
        bare.strip_prefix(*open)
            .and_then(|rest| rest.split_once(*close))
            .is_some_and(|(inner, _)| ground.has_sentence(inner))
    })
}

/// Three words in a row, by who said them.
#[derive(Default)]
struct Runs {
    total: usize,
    own: usize,
    foreign: usize,
    /// Of the foreign ones, from tools or clients and nobody else.
    from_tools: usize,
}

impl Runs {
    fn of(ground: &Ground, content: &str, own: Speakers) -> Self {
        let mut runs = Self::default();
        // What stands in code is a name: whoever speaks of it uses the same words.
        for plain in content.split('`').step_by(2) {
            let found: Vec<Word<'_>> = words(plain).collect();
            runs.add(ground, &found, own);
        }
        runs
    }

    /// Whether it is word for word what somebody else said.
    const fn are_foreign(&self) -> bool {
        self.total >= 3 && self.foreign * 2 >= self.total && self.own * 4 < self.total
    }

    const fn kind(&self) -> AlarmKind {
        if self.from_tools * 2 > self.foreign {
            AlarmKind::OrderFromTool
        } else {
            AlarmKind::Attribution
        }
    }

    fn add(&mut self, ground: &Ground, found: &[Word<'_>], own: Speakers) {
        let runs = self;
        for three in found.windows(3) {
            let [first, second, third] = three else {
                continue;
            };
            let speakers = ground.run_speakers(run(first.key, second.key, third.key));
            runs.total += 1;
            runs.own += usize::from(speakers.has(own));
            if !speakers.has(own) && speakers != Speakers::default() {
                runs.foreign += 1;
                runs.from_tools += usize::from(!speakers.has(Speakers::MODEL));
            }
        }
    }
}

pub(super) fn run(first: Key, second: Key, third: Key) -> Key {
    pair(first, pair(second, third))
}

fn of_user(ground: &Ground, content: &str, percent: usize) -> Option<Doubt> {
    // A name in code is the narrator's as much as his.
    let is_direct = percent == DIRECT_PERCENT;
    let step = if is_direct { 1 } else { 2 };
    let spans = content.split('`').step_by(step);
    let telling: HashSet<String> = spans
        .flat_map(words)
        .filter(tells)
        .map(|word| word.text.to_lowercase())
        .collect();
    let mut telling: Vec<&str> = telling.iter().map(String::as_str).collect();
    telling.sort_unstable();
    let spread = u32::try_from(2 * words(content).count() + 20).unwrap_or(u32::MAX);
    let together = ground.typed_together(&telling, spread);
    // A rule is his only where he gave it himself: one that only a model's summary told stays a record.
    if crate::pin::is_standing(content) {
        let ordered = Runs::of(ground, content, Speakers::ORDERED);
        if ordered.are_foreign() {
            return Some(Doubt::Others(ordered.kind()));
        }
    }
    // Told in other words, it is no less his because others use the same turns of phrase.
    if !is_direct && telling.len() >= 3 && together >= DIRECT_PERCENT {
        return None;
    }
    let runs = Runs::of(ground, content, Speakers::TYPED);
    if runs.are_foreign() {
        return Some(Doubt::Others(runs.kind()));
    }
    let is_little = together < percent;
    let is_nothing = together == 0 && telling.len() >= 3;
    if !(is_nothing || telling.len() >= 4 && is_little) {
        return None;
    }
    // Word for word it was said or it was not.
    if is_direct {
        return Some(Doubt::Others(runs.kind()));
    }
    // Whoever tells it in other words says in his own how it is meant.
    telling.retain(|word| !voice::names_user(word) && !stance::says_how(word));
    let least = if telling.len() < ENOUGH_TO_TELL {
        1
    } else {
        KNOWN_PERCENT
    };
    let is_known = telling.len() < 2 || ground.typed_together(&telling, spread) >= least;
    (!is_known).then(|| Doubt::Unheard(runs.kind()))
}

/// What he agreed to was put to him by the assistant, not by a tool.
fn of_agreeing(ground: &Ground, content: &str) -> Option<AlarmKind> {
    let runs = Runs::of(ground, content, Speakers::TYPED.or(Speakers::MODEL));
    runs.are_foreign().then(|| runs.kind())
}

/// What only a tool wrote, word for word, as something to be done.
fn of_tools(ground: &Ground, content: &str) -> Option<AlarmKind> {
    let runs = Runs::of(ground, content, Speakers::TYPED.or(Speakers::MODEL));
    (runs.total >= 4 && runs.from_tools * 3 >= runs.total * 2).then_some(AlarmKind::OrderFromTool)
}

/// What only the user said, given to the assistant or a tool.
fn of_others(ground: &Ground, content: &str) -> Option<AlarmKind> {
    let others = Speakers::MODEL
        .or(Speakers::TOOL)
        .or(Speakers::CLIENT)
        .or(Speakers::EARLIER)
        .or(Speakers::RETOLD);
    let runs = Runs::of(ground, content, others);
    (runs.total >= 3 && runs.foreign * 4 >= runs.total * 3 && runs.own * 4 < runs.total)
        .then_some(AlarmKind::Attribution)
}

/// Whether a word says what a sentence is about.
fn tells(word: &Word<'_>) -> bool {
    let is_long = word.text.chars().count() > 3 || word.text.contains(is_unspaced);
    let lower = word.text.to_lowercase();
    is_long && !crate::pin::names_nothing(&lower)
}

/// Whether the source has all of a sentence, word for word, whoever said it.
pub(super) fn is_verbatim(ground: &Ground, sentence: &str) -> bool {
    runs_are(ground, sentence, |speakers| speakers != Speakers::default())
}

/// What is left out of a quotation.
const LEFT_OUT: &str = "[…]";

/// Whether the user typed all of a sentence, word for word. What was left out may have been anything, but only where
/// it is said so: without its first word a rule may be turned round.
pub(super) fn is_quoted(ground: &Ground, sentence: &str) -> bool {
    let is_typed = |part| runs_are(ground, part, |speakers| speakers.has(Speakers::TYPED));
    ground.has_sentence(sentence)
        || sentence.contains(LEFT_OUT)
            && sentence
                .split(LEFT_OUT)
                .all(|part| part.trim().is_empty() || is_typed(part))
}

/// What a claim tells: what it quotes, or what stands behind its colon.
pub(super) fn told<'a>(claim: Claim<'a>, sentence: &'a str) -> &'a str {
    if let Some(quoted) = quotation(sentence) {
        return quoted;
    }
    let start = sentence.len() - claim.content.len();
    let before = sentence
        .get(..start)
        .filter(|_| sentence.ends_with(claim.content));
    let colon = before.and_then(|before| before.rfind([':', '：']));
    let behind = colon.and_then(|colon| sentence.get(colon..));
    behind.map_or(claim.content, |behind| {
        behind.trim_start_matches([':', '：', ' '])
    })
}

fn runs_are(ground: &Ground, sentence: &str, is_so: impl Fn(Speakers) -> bool) -> bool {
    let found: Vec<Word<'_>> = words(sentence).collect();
    let mut runs = found.windows(3).map(|three| match three {
        [first, second, third] => ground.run_speakers(run(first.key, second.key, third.key)),
        _ => Speakers::default(),
    });
    found.len() >= 3 && runs.all(is_so)
}
