//! Marks: what in a summary can be looked up in its source. Paths, identifiers, numbers, addresses.

use super::word::{is_unspaced, words};
use crate::letters::{is_alphabetic, is_letter, is_surely_small};

/// What a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnchorKind {
    /// A file or folder.
    Path,
    /// A name from code, configuration or a command line; a hash; an address of mail.
    Identifier,
    /// A number, a version, a date.
    Number,
    /// An address on the web.
    Url,
}

impl AnchorKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Path, Self::Identifier, Self::Number, Self::Url];

    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Identifier => "identifier",
            Self::Number => "number",
            Self::Url => "url",
        }
    }
}

/// A mark and where it stands in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    pub(super) kind: AnchorKind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Whether the end was left out: `TestLogin…`, `test_*`.
    pub(super) is_cut: bool,
    /// A small number that means something only if the source counts the same thing.
    pub(super) is_weak: bool,
}

/// Longer runs are encoded data.
const LONGEST: usize = 240;

/// Hands every mark of a line to `take`, in order.
pub(super) fn marks<'a>(line: &'a str, mut take: impl FnMut(Mark<'a>)) {
    let mut start = 0;
    let mut chunk = Chunk::default();
    let mut at = 0;
    while let Some(&byte) = line.as_bytes().get(at) {
        // Most characters are small letters.
        if byte.is_ascii_lowercase() && chunk == Chunk::Small {
            at += 1;
            continue;
        }
        let c = match byte.is_ascii() {
            true => char::from(byte),
            false => match line.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) => c,
                None => break,
            },
        };
        let behind = at + c.len_utf8();
        if splits(line, at, c) {
            if !chunk.is_plain() {
                read(line, start, at, &mut take);
            }
            start = behind;
            chunk = Chunk::default();
        } else {
            chunk.add(c);
        }
        at = behind;
    }
    if !chunk.is_plain() {
        read(line, start, line.len(), &mut take);
    }
}

/// A run in the making. Most are plain words, and those hold no mark.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Chunk {
    /// Nothing so far, or capitals.
    #[default]
    Capitals,
    /// Behind a small letter.
    Small,
    /// Behind the signs that close a word.
    Closed,
    /// Anything else.
    Other,
}

impl Chunk {
    #[inline(always)]
    fn add(&mut self, c: char) {
        *self = match (c, *self) {
            ('a'..='z', Self::Capitals | Self::Small) => Self::Small,
            ('A'..='Z', Self::Capitals) => Self::Capitals,
            (c, Self::Capitals | Self::Small) if is_small_abroad(c) => Self::Small,
            ('.' | ':', Self::Capitals | Self::Small | Self::Closed) => Self::Closed,
            _ => Self::Other,
        };
    }

    /// Whether the run can hold no mark.
    fn is_plain(self) -> bool {
        self != Self::Other
    }
}

/// A small letter outside ASCII that does not stand by itself.
#[inline]
fn is_small_abroad(c: char) -> bool {
    !c.is_ascii() && is_surely_small(c) && c != '÷' && !is_unspaced(c)
}

#[inline(always)]
fn splits(line: &str, at: usize, c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' | '/' | '-' | ':' => false,
        ',' => {
            let bytes = line.as_bytes();
            let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
            !(digit(at.wrapping_sub(1)) && digit(at + 1))
        }
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ';' | '|' | '='
        | '*' | '\\' | '!' | '?' => true,
        c if c.is_ascii() => c.is_ascii_whitespace() || c.is_ascii_control(),
        c => is_unspaced(c) || !is_letter(c),
    }
}

/// What a run between spaces, brackets and quotes holds: usually nothing or one mark; a path with lines holds more.
fn read<'a>(line: &'a str, start: usize, end: usize, take: &mut impl FnMut(Mark<'a>)) {
    let chunk = line.get(start..end).unwrap_or_default();
    let closes = |c: char| matches!(c, '.' | ':' | '-' | '&' | '+' | '^' | '~');
    let trimmed = chunk.trim_end_matches(closes);
    let bare = trimmed.trim_start_matches([':', '&', '+', '^', '%']);
    if bare.len() < 2 && !bare.starts_with(|c: char| c.is_ascii_digit())
        || bare.len() > LONGEST
        || !bare.contains(is_letter)
    {
        return;
    }
    let start = start + (trimmed.len() - bare.len());
    let behind = line.get(end..).unwrap_or_default();
    let is_glob = behind.starts_with('*') && !behind.starts_with("**");
    let is_cut = is_glob || behind.starts_with('…') || chunk.ends_with("...");
    let mark = |kind, text: &'a str, at: usize| Mark {
        kind,
        text,
        start: start + at,
        is_cut,
        is_weak: false,
    };
    // `88:src/main.rs`, `88://`: the number of a line, and the line.
    let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 && bare.get(digits..).is_some_and(|rest| rest.starts_with(':')) {
        if digits > 1 {
            take(mark(
                AnchorKind::Number,
                bare.get(..digits).unwrap_or(bare),
                0,
            ));
        }
        read(line, start + digits + 1, end, take);
        return;
    }
    let has_colon = bare.bytes().any(|byte| byte == b':');
    if has_colon && bare.contains("://") {
        take(mark(AnchorKind::Url, bare, 0));
        return;
    }
    // `src/main.rs:88`, `src/main.rs:88-90`
    if has_colon
        && let Some((name, lines)) = bare.split_once(':')
        && lines.starts_with(|c: char| c.is_ascii_digit())
        && is_path(name)
    {
        take(mark(AnchorKind::Path, name, 0));
        words(lines)
            .filter(|word| word.text.len() > 1)
            .map(|word| mark(AnchorKind::Number, word.text, name.len() + 1 + word.start))
            .for_each(take);
        return;
    }
    if is_path(bare) {
        take(mark(AnchorKind::Path, bare, 0));
    } else if is_identifier(bare) {
        take(mark(AnchorKind::Identifier, bare, 0));
    } else if bare.contains(|c: char| c.is_ascii_digit()) {
        for word in words(bare).filter(|word| word.is_numeric() || is_version(word.text)) {
            if let Some(weight) = weight(line, start + word.start, word.text) {
                take(Mark {
                    is_weak: weight == Weight::Weak,
                    ..mark(AnchorKind::Number, word.text, word.start)
                });
            }
        }
    }
}

