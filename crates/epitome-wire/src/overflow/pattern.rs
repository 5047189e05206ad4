//! Finding a wording in a text, and the numbers in it.

/// What a wording tells where it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) window_tokens: Option<u64>,
    pub(super) request_tokens: Option<u64>,
    /// The stretch of the text that fits.
    pub(super) words: String,
}

/// A text in which letters of either case are the same.
pub(super) struct Haystack<'t> {
    text: &'t str,
    lower: String,
}

impl<'t> Haystack<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // As many bytes as before, so that positions are the same.
        let lower = text.to_ascii_lowercase();
        Self { text, lower }
    }

    /// Finds a wording anywhere. `{w}` stands for the window, `{r}` for the size of the request, `{_}` for a number that is
    /// neither, `{*}` for any words. Numbers may be grouped by commas.
    pub(super) fn find(&self, pattern: &str) -> Option<Found> {
        let pattern = pattern.to_ascii_lowercase();
        let start = pattern.split('{').next().unwrap_or(&pattern);
        self.lower
            .match_indices(start)
            .find_map(|(at, _)| self.fits(at, &pattern))
    }

    fn fits(&self, at: usize, pattern: &str) -> Option<Found> {
        let whole = self.lower.get(at..)?;
        let mut found = Found::default();
        let (mut text, mut pattern) = (whole, pattern);
        while let Some((literal, rest)) = pattern.split_once('{') {
            text = text.strip_prefix(literal)?;
            let (name, after) = rest.split_once('}')?;
            pattern = after;
            if name == "*" {
                let next = after.split('{').next().unwrap_or(after);
                text = text.get(text.find(next)?..)?;
                continue;
            }
            let (number, rest) = leading_number(text)?;
            match name {
                "w" => found.window_tokens = Some(number),
                "r" => found.request_tokens = Some(number),
                _ => {}
            }
            text = rest;
        }
        let rest = text.strip_prefix(pattern)?;
        let words = self.text.get(at..at + whole.len() - rest.len())?;
        words.clone_into(&mut found.words);
        Some(found)
    }
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let length = text
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(text.len());
    let (number, _) = text.split_at_checked(length)?;
    // A comma behind the number belongs to the sentence.
    let number = number.trim_end_matches(',');
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    Some((digits.parse().ok()?, text.get(number.len()..)?))
}
