//! The operations of a store: one trait for each kind of thing that it keeps.

mod beliefs;
mod chains;
mod changes;
mod compactions;
mod conversations;
mod counted;
mod entries;
mod housekeeping;
mod jobs;
mod leases;
mod memories;
mod outcomes;
mod pins;
mod search;
mod tenants;
mod turns;
mod usage;

pub use beliefs::Beliefs;
pub use chains::Chains;
pub use changes::Changes;
pub use compactions::Compactions;
pub use conversations::Conversations;
pub use counted::CountedRequests;
pub use entries::Entries;
pub use housekeeping::Housekeeping;
pub use jobs::Jobs;
pub use leases::Leases;
pub use memories::Memories;
pub use outcomes::Outcomes;
pub use pins::Pins;
pub use search::Search;
pub use tenants::Tenants;
pub use turns::Turns;
pub use usage::Usage;

/// An append-only log of conversations with their compactions, for many tenants.
///
/// Every operation but those of [`Beliefs`] and [`Housekeeping`] is scoped to a tenant: no call returns, counts or collides with a row of another.
///
/// **Cancellation.** Every future may be dropped at any time. A dropped write has happened as a whole or not at all.
///
/// **Numbers.** Token counts above `i64::MAX` are stored as `i64::MAX`.
pub trait Store:
    Tenants
    + Conversations
    + Entries
    + Chains
    + Compactions
    + Changes
    + Pins
    + Leases
    + Jobs
    + CountedRequests
    + Memories
    + Search
    + Beliefs
    + Outcomes
    + Turns
    + Usage
    + Housekeeping
    + Send
    + Sync
    + 'static
{
    /// Waits for running calls and closes the store; later calls fail with [`Closed`](crate::Error::Closed).
    fn close(&self) -> impl Future<Output = ()> + Send;
}
