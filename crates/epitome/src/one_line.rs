//! A text as one line for people.

/// `text` on one line of at most `chars` characters: runs of spaces, line breaks and control characters become
/// one space, and `…` stands for what did not fit.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    let mut held = 0;
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    for word in words {
        let gap = usize::from(held > 0);
        let room = chars.saturating_sub(held + gap);
        let size = word.chars().count();
        if size > room {
            return shortened(&line, word, chars);
        }
        if gap > 0 {
            line.push(' ');
        }
        line.push_str(word);
        held += gap + size;
    }
    line
}

fn shortened(line: &str, word: &str, chars: usize) -> String {
    let whole = if line.is_empty() {
        word.to_owned()
    } else {
        format!("{line} {word}")
    };
    let kept: String = whole.chars().take(chars.saturating_sub(1)).collect();
    let mut kept = kept.trim_end().to_owned();
    if chars > 0 {
        kept.push('…');
    }
    kept
}
