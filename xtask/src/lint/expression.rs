//! SPDX licence expressions: `OR`, `AND`, `WITH`, parentheses, and the older `/` for `OR`.

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;

/// Whether the licences that `is_allowed` accepts are enough. `A WITH B` is asked for as one name. The error is a
/// sentence.
pub(super) fn is_satisfied(
    expression: &str,
    is_allowed: &dyn Fn(&str) -> bool,
) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut parser = Parser {
        words: spaced.split_whitespace().peekable(),
        is_allowed,
    };
    let answer = parser.alternatives()?;
    match parser.words.next() {
        None => Ok(answer),
        Some(word) => Err(format!("`{word}` is not expected here")),
    }
}

struct Parser<'a> {
    words: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
    is_allowed: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn alternatives(&mut self) -> Result<bool, String> {
        let mut answer = self.conjunction()?;
        while self.words.next_if_eq(&"OR").is_some() {
            answer |= self.conjunction()?;
        }
        Ok(answer)
    }

    fn conjunction(&mut self) -> Result<bool, String> {
        let mut answer = self.single()?;
        while self.words.next_if_eq(&"AND").is_some() {
            answer &= self.single()?;
        }
        Ok(answer)
    }

    fn single(&mut self) -> Result<bool, String> {
        match self.words.next() {
            Some("(") => {
                let answer = self.alternatives()?;
                match self.words.next() {
                    Some(")") => Ok(answer),
                    _ => Err("a parenthesis is not closed".to_owned()),
                }
            }
            Some(word @ (")" | "OR" | "AND" | "WITH")) => {
                Err(format!("a licence is missing before `{word}`"))
            }
            Some(license) if self.words.next_if_eq(&"WITH").is_some() => match self.words.next() {
                Some(exception) => Ok((self.is_allowed)(&format!("{license} WITH {exception}"))),
                None => Err("an exception is missing at the end".to_owned()),
            },
            Some(license) => Ok((self.is_allowed)(license)),
            None => Err("a licence is missing at the end".to_owned()),
        }
    }
}
