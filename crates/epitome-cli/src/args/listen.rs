//! Addresses to listen on, as people write them: `127.0.0.1:7700`, `localhost:7700`, `7700`.

use std::net::{Ipv4Addr, SocketAddr};

/// Reads one.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    let port = port.strip_prefix(':').unwrap_or(port);
    let port: u16 = port.parse().map_err(|_| {
        "an address and a port are wanted, such as 127.0.0.1:7700 or localhost:7700".to_owned()
    })?;
    Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

#[cfg(test)]
mod tests {
    use super::listen;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for text in ["127.0.0.1:7700", "localhost:7700", ":7700", "7700"] {
            assert_eq!(
                listen(text).unwrap().to_string(),
                "127.0.0.1:7700",
                "{text}"
            );
        }
        assert_eq!(listen("[::1]:7700").unwrap().to_string(), "[::1]:7700");
        for text in [
            "",
            "localhost",
            "example.org:80",
            "127.0.0.1",
            "localhost:99999",
        ] {
            assert!(listen(text).is_err(), "{text}");
        }
    }
}
