//! Provider formats in and out, byte for byte.
//!
//! - a request as it arrived: [`Body`]; what leaves: a [`Splice`] of it, never a re-serialisation
//! - reading without converting: [`json`]; one message for the core: [`decode`]
//! - who is speaking: [`Conversation`], made with a [`Memo`] and a [`ChainKey`]
//! - what came back: [`Answer`], [`Accumulator`], [`Overflow`], [`Refusal`], [`Counted`], [`StreamWatch`], [`sse`],
//!   [`Unpacker`]
//! - what a client says by itself: [`is_injected`]; what it only names: [`Items`]
//! - what people look for a message by: [`searchable_text`]
//! - what a provider would refuse: [`violations`] on decoded messages, [`problems`] on a body; put right: [`repair`]
//!
//! Each format is one module with the same four functions: `decode`, `canonical`, `summary_message` and the
//! role names. Knows no HTTP, no files, no clock.
#![warn(missing_docs)]

mod answer;
mod anthropic;
mod begun;
mod body;
mod canonical;
mod continued;
mod decode;
mod decoded;
mod detect;
mod encode;
mod encoding;
mod identity;
mod items;
pub mod json;
mod media;
mod openai_chat;
mod openai_responses;
mod overflow;
mod provider_history;
mod recent;
mod render;
mod repair;
mod scan;
mod searchable;
mod splice;
pub mod sse;
mod usage;
mod validity;
mod wire;

pub use answer::{Accumulator, Answer};
pub use begun::{Begun, StreamStart};
pub use body::{Body, BodyError, Field};
pub use canonical::{NORMALISER_VERSION, is_injected};
pub use continued::{Continued, sent_back};
pub use decode::{canonical, decode, summary_message};
pub use decoded::{Arguments, Decoded, Unreadable};
pub use detect::{Detected, detect};
pub use encode::encode;
pub use encoding::Unpacker;
pub use identity::{ChainKey, Conversation, FirstBytes, Known, Memo, Prehashed};
pub use items::{AnswerItems, Items};
pub use media::{Detail, ImageSize};
pub use overflow::{Cure, Overflow, Refusal};
pub use recent::Recent;
pub use render::RenderError;
pub use repair::{Fix, Repaired, repair};
pub use searchable::{searchable_entry, searchable_text};
pub use splice::{Edit, Item, Splice};
pub use usage::{Counted, StreamWatch, counted, input_tokens, is_plain_request};
pub use validity::{Problem, ProblemCode, Violation, ViolationKind, problems, violations};
pub use wire::Wire;