/// No ending of a file that is known is longer.
const ENDING_BYTES: usize = 7;
/// Endings by which a name is known to be a file, sorted.
const ENDINGS: &[&str] = &[
    "adoc", "bash", "bat", "bin", "c", "cc", "cfg", "cjs", "class", "cmake", "conf", "cpp", "cs",
    "css", "csv", "cxx", "dart", "db", "diff", "dll", "doc", "docx", "env", "ex", "exe", "exs",
    "gif", "go", "gradle", "h", "hpp", "hs", "html", "ico", "ini", "ipynb", "jar", "java", "jpeg",
    "jpg", "js", "json", "jsonl", "jsx", "kt", "kts", "lock", "log", "lua", "m", "md", "mjs", "ml",
    "mod", "mp3", "mp4", "mts", "out", "parquet", "patch", "pdf", "pem", "php", "pl", "png",
    "pony", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh",
    "so", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tar", "tf", "tmpl", "toml", "ts",
    "tsx", "txt", "vue", "wasm", "webp", "xls", "xlsx", "xml", "yaml", "yml", "zig", "zip", "zsh",
];

/// Whether a name ends like a file.
pub(super) fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        ending.len() <= ENDING_BYTES
            && stem.contains(is_letter)
            && ENDINGS
                .binary_search(&ending.to_ascii_lowercase().as_str())
                .is_ok()
    })
}

fn is_path(text: &str) -> bool {
    let (mut has_slash, mut has_point) = (false, false);
    for byte in text.bytes() {
        has_slash |= byte == b'/';
        has_point |= byte == b'.';
    }
    if !has_slash {
        if !has_point {
            return false;
        }
        let is_hidden = text
            .strip_prefix('.')
            .is_some_and(|name| name.len() > 2 && name.chars().all(|c| c.is_ascii_lowercase()));
        return is_file(text) || is_hidden;
    }
    let parts = || text.split('/').filter(|part| !part.is_empty());
    if !text.contains(is_alphabetic) {
        return false;
    }
    // "and/or", "read/write", "N/A" are words.
    let tells = |part: &str| {
        part.contains(['.', '_', '-']) && part.len() > 2
            || part.contains(|c: char| c.is_ascii_digit()) && part.contains(is_alphabetic)
    };
    text.starts_with(['/', '.', '~']) || parts().nth(2).is_some() || parts().any(tells)
}

/// What a name is made of.
#[derive(Clone, Copy, Default)]
struct Build {
    letters: usize,
    digits: usize,
    /// Small letters before capitals.
    humps: usize,
    /// Underscores, and points or `@`, behind letters or digits.
    unders: usize,
    points: usize,
    /// Colons behind colons.
    joins: usize,
}

impl Build {
    fn of(text: &str) -> Self {
        match text.is_ascii() {
            true => Self::of_ascii(text.as_bytes()),
            false => Self::of_any(text),
        }
    }

    /// Nearly all names, and fast: there are many in a source.
    fn of_ascii(text: &[u8]) -> Self {
        let mut build = Self::default();
        let mut previous = b' ';
        for &byte in text {
            let is_letter = byte.is_ascii_alphabetic();
            build.letters += usize::from(is_letter);
            build.digits += usize::from(byte.is_ascii_digit());
            if is_letter {
                build.humps +=
                    usize::from(byte.is_ascii_uppercase() & previous.is_ascii_lowercase());
            } else {
                let is_behind = previous.is_ascii_alphanumeric();
                match byte {
                    b'_' => build.unders += usize::from(is_behind),
                    b'.' | b'@' => build.points += usize::from(is_behind),
                    b':' => build.joins += usize::from(previous == b':'),
                    _ => {}
                }
            }
            previous = byte;
        }
        build
    }

