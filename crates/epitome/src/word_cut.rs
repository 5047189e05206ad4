//! Where a text may be cut, so that no name is cut in two: half an address names something that nobody named.

/// What ends a name by itself, in code and in data.
const ENDS: &[char] = &[
    '"', '\'', '`', '<', '>', '(', ')', '[', ']', '{', '}', '|', '\\',
];
/// Scripts from here on are written without spaces.
const UNSPACED: char = '\u{2e80}';
/// A cut is looked for this far back, in bytes; more would waste what fits.
const LOOK_BACK: usize = 160;

/// At most `chars` characters of a text, up to where no name is cut in two. Nothing where that is nowhere near.
pub(crate) fn first_words(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else {
        return text;
    };
    let (front, behind) = text.split_at_checked(end).unwrap_or((text, ""));
    let last_space = front.rfind(char::is_whitespace);
    if let Some(at) = last_space.filter(|at| end - at <= LOOK_BACK) {
        return front.get(..at).unwrap_or_default();
    }
    let word_at = last_space.map_or(0, |at| at + 1);
    let word = front.get(word_at..).unwrap_or_default();
    let from = word.len().saturating_sub(LOOK_BACK);
    let mut after = behind.chars().next();
    for (at, before) in word.char_indices().rev() {
        if at < from {
            break;
        }
        if after.is_some_and(|after| is_border(before, after) || is_gap(word, at, before, after)) {
            let cut = word_at + at + before.len_utf8();
            return front.get(..cut).unwrap_or_default();
        }
        after = Some(before);
    }
    ""
}

/// A text on one line of at most `chars` characters, with a sign where it was cut; no name is cut in two.
pub(crate) fn clip(text: &str, chars: usize) -> String {
    // More than this is cut off anyway, however much of it is space.
    let near = text
        .char_indices()
        .nth(chars.saturating_mul(8))
        .map_or(text, |(at, _)| text.get(..at).unwrap_or(text));
    let mut line = String::with_capacity(near.len().min(chars * 4));
    for word in near
        .split(|one: char| one.is_whitespace() || one.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if near.len() == text.len() && line.chars().nth(chars).is_none() {
        return line;
    }
    let front = first_words(&line, chars.saturating_sub(2)).trim_end().len();
    line.truncate(front);
    // Apart, so that the sign does not become a part of a name.
    line.push_str(" …");
    line
}

/// At most `chars` characters of the end of a text, from where no name is cut in two.
pub(crate) fn last_words(text: &str, chars: usize) -> &str {
    let count = text.chars().count();
    let Some((start, _)) = text.char_indices().nth(count.saturating_sub(chars)) else {
        return "";
    };
    if start == 0 {
        return text;
    }
    let (front, end) = text.split_at_checked(start).unwrap_or(("", text));
    whole_words(front, end, "")
}

/// What is left of a text behind a word that is too long to quote.
pub(crate) fn behind_long_word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || ENDS.contains(&c));
    let rest = end.and_then(|at| text.get(at..)).unwrap_or_default();
    rest.trim_start_matches(|c: char| c.is_whitespace() || ENDS.contains(&c))
}

/// The part of `text` between two others that begins and ends with whole words: half a word is in one of the others.
pub(crate) fn whole_words<'a>(before: &str, text: &'a str, after: &str) -> &'a str {
    let is_end = |c: char| c.is_whitespace() || ENDS.contains(&c);
    let parts = |c: Option<char>| c.is_some_and(|c| !is_end(c));
    let mut whole = text;
    if parts(before.chars().next_back()) && parts(whole.chars().next()) {
        let start = whole.find(is_end).unwrap_or(whole.len());
        whole = whole.get(start..).unwrap_or_default();
    }
    if parts(after.chars().next()) && parts(whole.chars().next_back()) {
        let end = whole.trim_end_matches(|c| !is_end(c)).len();
        whole = whole.get(..end).unwrap_or_default();
    }
    whole
}

fn is_border(before: char, after: char) -> bool {
    ENDS.contains(&before) || ENDS.contains(&after)
}

/// Whether the text may be cut between two characters of a script without spaces. Addresses are written in such
/// characters too.
fn is_gap(word: &str, at: usize, before: char, after: char) -> bool {
    let run = || {
        let front = word.get(..at).unwrap_or_default();
        front.rsplit(ENDS).next().unwrap_or_default()
    };
    before >= UNSPACED && after >= UNSPACED && !run().contains(['/', '@', '.'])
}
