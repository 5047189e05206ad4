//! The values inside the arguments of a tool call, without the keys: what the model wrote, not how it is spelled.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// All values of a JSON text on lines of their own; a text that is no JSON is taken as it is.
#[must_use]
pub fn flat(arguments: &str) -> String {
    match serde_json::from_str::<Leaves>(arguments) {
        Ok(Leaves(leaves)) => leaves.join("\n"),
        Err(_) => arguments.to_owned(),
    }
}

struct Leaves(Vec<String>);

impl<'de> Deserialize<'de> for Leaves {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LeafVisitor)
    }
}

struct LeafVisitor;

impl LeafVisitor {
    fn one<E>(leaf: impl Into<String>) -> Result<Leaves, E> {
        Ok(Leaves(vec![leaf.into()]))
    }
}

impl<'de> Visitor<'de> for LeafVisitor {
    type Value = Leaves;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_str<E>(self, value: &str) -> Result<Leaves, E> {
        Self::one(value)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Leaves, E> {
        Self::one(if value { "True" } else { "False" })
    }

    fn visit_u64<E>(self, value: u64) -> Result<Leaves, E> {
        Self::one(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Leaves, E> {
        Self::one(value.to_string())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Leaves, E> {
        Self::one(float(value))
    }

    fn visit_unit<E>(self) -> Result<Leaves, E> {
        Ok(Leaves(Vec::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Leaves, A::Error> {
        let mut leaves = Vec::new();
        while let Some(Leaves(item)) = items.next_element()? {
            leaves.extend(item);
        }
        Ok(Leaves(leaves))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Leaves, A::Error> {
        let mut fields: Vec<(String, Vec<String>)> = Vec::new();
        while let Some((key, Leaves(value))) = entries.next_entry::<String, Leaves>()? {
            // A key that comes twice keeps its first place and its last value.
            match fields.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = value,
                None => fields.push((key, value)),
            }
        }
        Ok(Leaves(fields.into_iter().flat_map(|(_, v)| v).collect()))
    }
}

/// A number with a point, or with an exponent of at least two digits where it is very large or very small.
fn float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) {
        return format!("{value:?}");
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, size) = match exponent.strip_prefix('-') {
                Some(size) => ('-', size),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{size:0>2}")
        }
        None => scientific,
    }
}
