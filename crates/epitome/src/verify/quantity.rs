//! Numbers as amounts: "10.000", "10 000" and "10k" are one, and so are "9 pm" and "21:00".

use std::ops::Range;

use super::word::{is_unspaced, words};
use super::{spelled, stance};

/// Minutes of a day stand apart from what is counted.
const CLOCK: u64 = 1 << 40;
const HOUR_MINUTES: u64 = 60;
const NOON_HOURS: u64 = 12;
/// Digits behind each sign between thousands.
const GROUP_DIGITS: usize = 3;
/// Words that multiply the number before them, and what is written together with it.
const SCALES: &[(&str, u64)] = &[
    ("k", 1_000),
    ("thousand", 1_000),
    ("tausend", 1_000),
    ("tsd", 1_000),
    ("mille", 1_000),
    ("mil", 1_000),
    ("тыс", 1_000),
    ("тысяч", 1_000),
    ("тысячи", 1_000),
    ("тысяча", 1_000),
    ("千", 1_000),
    ("万", 10_000),
    ("m", 1_000_000),
    ("million", 1_000_000),
    ("millions", 1_000_000),
    ("millionen", 1_000_000),
    ("millones", 1_000_000),
    ("млн", 1_000_000),
];
/// Units by the beginnings of their names, and how many of the next smaller one they hold.
const UNITS: &[(&str, u64)] = &[
    ("week", 7),
    ("woche", 7),
    ("semaine", 7),
    ("semana", 7),
    ("недел", 7),
    ("周", 7),
    ("hour", 60),
    ("stunde", 60),
    ("heure", 60),
    ("hora", 60),
    ("час", 60),
    ("小时", 60),
    ("day", 24),
    ("tag", 24),
    ("jour", 24),
    ("día", 24),
    ("дн", 24),
    ("天", 24),
    ("year", 12),
    ("jahr", 12),
    ("an", 12),
    ("año", 12),
    ("год", 12),
    ("лет", 12),
    ("年", 12),
];
/// Words behind the hour of a clock.
const HOURS: &[&str] = &["h", "uhr", "am", "pm", "heures", "点", "часов", "часа"];
const AFTERNOON: &[&str] = &["pm", "p.m"];
/// Half an hour in words.
const HALF_HOURS: &[&str] = &[
    "half an hour",
    "halbe stunde",
    "halben stunde",
    "demi-heure",
    "media hora",
    "полчаса",
    "半小时",
    "半个小时",
];

/// An amount in a text.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub(super) place: Range<usize>,
    /// All that it may come to.
    values: Vec<u64>,
}

impl Quantity {
    /// Whether one of these, sorted, is what it may come to.
    pub(super) fn is_among(&self, values: &[u64]) -> bool {
        let mut own = self.values.iter();
        own.any(|value| values.binary_search(value).is_ok())
    }
}

/// Everything that the amounts of a text may come to.
pub(super) fn values(text: &str) -> Vec<u64> {
    let plain = stance::in_figures(text);
    let all = quantities(plain.as_deref().unwrap_or(text)).into_iter();
    all.flat_map(|quantity| quantity.values).collect()
}

/// The amounts of a text.
pub(super) fn quantities(text: &str) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_digit(text, at) {
        let number = Digits::read(text, start);
        at = number.end;
        found.push(number.quantity(text));
    }
    for word in words(text) {
        let lower = word.text.to_lowercase();
        let value = spelled::figures(&lower).and_then(|figures| figures.parse().ok());
        if let Some(value) = value {
            let end = word.start + word.text.len();
            let behind = text.get(end..).unwrap_or_default();
            found.push(Quantity {
                place: word.start..end,
                values: measured(value, behind),
            });
        }
    }
    let lower = text.to_lowercase();
    if HALF_HOURS.iter().any(|half| lower.contains(half)) {
        found.push(Quantity {
            place: 0..0,
            values: vec![HOUR_MINUTES / 2],
        });
    }
    found
}

fn next_digit(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.find(|c: char| c.is_ascii_digit())
        .map(|digit| at + digit)
}

/// A number in figures.
struct Digits {
    start: usize,
    end: usize,
    whole: u64,
    /// What stands behind a point that is none between thousands, and its digits.
    part: Option<(u64, u32)>,
}

