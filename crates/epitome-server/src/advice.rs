//! What can be done about requests that could not be helped.

use epitome::Reason;

/// What to do where a request went out although it could not be helped; `None` where nothing was wanted.
pub(crate) const fn advice(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::BodyTooLarge => {
            "it is above the inspection limit and went through unread: raise inspection_limit_bytes, or send less"
        }
        Reason::BodyEncoded => {
            "it could not be unpacked: send it plain, or whole as gzip, br, zstd or deflate"
        }
        Reason::NotJson => "it is no JSON object: conversations of the three APIs are",
        Reason::AmbiguousBody => "it names a field twice: readers would disagree about it",
        Reason::UnreadableMessage => {
            "a message in it has a form that is not understood: see x-epitome-reason, and report the form"
        }
        Reason::ServerSideHistory => {
            "the provider keeps its history: send the whole input instead of an id to have it kept in its window"
        }
        Reason::ProviderManaged => {
            "the client asked the provider to shorten the context: leave that out to have it done here"
        }
        Reason::FloorAboveWindow => {
            "what must stay is larger than the window: the newest messages or open calls are too long for this model"
        }
        Reason::WindowBelowReserves => {
            "the output it asks for leaves no room in the window: ask for less, or set the window that the model has"
        }
        Reason::RewriteRefused => {
            "the provider refused what was made of the request: see the provider's answer, and report it"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_alone_on_purpose_needs_no_advice() {
        for reason in [
            Reason::BelowLine,
            Reason::Bypassed,
            Reason::NotAConversation,
            Reason::Epoch,
            Reason::HardLine,
        ] {
            assert_eq!(advice(reason), None, "{reason}");
        }
        assert!(advice(Reason::FloorAboveWindow).is_some());
    }
}
