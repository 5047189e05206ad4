//! The command as scripts and people call it.

#[path = "all/compact.rs"]
mod compact;
#[path = "all/serve.rs"]
mod serve;
#[path = "all/support.rs"]
mod support;
