//! Exact counts in OpenAI's own vocabularies.

mod merge;
mod vocabulary;
mod words;

pub(crate) use vocabulary::{Vocabulary, cl100k, o200k};

pub(crate) fn count(vocabulary: &Vocabulary, text: &str) -> u64 {
    let words = vocabulary.words(text);
    words.map(|word| vocabulary.count(word) as u64).sum()
}

/// The longest prefix within the limit: whole words while they fit, then as much of the next as does.
pub(crate) fn prefix<'a>(vocabulary: &Vocabulary, text: &'a str, tokens: u64) -> &'a str {
    // A token is at least a byte.
    let limit = usize::try_from(tokens).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return text;
    }
    let mut end = 0;
    let mut used = 0;
    for word in vocabulary.words(text) {
        let count = vocabulary.count(word);
        if used + count > limit {
            end += vocabulary.beginning(word, limit - used);
            break;
        }
        used += count;
        end += word.len();
    }
    // What a text ends in may be split in another way than it was in the middle: white space above all.
    let mut prefix = text
        .get(..text.floor_char_boundary(end))
        .unwrap_or_default();
    while count(vocabulary, prefix) > tokens {
        let mut characters = prefix.chars();
        characters.next_back();
        prefix = characters.as_str();
    }
    prefix
}

/// The longest suffix within the limit. Counts do not add up from the end, so it is searched for.
pub(crate) fn suffix<'a>(vocabulary: &Vocabulary, text: &'a str, tokens: u64) -> &'a str {
    if text.len() as u64 <= tokens {
        return text;
    }
    let after = |from: usize| {
        text.get(text.ceil_char_boundary(from)..)
            .unwrap_or_default()
    };
    let (mut fits, mut over) = (text.len(), 0);
    // Most of a long text is far from its end: double the piece that is looked at before halving.
    let mut step = usize::try_from(tokens).unwrap_or(usize::MAX).max(16);
    while let Some(from) = text.len().checked_sub(step) {
        if count(vocabulary, after(from)) > tokens {
            over = from;
            break;
        }
        fits = from;
        step = step.saturating_mul(2);
    }
    if over == 0 && count(vocabulary, text) <= tokens {
        return text;
    }
    while fits - over > 1 {
        let middle = over + (fits - over) / 2;
        if count(vocabulary, after(middle)) > tokens {
            over = middle;
        } else {
            fits = middle;
        }
    }
    after(fits)
}
