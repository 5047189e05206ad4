//! The line that stands for a result that is not shown.

use crate::message::{Call, ResultPart, ToolResult};
use crate::meter::Meter;
use crate::one_line::one_line;
use crate::pruning::Recall;
use crate::reference::vibe::grouped;

/// How every placeholder begins.
pub const PLACEHOLDER_MARK: &str = "[Left out: ";

const NAME_CHARS: usize = 64;
const ARGUMENTS_CHARS: usize = 120;
const ID_CHARS: usize = 64;

/// What stands for one part of a result; `whose` on the first of them, to name the call and the way to the rest. Nothing
/// for parts of an unknown kind.
pub(super) fn line(
    part: &ResultPart,
    whose: Option<(&ToolResult, Option<&Call>)>,
    recall: &Recall,
    meter: Meter,
) -> Option<String> {
    let (what, size) = match part {
        ResultPart::Text(text) => (
            "text",
            format!(
                "{} characters, about {} tokens",
                grouped(text.chars().count() as u64),
                grouped(meter.text(text))
            ),
        ),
        ResultPart::Media(media) => (
            media.kind.as_str(),
            format!("about {} tokens", grouped(u64::from(media.tokens))),
        ),
        ResultPart::Opaque { .. } => return None,
    };
    let Some((result, call)) = whose else {
        return Some(format!("{PLACEHOLDER_MARK}{what}, {size}.]"));
    };
    let name = call.map_or_else(
        || "a tool".to_owned(),
        |call| one_line(&call.name, NAME_CHARS),
    );
    let arguments = call.map(|call| one_line(&call.arguments, ARGUMENTS_CHARS));
    let arguments = arguments
        .filter(|arguments| !arguments.is_empty() && arguments != "{}")
        .map_or_else(String::new, |arguments| format!(" {arguments}"));
    let way = match recall {
        Recall::None => String::new(),
        Recall::Phrase(phrase) => {
            let id = one_line(&result.call_id, ID_CHARS);
            format!(" {}", phrase.replace("{id}", &id))
        }
    };
    let kind = if what == "text" {
        String::new()
    } else {
        format!("{what}, ")
    };
    Some(format!(
        "{PLACEHOLDER_MARK}result of {name}{arguments}, {kind}{size}.{way}]"
    ))
}
