//! Times as agents write them.

use epitome_wire::json::Value;

/// When an entry was written, in milliseconds since 1970.
pub(crate) fn of_entry(entry: &Value<'_>) -> Option<u64> {
    let written = entry.string("timestamp")?;
    parsed(&written)
}

/// Reads `2026-01-02T03:04:05.678Z`; the part of a second may be missing or longer, and so may the zone, which then is
/// taken for UTC.
fn parsed(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', ' '])?;
    let mut date = date.split('-').map(str::parse::<u64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let (time, ahead_minutes) = without_zone(time)?;
    let (clock, part) = time.split_once('.').unwrap_or((time, ""));
    let mut clock = clock.split(':').map(str::parse::<u64>);
    let (hour, minute) = (clock.next()?.ok()?, clock.next()?.ok()?);
    let second = clock.next().unwrap_or(Ok(0)).ok()?;
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    let part: u64 = part.parse().ok()?;
    let is_time = hour < 24 && minute < 60 && second <= 60;
    if !is_time || !(1..=12).contains(&month) || !(1..=31).contains(&day) || year > 9_999 {
        return None;
    }
    let minutes = (days(year, month, day)? * 24 + hour) * 60 + minute;
    let minutes = minutes.checked_add_signed(-ahead_minutes)?;
    Some((minutes * 60 + second) * 1_000 + part)
}

/// A time without its zone, and how many minutes that is ahead of UTC.
fn without_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, zone) = time.split_at_checked(at)?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone.get(1..)?;
    let (hours, minutes) = match zone.split_once(':') {
        Some(parts) => parts,
        None => zone.split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some((time, sign * (hours * 60 + minutes)))
}

/// Days since 1970. Years are counted from March, so that a leap day is the last of its year.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 {
        year.checked_sub(1)?
    } else {
        year
    };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
