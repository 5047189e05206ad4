//! Anchors: identifiers, paths, URLs and numbers worth keeping.

/// The longest anchor; longer runs are encoded data.
const LONGEST: usize = 160;

/// The anchors in a text, in order, with repetitions.
pub fn anchors(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| Shape::of(word).is_anchor())
}

/// What a word looks like. No vocabulary and no language is involved, only letters, digits and joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A word of a language, or too short or too long to be anything.
    Plain,
    /// Words joined by hyphens.
    Hyphenated,
    /// Digits only, with or without joints.
    Number,
    /// Digits and letters without a joint.
    Code,
    /// Letters with a joint, a capital inside, or capitals only.
    Name,
    /// With a slash.
    Path,
}

impl Shape {
    pub(crate) fn of(word: &str) -> Self {
        if word.len() < 3 || word.len() > LONGEST {
            return Self::Plain;
        }
        let mut seen = Seen::default();
        for byte in word.bytes() {
            seen.add(byte);
        }
        match seen.shape() {
            Self::Name if is_file(word) => Self::Path,
            shape => shape,
        }
    }

    pub(crate) const fn is_anchor(self) -> bool {
        !matches!(self, Self::Plain)
    }
}

/// Whether a name ends as files do: a dot and a few small letters.
fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.len() > 1
            && (1..=5).contains(&extension.len())
            && !stem.contains('.')
            && extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase())
    })
}

#[derive(Default)]
struct Seen {
    letters: u32,
    capitals: u32,
    digits: u32,
    joints: u32,
    hyphens: u32,
    has_slash: bool,
    has_inner_capital: bool,
    after_small: bool,
}

impl Seen {
    const fn add(&mut self, byte: u8) {
        let mut after_small = false;
        match byte {
            b'0'..=b'9' => self.digits += 1,
            b'a'..=b'z' => {
                self.letters += 1;
                after_small = true;
            }
            b'A'..=b'Z' => {
                self.letters += 1;
                self.capitals += 1;
                self.has_inner_capital |= self.after_small;
            }
            b'-' => self.hyphens += 1,
            b'/' => {
                self.joints += 1;
                self.has_slash = true;
            }
            b'_' | b'.' | b':' | b'@' | b'#' => self.joints += 1,
            _ => self.letters += 1,
        }
        self.after_small = after_small;
    }

    const fn shape(&self) -> Shape {
        if self.letters + self.digits < 2 {
            Shape::Plain
        } else if self.has_slash && self.letters > 0 {
            Shape::Path
        } else if self.letters == 0 {
            Shape::Number
        } else if self.digits > 0 && self.joints + self.hyphens == 0 {
            Shape::Code
        } else if self.joints > 0
            || self.digits > 0
            || self.has_inner_capital
            || (self.capitals == self.letters && self.letters > 3)
        {
            Shape::Name
        } else if self.hyphens > 0 {
            Shape::Hyphenated
        } else {
            Shape::Plain
        }
    }
}

/// Scripts from here on are written without spaces.
const UNSPACED: char = '\u{2e80}';

/// The words of a text: runs of letters, digits and joints that begin and end with a letter or digit.
/// Scripts without spaces have none.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_part(c))
        .map(|word| word.trim_matches(|c: char| is_joint(c)))
        .filter(|word| !word.is_empty())
}

const fn is_joint(c: char) -> bool {
    matches!(c, '.' | '/' | ':' | '@' | '#' | '-')
}

fn is_part(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_' || is_joint(c)
    } else {
        c < UNSPACED && c.is_alphanumeric()
    }
}

/// What makes two spellings one thing: case does not count, nor does a line number behind it, and a
/// path is known by its last two parts, however long it is written.
pub(crate) fn key(word: &str, shape: Shape) -> u64 {
    let mut word = word;
    if matches!(shape, Shape::Path | Shape::Name) {
        while let Some((front, behind)) = word.rsplit_once(':') {
            if front.is_empty() || !behind.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
                break;
            }
            word = front;
        }
    }
    if shape == Shape::Path && !word.contains("://") {
        word = last_two(word);
    }
    fold(word)
}

/// The last two parts of a path.
pub(crate) fn last_two(path: &str) -> &str {
    match path.rmatch_indices('/').nth(1) {
        Some((at, _)) => path.get(at + 1..).unwrap_or(path),
        None => path,
    }
}

/// Whether a text is one path and nothing else.
pub(crate) fn is_plain_path(text: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_./@-".contains(&b);
    text.bytes().all(is_part) && Shape::of(text) == Shape::Path
}

/// Keeps the words of languages apart from the names that are spelled like them.
const WORD_SALT: u64 = 0x9e37_79b9_7f4a_7c15;
/// Shorter words say little in any language.
const SHORTEST_WORD: usize = 4;

/// What a text names: its anchors, its words, and in scripts without spaces its pairs of characters; each
/// with what it looks like and its key.
pub(crate) fn terms(text: &str) -> impl Iterator<Item = (Shape, u64, &str)> {
    let unspaced = if text.is_ascii() { "" } else { text };
    let is_letter = |c: char| c >= UNSPACED && c.is_alphanumeric();
    let pairs = unspaced
        .chars()
        .zip(unspaced.chars().skip(1))
        .filter(move |(one, other)| is_letter(*one) && is_letter(*other))
        .map(|(one, other)| {
            let key = (u64::from(one) << 32 | u64::from(other)).wrapping_mul(WORD_SALT);
            (Shape::Plain, key, "")
        });
    words(text)
        .filter_map(|word| match Shape::of(word) {
            Shape::Plain if word.len() < SHORTEST_WORD => None,
            Shape::Plain => Some((Shape::Plain, fold(word) ^ WORD_SALT, word)),
            shape => Some((shape, key(word, shape), word)),
        })
        .chain(pairs)
}

/// The keys of the words a name is made of: `parseConfig`, `parse_config` and `parse/config` have the same.
pub(crate) fn parts(name: &str) -> impl Iterator<Item = u64> {
    let mut rest = name;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|c: char| !c.is_alphabetic());
            if rest.is_empty() {
                return None;
            }
            let mut after_small = false;
            let end = rest.char_indices().find(|(_, c)| {
                let ends = !c.is_alphabetic() || (after_small && c.is_uppercase());
                after_small = c.is_lowercase();
                ends
            });
            let (part, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
            rest = behind;
            if part.len() + 1 >= SHORTEST_WORD {
                return Some(fold(part));
            }
        }
    })
}

/// A hash of a word in small letters.
pub(crate) fn fold(word: &str) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let start: u64 = 0xcbf2_9ce4_8422_2325;
    if word.is_ascii() {
        word.bytes().fold(start, |hash, byte| {
            (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(PRIME)
        })
    } else {
        let small = word.chars().flat_map(char::to_lowercase);
        small.fold(start, |hash, c| (hash ^ u64::from(c)).wrapping_mul(PRIME))
    }
}
