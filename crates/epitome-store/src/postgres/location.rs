//! What a location says.

#[cfg(test)]
#[path = "location_tests.rs"]
mod tests;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use crate::{Error, Result};

const DEFAULT_CONNECTIONS: u32 = 10;

/// The parameters that `sqlx` reads. It would log any other one with its value, which may be secret.
const KNOWN: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// A location that was read. It holds passwords and cannot be printed.
pub(super) struct Location {
    /// For everything but migrations.
    pub(super) options: PgConnectOptions,
    /// For migrations.
    pub(super) direct: PgConnectOptions,
    pub(super) max_connections: u32,
}

impl Location {
    pub(super) fn parse(location: &str) -> Result<Self> {
        let (base, parameters) = location.split_once('?').unwrap_or((location, ""));
        let mut kept = Vec::new();
        let mut direct = None;
        let mut max_connections = DEFAULT_CONNECTIONS;
        for parameter in parameters.split('&').filter(|one| !one.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "direct_url" => direct = Some(unescaped(value)?),
                "max_connections" => {
                    let number = value.parse().ok().filter(|number| *number > 0);
                    max_connections =
                        number.ok_or_else(|| bad("max_connections is a number from 1 on"))?;
                }
                name if KNOWN.contains(&name) => kept.push(parameter),
                _ => {
                    return Err(bad(&format!(
                        "it has a parameter that nobody knows, {name:?}"
                    )));
                }
            }
        }
        let options = options(&format!("{base}?{}", kept.join("&")))?;
        let direct = match direct {
            Some(direct) => Self::parse(&direct)?.options,
            None => options.clone(),
        };
        Ok(Self {
            options,
            direct,
            max_connections,
        })
    }
}

/// Statements have no names here: a pooler gives the next one to another connection of the server.
fn options(url: &str) -> Result<PgConnectOptions> {
    let read = url.parse().ok().filter(|_| url.contains("://"));
    let options: PgConnectOptions = read.ok_or_else(|| bad("it is no such address"))?;
    let options = match options.get_application_name() {
        Some(_) => options,
        None => options.application_name("epitome"),
    };
    Ok(options
        .statement_cache_capacity(0)
        // PgBouncer refuses a parameter that it does not know; no fraction is read here.
        .extra_float_digits(None)
        .disable_statement_logging())
}

fn bad(problem: &str) -> Error {
    Error::BadLocation {
        problem: problem.to_owned(),
    }
}

/// The text behind `%`-escapes.
fn unescaped(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits = match byte {
            b'%' => [rest.next(), rest.next()],
            _ => {
                bytes.push(byte);
                continue;
            }
        };
        let digit = |one: Option<u8>| one.and_then(|one| char::from(one).to_digit(16));
        let value = digit(digits[0]).zip(digit(digits[1]));
        let value = value.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(value.ok_or_else(|| bad("direct_url has a broken %-escape"))?);
    }
    String::from_utf8(bytes).map_err(|_| bad("direct_url is not in UTF-8"))
}
