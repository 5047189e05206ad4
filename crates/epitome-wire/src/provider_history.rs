//! Where the history is not all in the request: the provider keeps it, or has summed it up itself.

use epitome::Reason;

use crate::body::{Body, Field};
use crate::openai_responses::ItemKind;
use crate::wire::Wire;

impl Body {
    /// Why this conversation is the provider's to manage, if it is: parts of it are only named here, or stand in
    /// an item that nobody else can read. Such a request is left alone.
    ///
    /// ```
    /// use epitome::Reason;
    /// use epitome_wire::{Body, Wire};
    ///
    /// let request = br#"{"previous_response_id":"resp_1","input":[{"role":"user","content":"go on"}]}"#;
    /// let body = Body::scan(request.as_slice().into(), Wire::OpenAiResponses)?;
    /// assert_eq!(body.kept_by_provider(), Some(Reason::ServerSideHistory));
    /// # Ok::<(), epitome_wire::BodyError>(())
    /// ```
    #[must_use]
    pub fn kept_by_provider(&self) -> Option<Reason> {
        if self.wire() != Wire::OpenAiResponses {
            return None;
        }
        let is_given = |field| self.field(field).is_some_and(|bytes| bytes != b"null");
        if is_given(Field::PreviousResponseId) || is_given(Field::Conversation) {
            return Some(Reason::ServerSideHistory);
        }
        let names = |bytes: &[u8]| {
            memchr::memmem::find(bytes, b"\"item_reference").is_some()
                || memchr::memmem::find(bytes, b"compaction").is_some()
        };
        // Reading is strict and slow; hardly any item is one that matters here.
        let some_are_named = names(self.bytes());
        let kinds = (0..self.len())
            .filter(|&index| {
                let bytes = self.message(index);
                is_bare(bytes) || (some_are_named && names(bytes))
            })
            .filter_map(|index| Some(ItemKind::of(&self.read(index).ok()?)));
        kinds.fold(None, |found, kind| match kind {
            ItemKind::Reference => Some(Reason::ServerSideHistory),
            ItemKind::Compaction => found.or(Some(Reason::ProviderManaged)),
            _ => found,
        })
    }
}

/// Whether an item may be a reference that leaves out its type: an id and nothing else.
fn is_bare(item: &[u8]) -> bool {
    const MOST_BYTES: usize = 160;
    item.len() <= MOST_BYTES && memchr::memmem::find(item, b"\"type\"").is_none()
}
