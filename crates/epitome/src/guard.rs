//! The context-window guard: windows in which compaction cannot work, and windows in which it hardly can.

use crate::design::Design;
use crate::reason::Reason;

/// No work is done in a window smaller than this.
pub const GUARD_MINIMUM_TOKENS: u64 = 16_000;
/// A window smaller than this is worth a warning.
pub const GUARD_WARNING_TOKENS: u64 = 32_000;

/// What the guard says of a window that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is large enough, or the preset has no guard.
    Fine,
    /// It works, but people should know that it is small.
    Small {
        /// The window.
        window_tokens: u64,
    },
}

/// The window is too small to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a context window of {window_tokens} tokens is below the minimum of {GUARD_MINIMUM_TOKENS}: \
     set a larger window or use a model that has one"
)]
pub struct WindowTooSmall {
    /// The window.
    pub window_tokens: u64,
}

impl WindowTooSmall {
    /// The code for reports.
    #[must_use]
    pub const fn reason(self) -> Reason {
        Reason::WindowTooSmall
    }
}

/// Looks at a window before anything is done in it. The guard belongs to `default` and `openclaw`; the other
/// presets take any window.
///
/// ```
/// use epitome::{Guard, PresetName, guard_window};
///
/// assert_eq!(guard_window(PresetName::Openclaw, 200_000), Ok(Guard::Fine));
/// assert!(guard_window(PresetName::Openclaw, 8_192).is_err());
/// assert_eq!(guard_window(PresetName::Layer, 8_192), Ok(Guard::Fine));
/// ```
///
/// # Errors
/// [`WindowTooSmall`] below [`GUARD_MINIMUM_TOKENS`].
pub fn window(
    design: impl Into<&'static Design>,
    window_tokens: u64,
) -> Result<Guard, WindowTooSmall> {
    if design.into().guards {
        looked_at(window_tokens)
    } else {
        Ok(Guard::Fine)
    }
}

/// What a design with a guard says of a window.
pub(crate) const fn looked_at(window_tokens: u64) -> Result<Guard, WindowTooSmall> {
    match window_tokens {
        ..GUARD_MINIMUM_TOKENS => Err(WindowTooSmall { window_tokens }),
        GUARD_MINIMUM_TOKENS..GUARD_WARNING_TOKENS => Ok(Guard::Small { window_tokens }),
        GUARD_WARNING_TOKENS.. => Ok(Guard::Fine),
    }
}
