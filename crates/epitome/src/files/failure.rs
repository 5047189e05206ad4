//! Results that say that a tool failed.

use crate::message::ToolResult;

use super::tools::Access;

/// Ways in which results of common tools begin when the tool failed, in small letters.
const OPENINGS: &[&str] = &[
    "<tool_use_error>",
    "error:",
    "api error:",
    "fatal:",
    "exception:",
    "traceback (most recent call last)",
    "command failed",
    "apply_patch verification failed",
    "permission denied",
    "{\"error\":\"",
    "{\"error\": \"",
    "{\"error\":{",
    "{\"error\": {",
];
/// Ways in which an exit code is told; any code but zero is a failure.
const EXIT_CODES: &[&str] = &[
    "exit code",
    "exit status",
    "exited with code",
    "command exited with code",
    "process exited with code",
];

/// Whether a result says that its tool failed: by its flag, or by how its text begins. What a read returns may be a
/// file that begins so, and only counts when it is a single line.
pub(super) fn is_failure(result: &ToolResult, access: Option<Access>) -> bool {
    if result.is_error {
        return true;
    }
    let Some(text) = result.texts().map(str::trim).find(|text| !text.is_empty()) else {
        return false;
    };
    let start: String = text.chars().take(64).collect();
    let start = start.to_lowercase();
    if start.starts_with("<tool_use_error>") {
        return true;
    }
    let may_be_content = access == Some(Access::Read) && text.lines().nth(1).is_some();
    !may_be_content
        && (OPENINGS.iter().any(|opening| start.starts_with(opening)) || has_exit_code(&start))
}

fn has_exit_code(start: &str) -> bool {
    EXIT_CODES
        .iter()
        .filter_map(|opening| start.strip_prefix(opening))
        .any(|rest| {
            let code = rest.trim_start_matches([':', ' ']);
            let digits = code
                .find(|c: char| c != '-' && !c.is_ascii_digit())
                .map_or(code, |end| code.get(..end).unwrap_or_default());
            digits.parse::<i64>().is_ok_and(|code| code != 0)
        })
}
