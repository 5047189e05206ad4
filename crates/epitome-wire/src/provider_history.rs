//! Where the history is not all in the request: the provider keeps it, or has summed it up itself.

use epitome::Reason;

use crate::body::{Body, Field};
use crate::openai_responses::ItemKind;
use crate::wire::Wire;

impl Body {
    /// Why this conversation is the provider's to manage, if it is: what came before is only named here, or stands in
    /// an item that nobody else can read. Such a request is left alone. Single items that are only named
    /// ([`Body::resolved`]) are no such thing.
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
        let names = |bytes: &[u8]| memchr::memmem::find(bytes, b"compaction").is_some();
        if !names(self.bytes()) {
            return None;
        }
        // Reading is strict and slow; hardly any item is one that matters here.
        let mut kinds = (0..self.len())
            .filter(|&index| names(self.message(index)))
            .filter_map(|index| Some(ItemKind::of(&self.read(index).ok()?)));
        let is_managed = kinds.any(|kind| kind == ItemKind::Compaction);
        is_managed.then_some(Reason::ProviderManaged)
    }
}
