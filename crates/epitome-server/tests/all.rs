//! The proxy from outside: real sockets, a scripted model behind it, real clients in front.
#![cfg(test)]

#[path = "all/odd.rs"]
mod odd;
#[path = "all/support.rs"]
mod support;

#[path = "all/bad_input.rs"]
mod bad_input;
#[path = "all/broken_upstream.rs"]
mod broken_upstream;
#[path = "all/bytes.rs"]
mod bytes;
#[path = "all/conversations.rs"]
mod conversations;
#[path = "all/identity.rs"]
mod identity;
#[path = "all/lines.rs"]
mod lines;
#[path = "all/recovery.rs"]
mod recovery;
#[path = "all/sdk.rs"]
mod sdk;
#[path = "all/splices.rs"]
mod splices;
