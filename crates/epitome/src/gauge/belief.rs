//! What is believed of one model at one endpoint, and what changes that belief.

use super::calibration::{Calibration, UsageFinding};
use super::{Asked, Gauge, OutputCounting};
use crate::window::{Margins, Window, WindowSource};

/// No window of a language model is smaller than this: a smaller number counts something else.
const SMALLEST_WINDOW_TOKENS: u64 = 512;
/// Our own count may be off by this factor before the numbers of a refusal are not about what was sent.
const SENSE_FACTOR: u64 = 2;
/// Kinds of requests (system prompt and tools) that are remembered as counted before.
const KINDS: usize = 8;

/// What is believed of a model at an endpoint (with or without a context beta): its window, and how it counts.
///
/// *Input*: [`Belief::counted`] after a good answer, [`Belief::refused`] after a refusal, [`Belief::forget`].
/// *Queries*: [`Belief::window`], [`Belief::gauge`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Belief {
    learned: Option<Learned>,
    /// The largest plain request that succeeded since anything was learned.
    proven_tokens: u64,
    counting: Option<OutputCounting>,
    calibration: Calibration,
    /// A count that would be what a truncating server leaves. The same number again is proof.
    suspected_tokens: Option<u64>,
    kinds: [u64; KINDS],
    next_kind: usize,
}

/// A window that a provider taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Learned {
    /// The window.
    pub window_tokens: u64,
    /// What taught it.
    pub evidence: Evidence,
}

/// What taught a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Evidence {
    /// A refusal that named it.
    Refusal {
        /// What the provider counted, where it said so.
        request_tokens: Option<u64>,
        /// What we counted.
        own_tokens: u64,
    },
    /// A server left out the beginning of a request, and its count tells how much it keeps.
    Truncation {
        /// What it counted, twice.
        counted_tokens: u64,
    },
    /// A record of a version that kept no evidence.
    Unknown,
}

/// What a provider counted for the input of one request that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What it counted.
    pub real_tokens: u64,
    /// What the meter said of the same bytes, system prompt and tools included.
    pub estimated_tokens: u64,
    /// Whether the two can be compared.
    pub turn: TurnKind,
    /// A digest of system prompt and tools: the first count of a kind says more about these than about text.
    pub kind: u64,
}

/// Whether a count says how a provider counts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// Text, calls and results: it does.
    Plain,
    /// Media or documents: it is the size of the request, but not comparable with the meter.
    Media,
    /// Tools that run at the provider, or several rounds in one: it may not even be the size of the request.
    Odd,
}

/// The sizes of a request that was refused as too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedSize {
    /// The window that the refusal names.
    pub window_tokens: Option<u64>,
    /// The size of the request that it names.
    pub request_tokens: Option<u64>,
    /// Our own best count of the request.
    pub own_tokens: u64,
    /// The output that the request asked for.
    pub output_tokens: u64,
    /// Whether it says that input and output are counted together.
    pub counting: OutputCounting,
}

/// What a refusal taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lesson {
    /// The window.
    Window(u64),
    /// Nothing that lasts.
    Nothing,
}

impl Belief {
    /// A belief with what was learned before, such as in an earlier process.
    #[must_use]
    pub fn recalled(learned: Option<Learned>) -> Self {
        Self {
            learned,
            ..Self::default()
        }
    }

    /// The window: what the user configured, else what a provider taught, else what the table says, else what is
    /// assumed. A larger request that went well beats all but the user.
    #[must_use]
    pub fn window(&self, configured: Option<u64>, table: Option<Window>) -> Window {
        if let Some(tokens) = configured {
            return Window::configured(tokens);
        }
        let known = match self.learned {
            Some(learned) => Window {
                tokens: learned.window_tokens,
                source: WindowSource::Learned,
            },
            None => table.unwrap_or(Window::assumed()),
        };
        if self.proven_tokens > known.tokens {
            return Window {
                tokens: self.proven_tokens,
                source: WindowSource::Learned,
            };
        }
        known
    }

    /// The gauge for a request in `window` that asks for so many tokens of output.
    #[must_use]
    pub fn gauge(
        &self,
        window: Window,
        margins: Margins,
        output_tokens: Option<u64>,
        table: OutputCounting,
    ) -> Gauge {
        Gauge {
            window,
            margins,
            asked: Asked {
                output_tokens,
                counting: self.counting.unwrap_or(table),
            },
            rate: self.calibration.rate(),
        }
    }

    /// A request went well. What its count gives away is returned; after [`UsageFinding::Truncated`] the count says
    /// nothing about the conversation and must not become an anchor.
    pub fn counted(&mut self, count: Count, window: Window) -> Option<UsageFinding> {
        let Count {
            real_tokens,
            estimated_tokens,
            turn,
            kind,
        } = count;
        let expected = self.calibration.rate().real(estimated_tokens);
        let finding = UsageFinding::of(real_tokens, expected, window);
        match turn {
            TurnKind::Plain => {}
            TurnKind::Media => {
                self.prove(real_tokens);
                return finding.filter(|_| real_tokens > window.tokens);
            }
            TurnKind::Odd => return None,
        }
        if let Some(UsageFinding::Truncated {
            window_tokens: Some(window_tokens),
            ..
        }) = finding
        {
            // No provider counts text at so little; one that counts little may hit such a number by chance, but not twice.
            let is_absurd = !Calibration::default().observe(estimated_tokens, real_tokens);
            let is_proof =
                self.suspected_tokens.replace(real_tokens) == Some(real_tokens) || is_absurd;
            if is_proof {
                self.learned = Some(Learned {
                    window_tokens,
                    evidence: Evidence::Truncation {
                        counted_tokens: real_tokens,
                    },
                });
                self.proven_tokens = 0;
            }
            return finding;
        }
        self.suspected_tokens = None;
        self.prove(real_tokens);
        if self.has_counted(kind) {
            self.calibration.observe(estimated_tokens, real_tokens);
        }
        match finding {
            // Less was counted than expected, but not what a truncating server leaves: it counts that way.
            Some(UsageFinding::Truncated { .. })
                if Calibration::default().observe(estimated_tokens, real_tokens) =>
            {
                None
            }
            finding => finding,
        }
    }

