//! The values in a call's arguments.

use std::borrow::Cow;

use super::arguments::string;

/// The values in `arguments` without their names, in order. Text that is no JSON is one value.
pub(crate) fn values(arguments: &str) -> Vec<Cow<'_, str>> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        found.push(Cow::Borrowed(arguments));
        return found;
    }
    let mut rest = arguments;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some((value, behind)) = string(quoted) else {
                break;
            };
            rest = behind;
            if !rest.trim_start().starts_with(':') {
                found.push(value);
            }
        } else if rest.is_empty() {
            break;
        } else {
            let (value, behind) = rest.split_at(rest.find([',', '}', ']']).unwrap_or(rest.len()));
            rest = behind;
            // Names without a value say nothing, and neither do switches.
            if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                found.push(Cow::Borrowed(value.trim_end()));
            }
        }
    }
    found
}
