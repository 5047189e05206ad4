//! What requests cost where providers cache prompts.
//!
//! A provider bills the beginning of a request that it has seen before at a fraction of the price. Who changes that
//! beginning pays for all of it again, so that what a compaction saves can only be told with the cache in the sum. This
//! crate plays the caches: requests go in, in order and with their times, and what was read, written and fresh comes out,
//! with the money.
//!
//! - a request is made of [`Piece`]s in the order in which providers look at them: tools, system, messages ([`Request`])
//! - [`ProviderCache`] follows one rule of [`CacheRule`](epitome::CacheRule) for one model
//! - [`Spent`] is what came of a request; [`Spent::nanodollars`] is its price
//! - a [`Recording`] is walked through again by [`replay`], under any design, beside the same without one; [`Totals`] sums
//!   it up, and a [`Phase`] says whether what was ready was shown at the right time
//!
//! Nothing here reads a clock or a file, and the same requests cost the same every time. What providers do by chance
//! (a request that reaches another machine, an entry that is dropped early) is not played.
//!
//! ```
//! use epitome::{Digest, ModelTable};
//! use epitome_cost::{Lifetime, Piece, ProviderCache, Request};
//!
//! let model = ModelTable::builtin().find("claude-sonnet-5").unwrap();
//! let mut cache = ProviderCache::of(model);
//! let piece = |text: &str, tokens| Piece::new(Digest::of(text.as_bytes()), tokens);
//! let mut request = Request {
//!     system: vec![piece("You are an agent.", 5_000)],
//!     messages: vec![piece("Port the lexer.", 100)],
//!     ..Request::at(0)
//! };
//! request.mark_as_agents_do(Lifetime::FiveMinutes);
//! let first = cache.send(&request)?;
//! assert_eq!((first.read_tokens, first.written_5m_tokens), (0, 5_100));
//!
//! request.at_ms = 60_000;
//! request.messages.push(piece("Reading it.", 400));
//! request.mark_as_agents_do(Lifetime::FiveMinutes);
//! let second = cache.send(&request)?;
//! assert_eq!((second.read_tokens, second.written_5m_tokens), (5_100, 400));
//! assert_eq!(second.nanodollars(&model.prices), Some(5_100 * 200 + 400 * 2_500));
//! # Ok::<(), epitome_cost::Refused>(())
//! ```
#![warn(missing_docs)]

mod cache;
mod recording;
mod replay;
mod request;
mod spent;
mod timing;
mod totals;

#[cfg(test)]
#[path = "property_tests.rs"]
mod property;

pub use cache::{LOOK_BACK_BLOCKS, ProviderCache, Refused, Retention};
pub use recording::{PACE_MS, Pace, Recording};
pub use replay::{Made, Replayed, Side, Step, Terms, Turn, Why, replay};
pub use request::{Lifetime, Piece, Request};
pub use spent::Spent;
pub use timing::{Phase, Wait};
pub use totals::{SideTotals, Totals};