    fn of_any(text: &str) -> Self {
        let mut build = Self::default();
        let mut previous = ' ';
        for character in text.chars() {
            build.letters += usize::from(is_alphabetic(character));
            build.digits += usize::from(character.is_ascii_digit());
            build.unders += usize::from(character == '_' && is_letter(previous));
            build.humps += usize::from(previous.is_lowercase() && character.is_uppercase());
            build.points += usize::from(matches!(character, '.' | '@') && is_letter(previous));
            build.joins += usize::from(previous == ':' && character == ':');
            previous = character;
        }
        build
    }
}

fn is_identifier(text: &str) -> bool {
    let Build {
        letters,
        digits,
        humps,
        unders,
        points,
        joins,
    } = Build::of(text);
    // A version has one letter at most, and what a number counts is short.
    if letters == 0
        || text.len() < 3
        || letters <= 1 && is_version(text)
        || letters <= UNIT_BYTES && has_unit(text)
    {
        return false;
    }
    let is_dotted = points > 0
        && letters >= 6
        && text
            .split('.')
            .all(|part| part.chars().filter(|c| is_letter(*c)).count() > 1);
    let is_hash = digits > 0 && text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit());
    // `sha256`, `ENT-221`: letters and digits in one name.
    let is_mixed = digits > 0 && text.len() >= 4 && text.starts_with(char::is_alphabetic);
    is_hash
        || humps > 0
        || unders > 0
        || joins > 0
        || is_dotted
        || is_mixed
        || text.starts_with("--")
}

/// `1.2.3`, `v2`, `v1.2`
pub(super) fn is_version(text: &str) -> bool {
    let number = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let is_marked = number.len() < text.len();
    let figures = number
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    figures && (is_marked || number.contains('.'))
}

/// What a number counts is no longer where it stands right behind it.
const UNIT_BYTES: usize = 3;

/// `200k`, `50ms`, `1st`: a number and what it counts.
fn has_unit(text: &str) -> bool {
    let number = text.trim_start_matches(['~', '$', '€', '#', '-']);
    let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
    unit.len() < number.len()
        && unit.len() <= UNIT_BYTES
        && unit.chars().all(|c| c.is_alphabetic() || c == '%')
}

/// What makes a short number one that matters.
const COUNTED: &[&str] = &[
    "line",
    "lines",
    "port",
    "issue",
    "pr",
    "status",
    "code",
    "exit",
    "http",
    "error",
    "version",
    "zeile",
    "zeilen",
    "línea",
    "líneas",
    "ligne",
    "lignes",
    "puerto",
    "строка",
    "строки",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Full,
    Weak,
}

/// Whether a number is worth looking up. The numbering of a list is not, and small counts only if the source has such.
fn weight(line: &str, start: usize, number: &str) -> Option<Weight> {
    let digits = number.chars().filter(char::is_ascii_digit).count();
    if digits >= 4 || is_version(number) {
        return Some(Weight::Full);
    }
    let before = line.get(..start).unwrap_or_default();
    let behind = line.get(start + number.len()..).unwrap_or_default();
    let closes = |c: char| ".):".contains(c);
    let is_numbering = digits < 3
        && behind.starts_with(closes)
        && behind.trim_start_matches(closes).starts_with([' ', '*'])
        && before
            .trim_matches(|c: char| c.is_whitespace() || "-*#(".contains(c))
            .is_empty();
    if is_numbering {
        return None;
    }
    if number == "100" && behind.trim_start().starts_with('%') {
        return None;
    }
    // One digit without more counts something that the summary itself may have counted.
    if digits < 2 && number.len() == 1 {
        return None;
    }
    let named = |word: &str| COUNTED.iter().any(|known| known.eq_ignore_ascii_case(word));
    let is_named = before.ends_with(['#', '$', '€']) || lead(before).is_some_and(named);
    match is_named {
        true => Some(Weight::Full),
        false => Some(Weight::Weak),
    }
}

/// Between the numbers of a list: `lines 303 and 305`.
const BETWEEN: &[&str] = &["and", "or", "to", "und", "bis", "y", "e", "et", "à", "и"];

/// The last word of a text, behind which more numbers may be listed.
pub(super) fn lead(text: &str) -> Option<&str> {
    let is_listed = |word: &&str| {
        word.bytes().all(|b| b.is_ascii_digit())
            || BETWEEN.iter().any(|known| known.eq_ignore_ascii_case(word))
    };
    let end = text.trim_end_matches(|c: char| "-–(~".contains(c) || c.is_whitespace());
    // A sentence that ends is no list.
    let line = end.rsplit(['.', ';', '!', '?', ')']).next().unwrap_or(end);
    line.rsplit(|c: char| !is_letter(c))
        .filter(|word| !word.is_empty())
        .take(8)
        .find(|word| !is_listed(word))
}

#[cfg(test)]
mod tests {
    use super::{ENDING_BYTES, ENDINGS, is_file};

    #[test]
    fn every_ending_is_found() {
        assert!(ENDINGS.is_sorted());
        for ending in ENDINGS {
            assert!(ending.len() <= ENDING_BYTES, "{ending}");
            assert!(
                is_file(&format!("Name.{}", ending.to_uppercase())),
                "{ending}"
            );
        }
    }
}
