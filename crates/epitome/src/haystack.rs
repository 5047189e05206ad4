//! A text in which many others are looked for.

/// Bytes by which places are found.
const WINDOW: usize = 8;
/// Places that are compared one by one. A text that has the same bytes more often is searched from its beginning.
const PLACES: u32 = 64;
const NOWHERE: u32 = u32::MAX;

/// A text with an index of its windows of eight bytes: each question takes about as long as what is looked for, however
/// long the text is.
pub(crate) struct Haystack<'a> {
    text: &'a str,
    /// The last place of all windows with the same hash, and how many places there are.
    last: Vec<(u32, u32)>,
    /// For each place the one before it with the same hash.
    before: Vec<u32>,
}

impl<'a> Haystack<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let places = text.len().saturating_sub(WINDOW - 1);
        let mut last = vec![(NOWHERE, 0); places.next_power_of_two().max(2)];
        let mut before = Vec::with_capacity(places);
        for (at, window) in text.as_bytes().windows(WINDOW).enumerate() {
            let here = u32::try_from(at).unwrap_or(NOWHERE);
            let place = slot(window, last.len());
            before.push(last.get_mut(place).map_or(NOWHERE, |(last, count)| {
                *count += 1;
                std::mem::replace(last, here)
            }));
        }
        Self { text, last, before }
    }

    /// Whether the text has `needle` in it.
    pub(crate) fn contains(&self, needle: &str) -> bool {
        let windows = needle.as_bytes().chunks_exact(WINDOW).enumerate();
        let places = windows.filter_map(|(at, window)| {
            let (last, count) = self.last.get(slot(window, self.last.len()))?;
            Some((*count, *last, at * WINDOW))
        });
        // Where the part of it that is rarest stands, the rest is compared.
        let Some((count, last, lead)) = places.min() else {
            return self.text.contains(needle);
        };
        if count > PLACES {
            return self.text.contains(needle);
        }
        let before = |at: &u32| self.before.get(*at as usize).copied();
        std::iter::successors(Some(last), before)
            .take_while(|at| *at != NOWHERE)
            .filter_map(|at| self.text.as_bytes().get((at as usize).checked_sub(lead)?..))
            .any(|here| here.starts_with(needle.as_bytes()))
    }
}

/// Where windows like this one are remembered; `slots` is a power of two.
fn slot(window: &[u8], slots: usize) -> usize {
    let bytes: [u8; WINDOW] = window.try_into().unwrap_or_default();
    let hash = u64::from_le_bytes(bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (u64::BITS - slots.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::Haystack;

    #[test]
    fn it_finds_what_is_there_and_nothing_else() {
        let mut text =
            String::from("Never push to main. Use tabs; niemals Größe 4 übergeben. 請使用 pnpm。 ");
        text.push_str(&"ab".repeat(300));
        text.push_str("the end");
        let haystack = Haystack::new(&text);
        let ends: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        for from in ends.iter().step_by(3) {
            for to in ends.iter().filter(|to| *to >= from).step_by(5) {
                assert!(haystack.contains(&text[*from..*to]), "{from}..{to}");
            }
        }
        for other in [
            "Never push to Main.",
            "the end.",
            "Größe 5 übergeben",
            "abababababa ",
            "pnpm。  ",
        ] {
            assert_eq!(haystack.contains(other), text.contains(other), "{other}");
        }
        for short in ["", "a", "Use tab"] {
            assert!(haystack.contains(short));
            assert_eq!(Haystack::new("x").contains(short), short.is_empty());
        }
    }
}
