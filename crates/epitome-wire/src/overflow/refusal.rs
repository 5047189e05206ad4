//! Why a provider refused a request, as far as its status and its words tell.

use super::Overflow;
use super::pattern::Haystack;
use super::said::Said;
use super::signs::{Kind, SIGNS, Sign, Where};

/// Why a provider refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is too long.
    Overflow(Overflow),
    /// Too much was sent in a time. Waiting helps, compaction does not.
    RateLimit,
    /// The account has no money or no quota left.
    Credit,
    /// What it says is not allowed.
    Filter,
    /// Who sends it is not known, or not allowed to.
    Authentication,
    /// One parameter is longer or larger than it may be; the conversation as a whole is not.
    Parameter,
    /// Its messages do not follow each other as they must, or one of them has no valid form.
    Structural,
    /// Something else.
    Other,
}

impl Refusal {
    /// Reads an answer that is an error to the request `sent`.
    ///
    /// ```
    /// use epitome_wire::Refusal;
    ///
    /// let body = br#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    /// let Refusal::Overflow(overflow) = Refusal::read(400, body, b"{}") else { panic!() };
    /// assert_eq!(overflow.window_tokens, Some(200_000));
    /// assert_eq!(Refusal::read(429, body, b"{}"), Refusal::RateLimit);
    /// ```
    #[must_use]
    pub fn read(status: u16, body: &[u8], sent: &[u8]) -> Self {
        let said = || Said::in_body(body);
        match status {
            400 | 413 | 422 | 500 => of(&said(), sent),
            429 => match account(&said()) {
                Some(Self::Credit) => Self::Credit,
                _ => Self::RateLimit,
            },
            402 => Self::Credit,
            401 => Self::Authentication,
            403 => {
                let said = said();
                let filtered = first(&said, &[Kind::Filter]);
                account(&said).or(filtered).unwrap_or(Self::Authentication)
            }
            404.. => account(&said()).unwrap_or(Self::Other),
            _ => Self::Other,
        }
    }
}

/// What the words of an error come to, whatever its status. What stands first weighs more: a limit of the account is none
/// of the model, and a parameter that is too long is no conversation that is.
pub(super) fn of(said: &Said, sent: &[u8]) -> Refusal {
    account(said)
        .or_else(|| first(said, &[Kind::Parameter]))
        .or_else(|| Overflow::in_said(said, sent).map(Refusal::Overflow))
        .or_else(|| first(said, &[Kind::Filter, Kind::Amount, Kind::Structural]))
        .or_else(|| first(said, &[Kind::Authentication]))
        .unwrap_or(Refusal::Other)
}

fn account(said: &Said) -> Option<Refusal> {
    first(said, &[Kind::Credit, Kind::RateLimit])
}

/// The first of these kinds that has a sign in the error.
fn first(said: &Said, kinds: &[Kind]) -> Option<Refusal> {
    let words = said.texts.iter().chain(&said.codes);
    let words: Vec<Haystack<'_>> = words.map(|text| Haystack::new(text)).collect();
    let stands = |sign: &Sign| match sign.place {
        Where::Code => said.has_code(sign.text),
        Where::Words => words.iter().any(|text| text.find(sign.text).is_some()),
    };
    let found = kinds.iter().find(|kind| {
        let mut signs = SIGNS.iter().filter(|sign| sign.kind == **kind);
        signs.any(stands)
    })?;
    Some(match found {
        Kind::Credit => Refusal::Credit,
        Kind::RateLimit => Refusal::RateLimit,
        Kind::Filter => Refusal::Filter,
        Kind::Authentication => Refusal::Authentication,
        Kind::Parameter | Kind::Amount => Refusal::Parameter,
        Kind::Structural => Refusal::Structural,
    })
}