    /// A request of this size went well: a window that was learned to be smaller is none.
    fn prove(&mut self, real_tokens: u64) {
        self.proven_tokens = self.proven_tokens.max(real_tokens);
        let is_possible = |learned: &Learned| real_tokens <= learned.window_tokens;
        self.learned = self.learned.filter(is_possible);
    }

    /// Whether a request of this kind was counted before; from now on it was.
    fn has_counted(&mut self, kind: u64) -> bool {
        if self.kinds.contains(&kind) {
            return true;
        }
        if let Some(place) = self.kinds.get_mut(self.next_kind % KINDS) {
            *place = kind;
        }
        self.next_kind = (self.next_kind + 1) % KINDS;
        false
    }

    /// A request was refused as too long. Its window is learned only if the numbers make sense for what was sent: the
    /// refused size lies above the window, and our own count is within a factor of two of it.
    pub fn refused(&mut self, refused: RefusedSize) -> Lesson {
        if refused.counting == OutputCounting::Together {
            self.counting = Some(OutputCounting::Together);
        }
        let Some(window_tokens) = refused.window_tokens else {
            return Lesson::Nothing;
        };
        let output = match refused.counting {
            OutputCounting::Together => refused.output_tokens,
            OutputCounting::Apart => 0,
        };
        let named = refused
            .request_tokens
            .map(|tokens| tokens.saturating_add(output));
        let own = refused.own_tokens.saturating_add(output);
        let size = named.unwrap_or(window_tokens);
        let is_above = named.is_none_or(|named| named > window_tokens);
        let is_near = own.saturating_mul(SENSE_FACTOR) >= size
            && (named.is_none() || own <= size.saturating_mul(SENSE_FACTOR));
        if !is_above || !is_near || window_tokens < SMALLEST_WINDOW_TOKENS {
            return Lesson::Nothing;
        }
        self.learned = Some(Learned {
            window_tokens,
            evidence: Evidence::Refusal {
                request_tokens: refused.request_tokens,
                own_tokens: refused.own_tokens,
            },
        });
        self.proven_tokens = 0;
        Lesson::Window(window_tokens)
    }

    /// Forgets the window that was learned.
    pub fn forget(&mut self) {
        self.learned = None;
        self.proven_tokens = 0;
    }

    /// The same belief, with a window that somebody else learned, unless one was learned here or a larger request went
    /// well.
    #[must_use]
    pub fn or_learned(mut self, elsewhere: Option<Learned>) -> Self {
        let is_possible = |learned: &Learned| self.proven_tokens <= learned.window_tokens;
        self.learned = self.learned.or_else(|| elsewhere.filter(is_possible));
        self
    }

    /// What is believed once somebody else on the same store has written `elsewhere`: their window where they know another, and
    /// everything that either of them found out.
    #[must_use]
    pub fn taken_over(mut self, elsewhere: &Self) -> Self {
        match elsewhere.learned {
            Some(learned) if !self.has_learned(learned) => {
                self.learned = Some(learned);
                self.proven_tokens = elsewhere.proven_tokens;
            }
            _ => self.prove(elsewhere.proven_tokens),
        }
        self.counting = self.counting.or(elsewhere.counting);
        self.suspected_tokens = self.suspected_tokens.or(elsewhere.suspected_tokens);
        for kind in elsewhere.kinds.into_iter().filter(|kind| *kind != 0) {
            // Those that were seen here are not pushed out.
            if self.kinds.contains(&0) {
                self.has_counted(kind);
            }
        }
        self
    }

    /// What is written over what a store has: our window, and everything that others found out besides.
    #[must_use]
    pub fn written_over(mut self, stored: &Self) -> Self {
        if self.learned.map(|own| own.window_tokens)
            == stored.learned.map(|other| other.window_tokens)
        {
            self.prove(stored.proven_tokens);
        }
        self.counting = self.counting.or(stored.counting);
        self
    }

    fn has_learned(&self, other: Learned) -> bool {
        self.learned
            .is_some_and(|own| own.window_tokens == other.window_tokens)
    }

    /// What was learned about the window, if anything is in force.
    #[must_use]
    pub const fn learned(&self) -> Option<Learned> {
        self.learned
    }

    /// The largest plain request that went well.
    #[must_use]
    pub const fn proven_tokens(&self) -> u64 {
        self.proven_tokens
    }

    /// The same belief, with what is known of how the provider counts.
    #[must_use]
    pub const fn with_calibration(mut self, calibration: Calibration) -> Self {
        self.calibration = calibration;
        self
    }

    /// How the provider counts.
    #[must_use]
    pub const fn calibration(&self) -> Calibration {
        self.calibration
    }
}
