//! Addresses that are trusted, one by one or by their beginning.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Addresses that begin alike: `10.0.0.0/8`, `fd00::/8`, or one of them, `10.0.0.7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether an address is one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                shared(u128::from(own.to_bits()), u128::from(other.to_bits()), 32) >= self.bits
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                shared(own.to_bits(), other.to_bits(), 128) >= self.bits
            }
            _ => false,
        }
    }
}

/// In how many bits two numbers of so many bits begin alike.
fn shared(one: u128, other: u128, width: u32) -> u8 {
    let differing = (one ^ other).leading_zeros();
    u8::try_from(differing - (128 - width)).unwrap_or(u8::MAX)
}

/// The text names no addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an address nor a network such as 10.0.0.0/8")]
pub struct NoNetwork(String);

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let wrong = || NoNetwork(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.trim().parse().map_err(|_| wrong())?,
            None => most,
        };
        (bits <= most)
            .then_some(Self { address, bits })
            .ok_or_else(wrong)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn addresses_are_told_by_their_beginning() {
        let is_in = |network: &str, address: &str| {
            let network: Network = network.parse().unwrap();
            network.contains(address.parse().unwrap())
        };
        assert!(is_in("10.0.0.0/8", "10.255.1.2"));
        assert!(is_in("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!is_in("10.0.0.0/8", "11.0.0.1"));
        assert!(is_in("192.168.1.7", "192.168.1.7") && !is_in("192.168.1.7", "192.168.1.6"));
        assert!(is_in("0.0.0.0/0", "1.2.3.4") && !is_in("0.0.0.0/0", "::1"));
        assert!(is_in("fd00::/8", "fd12::1") && !is_in("fd00::/8", "fe80::1"));
        assert!(is_in("::1", "::1") && is_in("::/0", "::1"));
        for wrong in [
            "",
            "x",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "/8",
        ] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
