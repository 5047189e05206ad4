//! Money for people.

const NANODOLLARS: u64 = 1_000_000_000;

/// A price in dollars: cents from a dollar on, hundredths of a cent below.
pub(crate) fn dollars(nanodollars: Option<u64>) -> String {
    let Some(nanodollars) = nanodollars else {
        return "not known".to_owned();
    };
    let digits = if nanodollars >= NANODOLLARS { 2 } else { 4 };
    let step = NANODOLLARS / 10_u64.pow(digits);
    let rounded = nanodollars.saturating_add(step / 2) / step;
    let whole = 10_u64.pow(digits);
    let (dollars, part) = (rounded / whole, rounded % whole);
    format!("${dollars}.{part:0width$}", width = digits as usize)
}

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;
