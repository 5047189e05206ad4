//! Numbers, in figures or in words.

use crate::verify::spelled;
use crate::verify::word::is_unspaced;

/// Chinese figures, and what they are multiplied by.
const FIGURES: &str = "〇一二三四五六七八九";
const SCALES: [(char, u32); 4] = [('十', 10), ('百', 100), ('千', 1_000), ('万', 10_000)];
/// Behind a single figure these tell that it counts something: 三个, but not 三方.
const MEASURES: &str = "个次天条字元页行分秒小周月年人张份句段倍点名位块台件轮道层遍";
/// Hours after which a clock begins again.
const CLOCK: u32 = 12;
const DAY: u32 = 24;

/// A number in figures as it is compared: without the commas between thousands. `None` for what is no plain number.
pub(super) fn value(word: &str) -> Option<u32> {
    let figures = match word.bytes().next()? {
        b'0'..=b'9' => word.replace(',', ""),
        _ => spelled::figures(word)?.to_owned(),
    };
    figures.parse().ok()
}

/// Whether two numbers may be the same: hours are counted in two ways.
pub(super) const fn may_be_same(one: u32, other: u32) -> bool {
    one == other || one <= DAY && other <= DAY && one % CLOCK == other % CLOCK
}

/// A sentence with its Chinese numbers in figures: 两百字 → 200 字.
pub(in crate::verify) fn in_figures(text: &str) -> Option<String> {
    if !text.contains(is_unspaced) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| digit(c).is_none() && scale(c).is_none());
        let (run, behind) = rest.split_at(length.unwrap_or(rest.len()));
        let next = behind.chars().next();
        match spoken(run).filter(|_| is_number(run, next)) {
            Some(value) => {
                plain.push_str(&format!(" {value} "));
                rest = behind;
            }
            None => {
                let taken = run.len().max(first.len_utf8());
                let (taken, behind) = rest.split_at(taken);
                plain.push_str(taken);
                rest = behind;
            }
        }
    }
    Some(plain)
}

fn digit(c: char) -> Option<u32> {
    let c = if c == '两' { '二' } else { c };
    let at = FIGURES.chars().position(|figure| figure == c)?;
    u32::try_from(at).ok()
}

fn scale(c: char) -> Option<u32> {
    let found = SCALES.iter().find(|(sign, _)| *sign == c);
    found.map(|(_, scale)| *scale)
}

/// Whether signs are meant as a number, and are no part of a word: 一定, 百分, 千万.
fn is_number(run: &str, next: Option<char>) -> bool {
    let mut signs = run.chars();
    match (signs.next(), signs.next()) {
        (Some(one), None) => one != '一' && next.is_some_and(|next| MEASURES.contains(next)),
        (Some(first), Some(_)) => digit(first).is_some() || first == '十',
        _ => false,
    }
}

/// What the signs of a number come to.
fn spoken(run: &str) -> Option<u32> {
    let (mut sum, mut figure) = (0_u32, None);
    for sign in run.chars() {
        if let Some(digit) = digit(sign) {
            figure = Some(
                figure
                    .unwrap_or(0_u32)
                    .checked_mul(10)?
                    .checked_add(digit)?,
            );
        } else {
            let scale = scale(sign)?;
            let part = figure.take().unwrap_or(1).checked_mul(scale)?;
            // 万 multiplies all that stands before it.
            sum = match scale {
                10_000 if sum > 0 => sum.checked_mul(scale)?,
                _ => sum.checked_add(part)?,
            };
        }
    }
    sum.checked_add(figure.unwrap_or_default())
}
