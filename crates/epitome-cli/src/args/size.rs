//! Numbers of tokens as people write them: `8000`, `10k`, `1M`.

/// Reads a size.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match text.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (text, 1),
        },
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "number too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("8000", 8_000),
            ("10k", 10_000),
            ("200K", 200_000),
            ("1M", 1_000_000),
        ] {
            assert_eq!(size(text), Ok(expected));
        }
        for text in [
            "",
            "k",
            "-1",
            "1.5k",
            "10kk",
            "99999999999999999999",
            "99999999999999999k",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
