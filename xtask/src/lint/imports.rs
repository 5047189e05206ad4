//! Which paths a source text names from the root of its crate, found by a small scanner that knows comments, strings,
//! inline modules and code for tests.

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;

/// A path behind the root of a crate, or behind `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// Its first segment: a module, or something that the root re-exports.
    pub(super) first: String,
    /// The name by which it is known afterwards.
    pub(super) name: String,
}

/// What the text of a module that lies `depth` modules below the root names from there: `crate::…`, and `super::…` where
/// that leads to the root.
pub(super) fn from_root(source: &str, depth: usize) -> Vec<Import> {
    let tokens = product_tokens(source);
    let mut found = Vec::new();
    let mut open_braces = 0_usize;
    let mut inline_modules = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match *token {
            "{" => open_braces += 1,
            "}" => {
                open_braces = open_braces.saturating_sub(1);
                inline_modules.retain(|opened| *opened <= open_braces);
            }
            "mod" if tokens.get(at + 1) == Some(&"{") => inline_modules.push(open_braces + 1),
            "crate" if tokens.get(at) == Some(&"::") => {
                at = tree(&tokens, at + 1, None, &mut found);
            }
            "super" => {
                let mut above = 1;
                while tokens.get(at) == Some(&"::") && tokens.get(at + 1) == Some(&"super") {
                    above += 1;
                    at += 2;
                }
                let is_root = above == depth + inline_modules.len();
                if is_root && tokens.get(at) == Some(&"::") {
                    at = tree(&tokens, at + 1, None, &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

/// What the root of a crate imports, and so offers as `crate::NAME`.
pub(super) fn at_root(source: &str) -> Vec<Import> {
    let tokens = product_tokens(source);
    let mut found = Vec::new();
    for (at, _) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| **token == "use")
    {
        let mut start = at + 1;
        while matches!(tokens.get(start), Some(&("crate" | "self"))) {
            start += 2;
        }
        tree(&tokens, start, None, &mut found);
    }
    found
}

/// The words and signs of the product's own code: no comments, no texts, nothing that is compiled for tests only.
pub(super) fn product_tokens(source: &str) -> Vec<&str> {
    without_tests(&tokens(source))
}

/// The crate of a source file, and its path in `src` without the ending.
pub(super) fn place(path: &str) -> Option<(&str, &str)> {
    let (folder, inside) = path.strip_prefix("crates/")?.split_once("/src/")?;
    Some((folder, inside.strip_suffix(".rs")?))
}

/// Reads a path, or a tree of paths in braces, and says where it ends. Of a glob only what stands before it is named.
fn tree(tokens: &[&str], mut at: usize, first: Option<&str>, found: &mut Vec<Import>) -> usize {
    let mut first = first;
    loop {
        let word = match tokens.get(at) {
            Some(&"{") => return branches(tokens, at + 1, first, found),
            Some(word) if is_word(word) => *word,
            _ => return at,
        };
        let top = first.unwrap_or(word);
        at += 1;
        if tokens.get(at) == Some(&"::") {
            at += 1;
            // `::<T>` and `::*` end a path like any other sign.
            let goes_on = |token: &&str| is_word(token) || *token == "{";
            if tokens.get(at).is_some_and(goes_on) {
                first = Some(top);
                continue;
            }
        }
        let mut name = word;
        if tokens.get(at) == Some(&"as") {
            name = tokens.get(at + 1).copied().unwrap_or(word);
            at += 2;
        }
        found.push(Import {
            first: top.to_owned(),
            name: name.to_owned(),
        });
        return at;
    }
}

/// Reads trees up to the closing brace.
fn branches(tokens: &[&str], mut at: usize, first: Option<&str>, found: &mut Vec<Import>) -> usize {
    while let Some(token) = tokens.get(at) {
        match *token {
            "}" => return at + 1,
            "," => at += 1,
            _ => at = tree(tokens, at, first, found).max(at + 1),
        }
    }
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The tokens but for what is compiled for tests only.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const FOR_TESTS: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if !tokens.get(at..).unwrap_or_default().starts_with(&FOR_TESTS) {
            kept.push(*token);
            at += 1;
            continue;
        }
        at += FOR_TESTS.len();
        let mut open = 0_usize;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match *token {
                "{" => open += 1,
                "}" => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 && matches!(*token, ";" | "}") {
                break;
            }
        }
    }
    kept
}

/// Words, `::` and single signs. Comments, strings, characters and lifetimes are left out.
fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if next == '"' {
            quoted(rest, '"')
        } else if next == '\'' {
            character(rest)
        } else if next.is_alphanumeric() || next == '_' {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let length = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            tokens.extend(rest.get(..length));
            length
        } else {
            let length = if rest.starts_with("::") {
                2
            } else {
                next.len_utf8()
            };
            tokens.extend(rest.get(..length).filter(|sign| !sign.trim().is_empty()));
            length
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// The length of a comment that may hold others.
fn block_comment(text: &str) -> usize {
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            open += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            open -= 1;
            at += 2;
            if open == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of `r"…"`, `r#"…"#` and their siblings with bytes and C strings.
fn raw_string(text: &str) -> Option<usize> {
    let behind = ["r", "br", "cr"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let inside = behind.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(text.len() - inside.len() + length)
}

/// The length of a text in quotes, in which a backslash takes the next sign with it.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == quote {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The length of a character, or of the quote alone where it begins a lifetime.
fn character(text: &str) -> usize {
    let mut letters = text.chars().skip(1);
    let (first, second) = (letters.next(), letters.next());
    if first == Some('\\') || second == Some('\'') {
        quoted(text, '\'')
    } else {
        1
    }
}