impl Digits {
    fn read(text: &str, start: usize) -> Self {
        let digits = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
        };
        let first = digits(start);
        let mut end = start + first.len();
        let mut whole = first.to_owned();
        let mut part = None;
        while let Some(sign) = text.get(end..).and_then(|rest| rest.chars().next()) {
            let behind = digits(end + sign.len_utf8());
            let is_group = behind.len() == GROUP_DIGITS
                && first.len() <= GROUP_DIGITS
                && matches!(sign, '.' | ',' | ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}');
            if is_group {
                whole.push_str(behind);
                end += sign.len_utf8() + behind.len();
                continue;
            }
            if matches!(sign, '.' | ',') && !behind.is_empty() {
                let places = u32::try_from(behind.len()).unwrap_or(u32::MAX);
                part = behind.parse().ok().map(|value| (value, places));
                end += sign.len_utf8() + behind.len();
            }
            break;
        }
        Self {
            start,
            end,
            whole: whole.parse().unwrap_or(u64::MAX),
            part,
        }
    }

    fn quantity(&self, text: &str) -> Quantity {
        let behind = text.get(self.end..).unwrap_or_default();
        let mut end = self.end;
        let mut values = Vec::new();
        if let Some((minutes, bytes)) = minutes(behind) {
            end += bytes;
            values.extend(self.clock(minutes, behind.get(bytes..).unwrap_or_default()));
        } else {
            match self.part {
                None => values.extend(measured(self.whole, behind)),
                // "1.2k"
                Some((part, places)) => {
                    let scale = first_word(behind).and_then(|word| scale(&word));
                    let step = 10_u64.checked_pow(places);
                    let value = scale.zip(step).and_then(|(scale, step)| {
                        let whole = self.whole.checked_mul(scale)?;
                        whole.checked_add(part.checked_mul(scale)? / step)
                    });
                    values.extend(value);
                }
            }
            let is_hour = first_word(behind).is_some_and(|word| HOURS.contains(&word.as_str()));
            if is_hour {
                values.extend(self.clock(0, behind));
            }
        }
        Quantity {
            place: self.start..end,
            values,
        }
    }

    /// The time of a clock, in the afternoon where it is said so.
    fn clock(&self, minutes: u64, behind: &str) -> Option<u64> {
        let is_later = first_word(behind).is_some_and(|word| AFTERNOON.contains(&word.as_str()));
        let hours = match self.whole {
            hours if is_later && hours < NOON_HOURS => hours + NOON_HOURS,
            hours => hours,
        };
        (hours <= 2 * NOON_HOURS).then(|| CLOCK + hours * HOUR_MINUTES + minutes)
    }
}

/// The minutes behind the hour of a clock, and how many bytes they take: `:30`, `h30`.
fn minutes(behind: &str) -> Option<(u64, usize)> {
    let rest = behind.strip_prefix([':', 'h', '：'])?;
    let digits = rest.get(..2)?;
    let is_end = !rest.get(2..)?.starts_with(|c: char| c.is_ascii_digit());
    let minutes = digits
        .parse()
        .ok()
        .filter(|minutes| *minutes < HOUR_MINUTES);
    let bytes = behind.len() - rest.len() + digits.len();
    minutes.filter(|_| is_end).map(|minutes| (minutes, bytes))
}

/// What a number comes to with the word behind it: "2 weeks" are 14 days.
fn measured(value: u64, behind: &str) -> Vec<u64> {
    let mut values = vec![value];
    if let Some(word) = first_word(behind) {
        values.extend(scale(&word).and_then(|scale| value.checked_mul(scale)));
        let unit = UNITS.iter().find(|(name, _)| word.starts_with(name));
        values.extend(unit.and_then(|(_, parts)| value.checked_mul(*parts)));
    }
    values
}

fn scale(word: &str) -> Option<u64> {
    let found = SCALES.iter().find(|(name, _)| *name == word);
    found.map(|(_, scale)| *scale)
}

/// The first word of a text, in small letters; of a script without spaces as much as may be a unit.
fn first_word(text: &str) -> Option<String> {
    let text = text.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
    let is_unspaced_text = text.starts_with(is_unspaced);
    let chars = text.chars().take_while(|c| c.is_alphabetic());
    let word: String = match is_unspaced_text {
        true => chars.take(2).collect(),
        false => chars.flat_map(char::to_lowercase).collect(),
    };
    (!word.is_empty()).then_some(word)
}
