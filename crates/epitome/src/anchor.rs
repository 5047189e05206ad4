//! Anchors: identifiers, paths, URLs and numbers worth keeping.

use crate::letters::{is_alphabetic, is_letter, is_surely_small, small};

/// The longest anchor; longer runs are encoded data.
const LONGEST: usize = 160;

/// The anchors in a text, in order, with repetitions.
pub fn anchors(text: &str) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    scan(text, |word| {
        if word.shape.is_anchor() {
            found.push(word.text);
        }
    });
    found.into_iter()
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
    pub(crate) const fn is_anchor(self) -> bool {
        !matches!(self, Self::Plain)
    }
}

/// A word of a text: a run of letters, digits and joints that begins and ends with a letter, a digit or
/// an underscore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) shape: Shape,
    /// A hash of it in small letters.
    hash: u64,
}

/// Scripts from here on are written without spaces.
const UNSPACED: char = '\u{2e80}';

/// Reads a text word by word, in one pass. Scripts without spaces have no words; their characters are handed over
/// in pairs as words without text.
pub(crate) fn scan<'a>(text: &'a str, mut each: impl FnMut(Word<'a>)) {
    let mut run = Run::default();
    let mut unspaced = None;
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        if run.end == 0
            && let Some(word) = plain_word(text, at)
        {
            unspaced = None;
            at += word.text.len();
            each(word);
            continue;
        }
        let (c, part) = if byte.is_ascii() {
            (char::from(byte), part(byte))
        } else {
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            if c >= UNSPACED && is_letter(c) {
                if let Some(before) = unspaced {
                    each(Word::pair(before, c));
                }
                unspaced = Some(c);
                run.end(text, &mut each);
                at += c.len_utf8();
                continue;
            }
            (c, wide_part(c))
        };
        unspaced = None;
        match part {
            Part::None => run.end(text, &mut each),
            _ => run.add(at, c, part),
        }
        at += c.len_utf8();
    }
    run.end(text, &mut each);
}

/// The word at `at`, if it is only small letters of ASCII behind one of any size, and ends there: most words are, and
/// they are read in one go.
#[inline]
fn plain_word(text: &str, at: usize) -> Option<Word<'_>> {
    let rest = text.as_bytes().get(at..)?;
    let first = rest.first().filter(|first| first.is_ascii_alphabetic())?;
    let mut hash = step(HASH_START, char::from(first.to_ascii_lowercase()));
    let mut length = 1;
    while let Some(byte) = rest.get(length).filter(|byte| byte.is_ascii_lowercase()) {
        hash = step(hash, char::from(*byte));
        length += 1;
    }
    let ends = |at: usize| rest.get(at).is_none_or(|byte| part(*byte) == Part::None);
    let is_joint = || {
        let joint = rest.get(length).map(|byte| part(*byte));
        joint.is_some_and(Part::is_joint) && ends(length + 1)
    };
    (ends(length) || is_joint()).then_some(())?;
    Some(Word {
        text: text.get(at..at + length)?,
        shape: Shape::Plain,
        hash,
    })
}

/// What a byte of ASCII may be in a word. Bytes of other characters go on.
const PARTS: [Part; 256] = {
    let mut parts = [Part::None; 256];
    let mut byte = 0;
    while byte < parts.len() {
        // The loop keeps within the table; a constant cannot use anything else.
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            parts[byte] = match byte as u8 {
                b'a'..=b'z' | 0x80.. => Part::Small,
                b'0'..=b'9' => Part::Digit,
                b'A'..=b'Z' => Part::Capital,
                b'_' => Part::Underscore,
                b'-' => Part::Hyphen,
                b'/' => Part::Slash,
                b'.' | b':' | b'@' | b'#' => Part::Joint,
                _ => Part::None,
            };
        }
        byte += 1;
    }
    parts
};

#[inline]
fn part(byte: u8) -> Part {
    PARTS.get(usize::from(byte)).copied().unwrap_or(Part::None)
}

