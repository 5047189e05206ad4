//! Spelling: strings, ids, times.

use std::collections::HashSet;

use epitome_wire::json::{self, Kind};

use super::Stamp;
use crate::transcript::Conversation;

pub(super) use epitome_wire::json::quoted;

/// Strings as a JSON list.
pub(super) fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("[{}]", texts.join(","))
}

/// A member of an object with a comma before it, if there is something to say.
pub(super) fn optional(name: &str, value: Option<String>) -> String {
    value.map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
}

/// Whether a text is a JSON object on one line, so that it can stand as it is.
pub(super) fn is_object(text: &str) -> bool {
    !text.contains(['\n', '\r'])
        && json::read(text.as_bytes()).is_ok_and(|value| {
            matches!(value.kind, Kind::Object(_)) && value.range.len() == text.len()
        })
}

/// The id of a session for agents that take nothing but a UUID: its own, or else one that follows from it.
pub(super) fn session_id(conversation: &Conversation, stamp: Stamp<'_>) -> String {
    let id = conversation.id.as_deref().unwrap_or(stamp.session_id);
    let is_uuid = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    match is_uuid {
        true => id.to_owned(),
        false => Ids::new(id).long(),
    }
}

/// Ids that depend on nothing but the session and the order of the entries.
pub(super) struct Ids {
    session: String,
    count: u64,
    given: HashSet<String>,
}

impl Ids {
    pub(super) fn new(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            count: 0,
            given: HashSet::new(),
        }
    }

    /// Gives none of these.
    pub(super) fn besides<'a>(mut self, taken: impl Iterator<Item = &'a str>) -> Self {
        self.given.extend(taken.map(str::to_owned));
        self
    }

    fn next_hash(&mut self) -> blake3::Hash {
        self.count += 1;
        blake3::hash(format!("{}/{}", self.session, self.count).as_bytes())
    }

    /// Eight hexadecimal digits that no other entry has.
    pub(super) fn short(&mut self) -> String {
        loop {
            let id: String = self.next_hash().to_hex().chars().take(8).collect();
            if self.given.insert(id.clone()) {
                return id;
            }
        }
    }

    /// In the form of a UUID.
    pub(super) fn long(&mut self) -> String {
        let hash = self.next_hash().to_hex();
        let digits = |from: usize, to: usize| hash.as_str().get(from..to).unwrap_or_default();
        format!(
            "{}-{}-4{}-a{}-{}",
            digits(0, 8),
            digits(8, 12),
            digits(12, 15),
            digits(15, 18),
            digits(18, 30)
        )
    }
}

/// A time as agents write it: `2026-01-02T03:04:05.678Z`.
pub(super) fn iso_time(time_ms: u64) -> String {
    let (days, in_day) = (time_ms / 86_400_000, time_ms % 86_400_000);
    let (year, month, day) = date(days);
    let seconds = in_day / 1_000;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        in_day % 1_000
    )
}

/// The date of a day since 1970. Years are counted from March, so that a leap day is the last of its year.
const fn date(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01; 400 years have 146,097 days.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}
