use serde_json::Value;

use super::{Rule, Violation};
use crate::signature;
use crate::wire::{block_type, text};

/// Whether signatures are compared with those the testkit makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signatures {
    /// Every signature must be the testkit's own.
    Own,
    /// Signatures come from a real provider and can only be checked for presence.
    Foreign,
}

pub(super) fn is_thinking(block: &Value) -> bool {
    matches!(block_type(block), "thinking" | "redacted_thinking")
}

/// Checks one thinking block by itself.
pub(super) fn check(
    message: usize,
    position: usize,
    block: &Value,
    signatures: Signatures,
    violations: &mut Vec<Violation>,
) {
    let mut report = |rule, detail: &str| {
        violations.push(Violation::of_block(rule, message, position, detail));
    };
    if block
        .get("cache_control")
        .is_some_and(|mark| !mark.is_null())
    {
        report(
            Rule::CacheMarkOnThinking,
            "thinking.cache_control: Extra inputs are not permitted",
        );
    }
    if block_type(block) == "redacted_thinking" {
        if text(block, "data").is_empty() {
            report(
                Rule::MissingThinking,
                "redacted_thinking.data: Field required",
            );
        }
        return;
    }
    let Some(thinking) = block.get("thinking").and_then(Value::as_str) else {
        report(
            Rule::MissingThinking,
            "each thinking block must contain thinking",
        );
        return;
    };
    match block.get("signature").and_then(Value::as_str) {
        None | Some("") => report(Rule::MissingSignature, "thinking.signature: Field required"),
        Some(signature)
            if signatures == Signatures::Own && signature != signature::sign(thinking) =>
        {
            report(
                Rule::InvalidSignature,
                "Invalid `signature` in `thinking` block",
            );
        }
        Some(_) => {}
    }
}