/// The same for a character outside ASCII, of a script with spaces.
fn wide_part(c: char) -> Part {
    match c {
        _ if c >= UNSPACED || !is_letter(c) => Part::None,
        _ if !is_surely_small(c) && c.is_uppercase() => Part::Capital,
        _ => Part::Small,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Small,
    Capital,
    Digit,
    Underscore,
    Hyphen,
    Slash,
    Joint,
}

impl Part {
    /// Whether it only belongs to a word that goes on behind it.
    const fn is_joint(self) -> bool {
        matches!(self, Self::Hyphen | Self::Slash | Self::Joint)
    }
}

/// A word in the making.
#[derive(Default)]
struct Run {
    /// Where it begins and where it ends so far, without the joints behind it.
    start: usize,
    end: usize,
    hash: u64,
    letters: u32,
    capitals: u32,
    digits: u32,
    joints: u32,
    hyphens: u32,
    has_slash: bool,
    has_inner_capital: bool,
    after_small: bool,
    /// Joints behind it that only count if it goes on.
    waiting: Waiting,
}

#[derive(Clone, Copy, Default)]
struct Waiting {
    joints: u32,
    hyphens: u32,
    has_slash: bool,
    hash: u64,
}

impl Run {
    #[inline]
    fn add(&mut self, at: usize, c: char, part: Part) {
        let is_empty = self.end == 0;
        if part.is_joint() {
            if is_empty {
                return;
            }
            self.after_small = false;
            self.waiting.hash = step(self.waiting.hash, c);
            match part {
                Part::Hyphen => self.waiting.hyphens += 1,
                Part::Slash => {
                    self.waiting.joints += 1;
                    self.waiting.has_slash = true;
                }
                _ => self.waiting.joints += 1,
            }
            return;
        }
        if is_empty {
            self.start = at;
            self.waiting.hash = HASH_START;
        }
        self.joints = self.waiting.joints;
        self.hyphens = self.waiting.hyphens;
        self.has_slash = self.waiting.has_slash;
        self.hash = match c.is_ascii() {
            true => step(self.waiting.hash, c.to_ascii_lowercase()),
            false => wide_step(self.waiting.hash, c),
        };
        self.waiting.hash = self.hash;
        self.end = at + c.len_utf8();
        match part {
            Part::Digit => self.digits += 1,
            Part::Underscore => {
                self.joints += 1;
                self.waiting.joints += 1;
            }
            Part::Capital => {
                self.letters += 1;
                self.capitals += 1;
                self.has_inner_capital |= self.after_small;
            }
            _ => self.letters += 1,
        }
        self.after_small = part == Part::Small;
    }

    #[inline]
    fn end<'a>(&mut self, text: &'a str, each: &mut impl FnMut(Word<'a>)) {
        if self.end == 0 {
            return;
        }
        let word = text.get(self.start..self.end).unwrap_or_default();
        each(Word {
            text: word,
            shape: self.shape(word),
            hash: self.hash,
        });
        *self = Self::default();
    }

    fn shape(&self, word: &str) -> Shape {
        if word.len() < 3 || word.len() > LONGEST || self.letters + self.digits < 2 {
            Shape::Plain
        } else if self.has_slash && self.letters > 0 {
            Shape::Path
        } else if self.letters == 0 {
            Shape::Number
        } else if self.joints > 0 && is_file(word) {
            Shape::Path
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

/// Endings by which files are known when no folder stands before them.
const EXTENSIONS: &[&str] = &[
    "bat", "bzl", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv", "dart", "db", "diff",
    "doc", "docx", "env", "erl", "ex", "exs", "fs", "gif", "go", "gradle", "graphql", "h", "hcl",
    "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jl", "jpg", "js", "json", "jsonl", "jsx",
    "kt", "lock", "log", "lua", "md", "mdx", "mjs", "ml", "mod", "nix", "parquet", "patch", "pdf",
    "php", "pl", "png", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sbt", "scala",
    "scss", "sh", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tex", "tf", "toml", "traj",
    "ts", "tsv", "tsx", "txt", "vue", "xls", "xlsx", "xml", "yaml", "yml", "zig", "zip",
];

/// Whether a name ends as files do.
fn is_file(word: &str) -> bool {
    split_last(word, b'.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && EXTENSIONS.binary_search(&extension).is_ok()
    })
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

#[inline]
fn step(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3)
}

#[inline(never)]
fn wide_step(mut hash: u64, c: char) -> u64 {
    small(c, |c| hash = step(hash, c));
    hash
}

/// Keeps the words of languages apart from the names that are spelled like them.
const WORD_SALT: u64 = 0x9e37_79b9_7f4a_7c15;
/// Shorter words say little in any language.
const SHORTEST_WORD: usize = 4;

impl<'a> Word<'a> {
    fn pair(one: char, other: char) -> Self {
        Self {
            text: "",
            shape: Shape::Plain,
            hash: u64::from(one) << 32 | u64::from(other),
        }
    }

    /// Whether it says nothing by itself.
    pub(crate) const fn is_small(&self) -> bool {
        matches!(self.shape, Shape::Plain)
            && self.text.len() < SHORTEST_WORD
            && !self.text.is_empty()
    }

    /// Whether it is written like a name or a number: with a digit, or with a capital where no sentence begins.
    pub(crate) fn is_marked(&self, is_first: bool) -> bool {
        let mut letters = self.text.chars();
        let first = letters.next();
        first.is_some_and(|c| {
            c.is_ascii_digit()
                || (c.is_uppercase() && !is_first && self.text.len() >= SHORTEST_WORD)
        })
    }

    /// What makes two spellings one thing: case does not count, nor does a line number behind it, and a
    /// path is known by its last two parts, however long it is written.
    pub(crate) fn key(&self) -> u64 {
        match self.shape {
            Shape::Plain => self.hash ^ WORD_SALT,
            Shape::Path | Shape::Name => {
                let mut word = self.text;
                while let Some((front, behind)) = split_last(word, b':') {
                    let is_line = behind.bytes().all(|b| b.is_ascii_digit() || b == b'-');
                    if front.is_empty() || !is_line {
                        break;
                    }
                    word = front;
                }
                let is_address = || word.bytes().any(|b| b == b':') && word.contains("://");
                if self.shape == Shape::Path && !is_address() {
                    word = last_two(word).trim_start_matches('.');
                }
                match word.len() == self.text.len() {
                    true => self.hash,
                    false => fold(word),
                }
            }
            _ => self.hash,
        }
    }

    /// The keys of the words it is made of: `parseConfig`, `parse_config` and `parse/config` have the same.
    pub(crate) fn parts(&self, mut each: impl FnMut(u64)) {
        match self.shape {
            Shape::Plain => each(self.hash),
            _ => parts(last_two(self.text), each),
        }
    }
}

/// The key of a path.
pub(crate) fn path_key(path: &str) -> u64 {
    fold(last_two(path.trim_start_matches(['.', '/'])).trim_start_matches('.'))
}

/// The last two parts of a path.
pub(crate) fn last_two(path: &str) -> &str {
    let before = split_last(path, b'/').and_then(|(folder, _)| split_last(folder, b'/'));
    before.map_or(path, |(before, _)| {
        path.get(before.len() + 1..).unwrap_or(path)
    })
}

/// What stands before and behind the last of a sign of ASCII. Words are short: a search that is made for long texts costs more.
#[inline]
fn split_last(text: &str, sign: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|byte| byte == sign)?;
    text.get(..at).zip(text.get(at + 1..))
}

/// The end of a path by which people know it: its last two parts, and one more before a part that begins with a dot,
/// which would be taken for the dot of the folder one is in. The slash at the end of a folder ends no part.
pub(crate) fn path_end(path: &str) -> &str {
    let folder = path.trim_end_matches('/');
    let mut starts = folder.rmatch_indices('/').skip(1);
    let start = starts.find(|(at, _)| !path.get(at + 1..).is_some_and(|end| end.starts_with('.')));
    start.and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path)
}

/// Whether a text is one path and nothing else.
pub(crate) fn is_plain_path(text: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_./@-".contains(&b);
    text.bytes().all(is_part) && (text.contains('/') || is_file(text))
}

fn parts(name: &str, mut each: impl FnMut(u64)) {
    let mut hash = HASH_START;
    let mut length = 0;
    let mut after_small = false;
    let mut end = |hash: &mut u64, length: &mut usize| {
        if *length + 1 >= SHORTEST_WORD {
            each(*hash);
        }
        *hash = HASH_START;
        *length = 0;
    };
    for c in name.chars() {
        let is_letter = is_alphabetic(c);
        if !is_letter || (after_small && c.is_uppercase()) {
            end(&mut hash, &mut length);
        }
        if is_letter {
            small(c, |c| hash = step(hash, c));
            length += c.len_utf8();
        }
        after_small = c.is_lowercase();
    }
    end(&mut hash, &mut length);
}

/// A hash of a word in small letters.
fn fold(word: &str) -> u64 {
    word.chars().fold(HASH_START, |mut hash, c| {
        small(c, |c| hash = step(hash, c));
        hash
    })
}

/// A hash of a text as it is, for finding it again.
pub(crate) fn text_hash(text: &str) -> u64 {
    let mut chunks = text.as_bytes().chunks_exact(8);
    let mut hash = HASH_START ^ text.len() as u64;
    let mut mix = |value: u64| {
        hash = (hash ^ value).wrapping_mul(WORD_SALT);
        hash ^= hash >> 29;
    };
    for chunk in &mut chunks {
        mix(chunk.try_into().map_or(0, u64::from_le_bytes));
    }
    let rest = chunks.remainder().iter();
    mix(rest.fold(0, |value, byte| value << 8 | u64::from(*byte)));
    hash
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
