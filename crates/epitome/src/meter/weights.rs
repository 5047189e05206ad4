//! The estimate: what characters weigh, alone and beside each other.
//!
//! Tokenizers split a text into words, numbers, punctuation and white space before they look anything up, so
//! the borders between such runs say more than the characters. The weights were fitted to the `o200k`
//! counts of real agent sessions and of generated text in many scripts, then moved a little to the high
//! side. They are the same in both directions: a text costs what its reverse does.

/// Weights are in sixtieths of a token.
pub(crate) const UNITS: u64 = 60;

/// A word of more letters than this is no word, and its letters are no longer cheap.
const LONGEST_WORD: u32 = 24;
/// What each further letter costs beyond its usual weight.
const WORDLESS_EXTRA: u64 = 28;

const LOWER: u8 = 0;
const UPPER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 3;
const LINE: u8 = 4;
const MARK: u8 = 5;
const WIDE: u8 = 6;
const NOTHING: u8 = 7;

/// What a character costs after one of another kind: line = the one before, column = the one after.
#[rustfmt::skip]
const AFTER: [u8; 64] = [
//  lower upper digit space line mark wide
     5,   37,   60,   22,   47,  43,  50,  0, // lower
    37,   11,   60,   22,   47,  43,  50,  0, // upper
    60,   60,   17,   60,   50,  60,  50,  0, // digit
    22,   22,   60,    5,   44,  34,  12,  0, // space
    47,   47,   50,   44,    4,  30,  45,  0, // line
    43,   43,   60,   34,   30,  10,  50,  0, // mark
    50,   50,   50,   12,   45,  50,   0,  0, // wide
    40,   40,   40,   40,   40,  40,  40,  0, // nothing
];

/// What a character outside ASCII costs by itself.
const fn wide_weight(character: char) -> u64 {
    match character as u32 {
        ..=0x024F => 32,       // Latin with accents
        0x0250..=0x03FF => 24, // Greek, combining marks
        0x0400..=0x058F => 13, // Cyrillic
        0x0590..=0x10FF => 23, // Hebrew, Arabic, Indic scripts, Thai
        0x1100..=0x1FFF => 45, // rarer scripts
        0x2000..=0x2E7F => 24, // dashes, arrows, boxes, symbols
        0x2E80..=0xABFF => 40, // Chinese, Japanese
        0xAC00..=0xFFFF => 32, // Korean, wide forms
        0x1_0000.. => 140,     // emoji and rare letters
    }
}

/// Adds up the weight of a text, character by character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    last: u8,
    run: u32,
    pub(crate) units: u64,
}

impl Scale {
    pub(crate) const fn new() -> Self {
        Self {
            last: NOTHING,
            run: 0,
            units: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, character: char) {
        match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => self.step(kind(byte)),
            _ => {
                self.step(WIDE);
                self.units += wide_weight(character);
            }
        }
    }

    #[inline]
    fn step(&mut self, kind: u8) {
        let pair = usize::from((self.last << 3 | kind) & 63);
        self.units += u64::from(AFTER.get(pair).copied().unwrap_or_default());
        self.run = if kind == self.last { self.run + 1 } else { 0 };
        if self.run >= LONGEST_WORD && kind <= UPPER {
            self.units += WORDLESS_EXTRA;
        }
        self.last = kind;
    }
}

pub(crate) fn units(text: &str) -> u64 {
    if text.is_ascii() {
        return ascii_units(text.as_bytes());
    }
    let mut scale = Scale::new();
    text.chars().for_each(|character| scale.add(character));
    scale.units
}

/// The same without anything that a step hands to the next but the kind of its byte: most texts are counted here.
fn ascii_units(text: &[u8]) -> u64 {
    let first = text.first().map_or(0, |first| after(NOTHING, kind(*first)));
    let pairs = text.array_windows().map(|pair| {
        let pair = usize::from(u16::from_le_bytes(*pair));
        u64::from(PAIRS.get(pair).copied().unwrap_or_default())
    });
    u64::from(first) + pairs.sum::<u64>() + u64::from(beyond_words(text)) * WORDLESS_EXTRA
}

const fn after(last: u8, kind: u8) -> u8 {
    // Both are below eight; a constant cannot use anything else.
    #[expect(clippy::indexing_slicing, reason = "within the table by the mask")]
    AFTER[((last << 3 | kind) & 63) as usize]
}

/// What a byte costs after another, both at once: the one before is the lower half of the place.
static PAIRS: [u8; 1 << 16] = {
    let mut pairs = [0; 1 << 16];
    let mut place = 0;
    while place < pairs.len() {
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            pairs[place] = after(KINDS[place & 0xff], KINDS[place >> 8]);
        }
        place += 1;
    }
    pairs
};

/// How many letters stand in runs beyond what a word may have. A run that is so long has one of the bytes that are looked at.
fn beyond_words(text: &[u8]) -> u32 {
    let mut beyond = 0;
    let mut behind = 0;
    for at in (0..text.len()).step_by(LONGEST_WORD as usize) {
        let kind_at = |at: usize| text.get(at).map(|byte| kind(*byte));
        let letter = kind_at(at).filter(|kind| *kind <= UPPER && at >= behind);
        if letter.is_none() {
            continue;
        }
        let before = (0..at).rev().take_while(|at| kind_at(*at) == letter);
        let from = at - before.count();
        behind = at + (at..).take_while(|at| kind_at(*at) == letter).count();
        let length = u32::try_from(behind - from).unwrap_or(u32::MAX);
        beyond += length.saturating_sub(LONGEST_WORD);
    }
    beyond
}

const KINDS: [u8; 256] = {
    let mut kinds = [MARK; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            kinds[byte] = match byte as u8 {
                b'a'..=b'z' => LOWER,
                b'A'..=b'Z' => UPPER,
                b'0'..=b'9' => DIGIT,
                b' ' | b'\t' => SPACE,
                b'\n' | b'\r' => LINE,
                _ => MARK,
            };
        }
        byte += 1;
    }
    kinds
};

#[inline]
fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or(MARK)
}

#[cfg(test)]
mod tests {
    use super::{Scale, units};

    #[test]
    fn in_one_go_or_step_by_step() {
        let word = |letters: usize| "a".repeat(letters);
        let mut texts: Vec<String> = ["", "a", "Two words, 3 4.\n\n  fn main() { }", "naïve café"]
            .map(str::to_owned)
            .to_vec();
        for before in 0..60 {
            for letters in [1, 23, 24, 25, 26, 47, 48, 49, 50, 100] {
                let spaces = " ".repeat(before);
                texts.push(format!("{spaces}{}", word(letters)));
                texts.push(format!(
                    "{spaces}{}A{} {}",
                    word(letters),
                    word(30),
                    word(letters)
                ));
            }
        }
        for text in texts {
            let mut scale = Scale::new();
            text.chars().for_each(|character| scale.add(character));
            assert_eq!(units(&text), scale.units, "{text:?}");
        }
    }
}
