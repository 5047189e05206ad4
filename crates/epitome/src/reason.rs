//! Why something happened, or did not: a closed set of codes.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $name:ident => $code:literal,)*) => {
        /// Why a conversation was compacted, or left alone. The codes are public surface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Reason { $($(#[doc = $doc])* $name,)* }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable code.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

#[cfg(feature = "serde")]
impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|reason| reason.as_str() == code);
        let unknown = || serde::de::Error::custom(format!("`{code}` is not a reason"));
        known.copied().ok_or_else(unknown)
    }
}

reasons! {
    /// Somebody asked for it.
    Manual => "manual",
    /// The request would have crossed the hard line.
    HardLine => "hard_line",
    /// The threshold of the preset is reached.
    Threshold => "threshold",
    /// More messages are shown than the preset allows.
    TooManyMessages => "too_many_messages",
    /// The line is near, so that a compaction is prepared in the background.
    NearLine => "near_line",
    /// The provider said that the request is too long.
    Overflow => "overflow",
    /// The provider's cache is surely cold, so a prepared compaction costs nothing extra.
    CacheCold => "cache_cold",
    /// A prepared compaction saves more than it costs, so it is shown before it must be.
    Pays => "pays",
    /// An earlier compaction of this conversation was applied again, byte for byte.
    Epoch => "epoch",
    /// The conversation is small enough.
    BelowLine => "below_line",
    /// It already fits the budget that was asked for.
    WithinBudget => "within_budget",
    /// There is no legal cut with anything before it.
    NothingToRemove => "nothing_to_remove",
    /// The result would not have been clearly smaller.
    NotSmaller => "not_smaller",
    /// What must stay is larger than the budget.
    FloorAboveBudget => "floor_above_budget",
    /// What must stay is larger than the window.
    FloorAboveWindow => "floor_above_window",
    /// The reserves leave nothing of the window.
    WindowBelowReserves => "window_below_reserves",
    /// The same compaction was tried before and did not help.
    AlreadyTried => "already_tried",
    /// The client asked for the request to be left alone.
    Bypassed => "bypassed",
    /// Only watching.
    Observing => "observing",
    /// Not a path that carries a conversation.
    NotAConversation => "not_a_conversation",
    /// The body is above the inspection limit.
    BodyTooLarge => "body_too_large",
    /// The body is encoded in a way that is not read here.
    BodyEncoded => "body_encoded",
    /// The body is not a JSON object.
    NotJson => "not_json",
    /// There is no list of messages in the body.
    NoMessages => "no_messages",
    /// The body says the same thing twice, so that readers may disagree about it.
    AmbiguousBody => "ambiguous_body",
    /// A message has a form that is not understood.
    UnreadableMessage => "unreadable_message",
    /// The provider keeps the history.
    ServerSideHistory => "server_side_history",
    /// The client asked the provider to manage the context.
    ProviderManaged => "provider_managed",
    /// The provider refused the rewritten request; the original went out instead.
    RewriteRefused => "rewrite_refused",
    /// The threshold is set to zero or less.
    SwitchedOff => "switched_off",
    /// The window is too small to work in.
    WindowTooSmall => "window_too_small",
    /// Too many tries failed in a row.
    BreakerOpen => "breaker_open",
    /// The conversation has not grown enough since the last compaction.
    NotGrown => "not_grown",
    /// The summary did not hold what it must, or held what was never said.
    SummaryRejected => "summary_rejected",
    /// The summariser's answer had no text.
    SummaryEmpty => "summary_empty",
    /// The summariser took too long.
    SummaryTimeout => "summary_timeout",
    /// The summariser's own request was too long.
    SummaryOverflow => "summary_overflow",
    /// The summariser failed.
    SummaryFailed => "summary_failed",
    /// The summariser's answer ended before it was finished.
    SummaryCutOff => "summary_cut_off",
    /// The summariser called a tool instead of writing.
    SummaryCalledTools => "summary_called_tools",
    /// The summary was longer than it may be.
    SummaryTooLong => "summary_too_long",
    /// The summariser would not write it.
    SummaryRefused => "summary_refused",
    /// The summariser's provider asked to wait for longer than there was time.
    SummaryRateLimited => "summary_rate_limited",
    /// The summariser may not cost more for now.
    SpendLimit => "spend_limit",
    /// A hook said no.
    Cancelled => "cancelled",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
