//! Values spelled anew.

use super::{Kind, Value, escape};

/// The value without the space that is not inside strings.
pub(crate) fn compacted(value: &Value<'_>) -> String {
    let mut out = Vec::new();
    compact(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn compact(value: &Value<'_>, out: &mut Vec<u8>) {
    match &value.kind {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::Bool(true) => out.extend_from_slice(b"true"),
        Kind::Bool(false) => out.extend_from_slice(b"false"),
        Kind::Number(number) => out.extend_from_slice(number.as_bytes()),
        Kind::Text(text) => quote(&text.decode(), out),
        Kind::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                compact(item, out);
            }
            out.push(b']');
        }
        Kind::Object(members) => {
            out.push(b'{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                quote(&name.decode(), out);
                out.push(b':');
                compact(value, out);
            }
            out.push(b'}');
        }
    }
}

/// A string with its quotes.
fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escape(text, out);
    out.push(b'"');
}
