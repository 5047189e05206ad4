//! The sentences of a typed text: what is code, quotation, log or markup is left out.

use super::standing::Strength;

/// Up to this many characters a message is taken to be typed. In a longer one only rules that say that they stand
/// count: it is a plan, a report or a paste, and most of it describes.
const TYPED_MESSAGE_CHARS: usize = 1_600;
/// A sentence of this many words or fewer may only underline the one before it.
const TAIL_WORDS: usize = 4;
/// Words that begin such a sentence.
const TAILS: &[&str] = &[
    "ever",
    "not ever",
    "not even",
    "period",
    "full stop",
    "no exceptions",
    "no exception",
    "without exception",
    "really",
    "seriously",
    "i mean it",
    "nothing else",
    "no excuses",
    "niemals",
    "nicht einmal",
    "nicht mal",
    "keine ausnahme",
    "ohne ausnahme",
    "punkt",
    "sonst nichts",
    "nunca",
    "jamás",
    "ni uno",
    "ni una",
    "sin excepción",
    "sin excepciones",
    "nada más",
    "y punto",
    "jamais",
    "sans exception",
    "point final",
    "rien d'autre",
    "sem exceção",
    "sem exceções",
    "nada mais",
    "senza eccezioni",
    "nient'altro",
    "zonder uitzondering",
    "geen uitzonderingen",
    "без исключений",
    "никогда",
    "точка",
    "没有例外",
    "没有任何例外",
    "例外なし",
    "例外はありません",
    "예외 없음",
    "예외는 없습니다",
];
/// Words before a full stop that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "approx", "resp", "incl", "excl", "max", "min", "no", "nr", "ca",
    "bzw", "ggf", "usw", "z.b", "d.h", "u.a", "evtl", "inkl", "p.ej", "ej", "mr", "mrs", "ms",
    "dr", "sr", "sra", "prof", "st", "cf", "fig", "sec", "dept", "est", "jan", "feb", "mar", "apr",
    "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "т.е", "т.д", "напр", "p.ex",
    "par ex", "bv", "bijv", "o.ä", "str", "vol", "ver",
];

/// A sentence of a typed text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// The sentence, trimmed, without the mark of a list.
    pub(super) text: &'a str,
    /// Its place in a list.
    pub(super) item: Item<'a>,
    /// The kind of text it stands in.
    pub(super) register: Register,
}

/// Whether a sentence is an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// It is not.
    No,
    /// It is, under this line.
    Under(&'a str),
    /// It has a box that is not ticked.
    Open,
    /// It has a box that is ticked.
    Ticked,
}

/// The kind of text a sentence stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// A message as people type them.
    Typed,
    /// A document.
    Document,
}

impl Register {
    fn of(text: &str) -> Self {
        match text.char_indices().nth(TYPED_MESSAGE_CHARS) {
            None => Self::Typed,
            Some(_) => Self::Document,
        }
    }

    /// Whether a sentence that says so counts as a rule in such a text.
    pub(super) fn admits(self, strength: Option<Strength>) -> bool {
        match self {
            Self::Typed => strength.is_some(),
            Self::Document => strength == Some(Strength::Explicit),
        }
    }
}

/// The sentences of `text`, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let register = Register::of(text);
    let mut heading = "";
    lines(text).flat_map(move |line| {
        let line = line.trim();
        let (mut item, bare) = without_mark(line);
        match item {
            Item::No if !line.is_empty() => heading = line,
            Item::Under(_) => item = Item::Under(heading),
            _ => {}
        }
        split_line(bare).map(move |text| Piece {
            text,
            item,
            register,
        })
    })
}

/// The lines that somebody may have typed.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let mut tag: Option<&str> = None;
    text.lines().filter(move |line| {
        let bare = line.trim_start();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        if let Some(open) = tag {
            if bare.contains("</") && bare.contains(open) {
                tag = None;
            }
            return false;
        }
        if let Some(name) = opened_tag(bare) {
            // A block that never ends is a stray bracket.
            if !bare.contains("</") && text.contains(&format!("</{name}")) {
                tag = Some(name);
            }
            return false;
        }
        !fenced && !is_quotation(bare) && !is_output(bare)
    })
}

fn opened_tag(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    let name = rest.get(..end)?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && rest.contains('>')).then_some(name)
}

fn is_quotation(line: &str) -> bool {
    line.starts_with('>') || line.starts_with("| ")
}

