//! Entries by their words.

use epitome::Digest;

use crate::{EntryRow, EntryWords, Result, SearchHit, SearchScope, TenantId};

/// The words of entries, and finding entries by them.
pub trait Search {
    /// Makes entries findable that were appended without their words. What is indexed already stays as it is.
    ///
    /// # Errors
    /// [`Dangling`](crate::Error::Dangling) when an entry is not stored.
    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send;

    /// At most `limit` entries whose words were never given, by their keys, from behind `after`. Looks through all that come
    /// there when there are few.
    fn unindexed(
        &self,
        tenant: &TenantId,
        after: Option<Digest>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send;

    /// At most `limit` entries that have the words of `query`, the best first.
    ///
    /// All words are required; if no entry has them all, any will do, also as the beginning of a longer word. A query is
    /// words and nothing else: quotes, operators and the like have no meaning, and one without words finds nothing. Case
    /// and accents do not matter; identifiers are also found by their parts, and text without spaces (Chinese, Japanese,
    /// Korean, Thai …) by any piece of it.
    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send;
}
