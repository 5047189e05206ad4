//! Exact counts in OpenAI's own vocabularies.

use bpe_openai::Tokenizer;
use bpe_openai::appendable_encoder::AppendableEncoder;

/// How far past the limit a word is followed: a longer beginning of a word may take fewer tokens.
const LOOK_AHEAD_TOKENS: usize = 16;

pub(crate) fn count(tokenizer: &Tokenizer, text: &str) -> u64 {
    tokenizer.count(text) as u64
}

/// The longest prefix within the limit: whole words while they fit, then as much of the next as does.
pub(crate) fn prefix<'a>(tokenizer: &Tokenizer, text: &'a str, tokens: u64) -> &'a str {
    // A token is at least a byte.
    let limit = usize::try_from(tokens).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return text;
    }
    let mut end = 0;
    let mut used = 0;
    for piece in tokenizer.split(text) {
        let count = tokenizer.bpe.count(piece.as_bytes());
        if used + count > limit {
            end += longest_part(tokenizer, piece, limit - used);
            break;
        }
        used += count;
        end += piece.len();
    }
    // What a text ends in may be split in another way than it was in the middle: white space above all.
    let mut prefix = text.get(..end).unwrap_or_default();
    while count(tokenizer, prefix) > tokens {
        let mut characters = prefix.chars();
        characters.next_back();
        prefix = characters.as_str();
    }
    prefix
}

/// The longest suffix within the limit. Counts do not add up from the end, so it is searched for.
pub(crate) fn suffix<'a>(tokenizer: &Tokenizer, text: &'a str, tokens: u64) -> &'a str {
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
        if count(tokenizer, after(from)) > tokens {
            over = from;
            break;
        }
        fits = from;
        step = step.saturating_mul(2);
    }
    if over == 0 && count(tokenizer, text) <= tokens {
        return text;
    }
    while fits - over > 1 {
        let middle = over + (fits - over) / 2;
        if count(tokenizer, after(middle)) > tokens {
            over = middle;
        } else {
            fits = middle;
        }
    }
    after(fits)
}

/// Bytes of the longest beginning of a word that takes at most `limit` tokens by itself.
fn longest_part(tokenizer: &Tokenizer, word: &str, limit: usize) -> usize {
    let mut encoder = AppendableEncoder::new(&tokenizer.bpe);
    let mut longest = 0;
    for (at, character) in word.char_indices() {
        let end = at + character.len_utf8();
        encoder.extend(
            word.as_bytes()
                .get(at..end)
                .unwrap_or_default()
                .iter()
                .copied(),
        );
        let count = encoder.token_count();
        if count <= limit {
            longest = end;
        } else if count > limit + LOOK_AHEAD_TOKENS {
            break;
        }
    }
    longest
}