/// Whether a line is output of a program or source, by how it begins or ends.
fn is_output(line: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "error",
        "warning:",
        "fatal:",
        "info:",
        "debug:",
        "traceback",
        "caused by",
        "panic",
        "thread '",
        "npm ",
        "$ ",
        "diff --git",
        "@@",
        "+++",
        "[info",
        "[error",
        "[warn",
        "[debug",
        "[20",
        "20",
        "at ",
        "file \"",
        "assertionerror",
        "typeerror",
        "exception",
        "e   ",
        "#include",
        "import ",
        "def ",
        "fn ",
        "const ",
        "let ",
        "var ",
        "return ",
        "//",
        "/*",
    ];
    let start: String = line.chars().take(12).flat_map(char::to_lowercase).collect();
    let looks_so = OPENINGS.iter().any(|opening| start.starts_with(opening));
    let is_timed = start.starts_with("20") && start.get(4..5) == Some("-");
    let is_code = line.ends_with([';', '{', '}'])
        || line.ends_with("();")
        || line.contains(" => ")
        || line.contains(" == ");
    match start.as_str() {
        start if start.starts_with("20") => is_timed,
        start
            if start.starts_with("let ")
                || start.starts_with("import ")
                || start.starts_with("return ") =>
        {
            is_code
        }
        start
            if start.starts_with("error")
                || start.starts_with("panic")
                || start.starts_with("exception") =>
        {
            line.contains(':') || is_code
        }
        start if start.starts_with("at ") => line.contains('(') && line.contains(':'),
        start if start.starts_with("npm ") => {
            start.starts_with("npm err") || start.starts_with("npm warn")
        }
        start if start.starts_with("const ") || start.starts_with("var ") => line.contains('='),
        _ => looks_so || is_code,
    }
}

/// A line without the mark of a list, and what the mark says.
fn without_mark(line: &str) -> (Item<'_>, &str) {
    let Some(rest) = after_bullet(line).or_else(|| after_number(line)) else {
        return (Item::No, line);
    };
    for (mark, item) in [
        ("[ ]", Item::Open),
        ("[x]", Item::Ticked),
        ("[X]", Item::Ticked),
    ] {
        if let Some(text) = rest.strip_prefix(mark) {
            return (item, text.trim_start());
        }
    }
    (Item::Under(""), rest)
}

fn after_bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '•', '–', '+', '·'])?;
    rest.starts_with(char::is_whitespace)
        .then(|| rest.trim_start())
}

fn after_number(line: &str) -> Option<&str> {
    let line = line.strip_prefix('(').unwrap_or(line);
    let digits = line
        .find(|c: char| !c.is_ascii_digit())
        .filter(|end| (1..=2).contains(end))?;
    let rest = line.get(digits..)?.strip_prefix(['.', ')', '、'])?;
    (rest.starts_with(char::is_whitespace) || line.contains('、')).then(|| rest.trim_start())
}

/// The sentences of a line. One that only underlines the one before it stays with it.
fn split_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let mut end = sentence_end(rest)?;
        while let Some(tail) = rest.get(end..).filter(|tail| is_tail(tail)) {
            end += sentence_end(tail).unwrap_or(tail.len());
        }
        let (sentence, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

/// Where the first sentence of `text` ends: after `.`, `!`, `?` when a space follows, and after their full-width forms.
fn sentence_end(text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let mut after = at + character.len_utf8();
        let ends = match character {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                while let Some((at, close)) = characters
                    .next_if(|(_, c)| matches!(c, '"' | '”' | '\'' | ')' | '»' | '!' | '?' | '.'))
                {
                    after = at + close.len_utf8();
                }
                let spaced = characters
                    .peek()
                    .is_none_or(|(_, next)| next.is_whitespace());
                spaced && !(character == '.' && is_abbreviation(text.get(..at).unwrap_or_default()))
            }
            _ => false,
        };
        if ends {
            while let Some((at, close)) =
                characters.next_if(|(_, c)| matches!(c, '」' | '』' | '）' | '”'))
            {
                after = at + close.len_utf8();
            }
            return Some(after);
        }
    }
    Some(text.len())
}

fn is_abbreviation(before: &str) -> bool {
    let start = before
        .rfind(|c: char| c.is_whitespace() || c == '(')
        .map_or(0, |at| at + 1);
    let word = before
        .get(start..)
        .unwrap_or_default()
        .trim_start_matches(|c: char| !c.is_alphanumeric());
    let letters = word.chars().count();
    letters <= 6
        && (letters == 1 && word.chars().all(char::is_alphabetic)
            || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

fn is_tail(text: &str) -> bool {
    let end = sentence_end(text).unwrap_or(0);
    let sentence = text.get(..end).unwrap_or_default().trim();
    if sentence.is_empty() || sentence.split_whitespace().count() > TAIL_WORDS {
        return false;
    }
    let lower = sentence.to_lowercase();
    let bare = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    TAILS.iter().any(|tail| {
        bare.strip_prefix(tail).is_some_and(|rest| {
            rest.is_empty()
                || (rest.starts_with(' ') && tail.starts_with("not") || tail.starts_with("ni"))
        })
    })
}
