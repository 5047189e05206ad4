//! Calling a model: any endpoint that speaks one of the three APIs.
//!
//! - where and who: [`Endpoint`], with a [`Key`] that is read when it is needed and shown to nobody
//! - the same with what a client brought along for its own request: [`Lender`], [`Borrowed`]
//! - what is asked: [`Ask`]; how it goes out: `request`, `http`
//! - one question with its retries and time limits: [`Caller`]; why there is no answer: [`CallError`]
//! - what it may cost: [`SpendLimits`], [`SpendLedger`], [`Purse`]

mod borrowed;
mod call;
mod connection;
mod endpoint;
mod error;
mod key;
mod request;
mod retry;
mod spend;

pub use borrowed::{Borrowed, Lender};
pub use call::{Asked, Caller};
pub use connection::https_connector;
pub use endpoint::{CallLimits, Delivery, Endpoint, EndpointError};
pub use error::CallError;
pub use key::{Key, KeyError};
pub use request::{Ask, Form, Tool, tool_results};
pub use retry::Retries;
pub use spend::{Purse, SpendLedger, SpendLimits};
