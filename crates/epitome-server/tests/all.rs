//! The proxy from outside: real sockets, a scripted model behind it, real clients in front.

#[path = "all/support.rs"]
mod support;

#[path = "all/bad_input.rs"]
mod bad_input;
#[path = "all/bytes.rs"]
mod bytes;
#[path = "all/conversations.rs"]
mod conversations;
#[path = "all/recovery.rs"]
mod recovery;
#[path = "all/sdk.rs"]
mod sdk;
