//! The one place of this crate that waits for time to pass and asks for numbers that nobody can foresee. Nothing here reads what
//! time it is.

use ring::error::Unspecified;
use ring::rand::{SecureRandom as _, SystemRandom};

pub(crate) use tokio::time::{sleep, timeout};

/// Fills `bytes` with what the system has of them.
pub(crate) fn unforeseeable(bytes: &mut [u8]) -> Result<(), Unspecified> {
    SystemRandom::new().fill(bytes)
}
