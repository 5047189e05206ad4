//! Turns of conversations whose history the provider keeps.

use crate::{Result, TenantId, TurnRow};

/// Turns of conversations whose history the provider keeps, by the ids of their answers.
pub trait Turns {
    /// Keeps turns, in one transaction. One whose id is stored already stays as it is.
    fn keep_turns(
        &self,
        tenant: &TenantId,
        turns: &[TurnRow],
    ) -> impl Future<Output = Result<()>> + Send;

    /// The turns that lead to an answer, the first one first. Empty unless all of them are stored.
    fn turns_to(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> impl Future<Output = Result<Vec<TurnRow>>> + Send;
}
