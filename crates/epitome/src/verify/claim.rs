//! Claims about who said something need an entry in which he said it.

use super::ground::{Ground, Speakers};
use super::report::AlarmKind;
use super::voice::{Claim, Voice};
use super::word::{Key, Word, is_unspaced, pair, words};

/// Words in a quotation from which on it is checked as one.
const QUOTED_WORDS: usize = 4;

/// What is wrong with a claim, if the source tells.
pub(super) fn judge(ground: &Ground, claim: Claim<'_>) -> Option<AlarmKind> {
    let content = quotation(claim.content).unwrap_or(claim.content);
    match claim.voice {
        Voice::Narrator => None,
        Voice::User => of_user(ground, content, Speakers::TYPED),
        Voice::UserAgrees => of_user(ground, content, Speakers::TYPED.or(Speakers::MODEL)),
        Voice::Others => of_others(ground, content),
    }
}

/// The longest quotation in a text, if it is long enough to be one.
fn quotation(text: &str) -> Option<&str> {
    let mut quotations = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')]
    {
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

fn of_user(ground: &Ground, content: &str, own: Speakers) -> Option<AlarmKind> {
    let runs = Runs::of(ground, content, own);
    let kind = if runs.from_tools * 2 > runs.foreign {
        AlarmKind::OrderFromTool
    } else {
        AlarmKind::Attribution
    };
    // Word for word what somebody else said.
    if runs.total >= 3 && runs.foreign * 2 >= runs.total && runs.own * 4 < runs.total {
        return Some(kind);
    }
    let (mut his, mut foreign) = (0, 0);
    for word in words(content).filter(|word| tells(ground, word)) {
        if ground.has_typed(word.text) || ground.speakers(word.key).has(own) {
            his += 1;
        } else {
            foreign += 1;
        }
    }
    // Not in his words at all.
    (his == 0 && foreign >= 3 || foreign >= 6 && foreign > 4 * his).then_some(kind)
}

/// What only the user said, given to the assistant or a tool.
fn of_others(ground: &Ground, content: &str) -> Option<AlarmKind> {
    let others = Speakers::MODEL
        .or(Speakers::TOOL)
        .or(Speakers::CLIENT)
        .or(Speakers::EARLIER);
    let runs = Runs::of(ground, content, others);
    (runs.total >= 3 && runs.foreign * 4 >= runs.total * 3 && runs.own * 4 < runs.total)
        .then_some(AlarmKind::Attribution)
}

/// Whether a word says what a sentence is about.
fn tells(ground: &Ground, word: &Word<'_>) -> bool {
    let is_long = word.text.chars().count() > 3 || word.text.contains(is_unspaced);
    is_long && !ground.is_common(word.key) && !crate::pin::names_nothing(&word.text.to_lowercase())
}
