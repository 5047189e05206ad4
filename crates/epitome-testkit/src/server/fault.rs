use std::collections::BTreeMap;
use std::time::Duration;

/// Something that goes wrong with one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Waits before it goes on.
    Delay(Duration),
    /// Never answers and keeps the connection open.
    Hang,
    /// Closes the connection without an answer.
    Close,
    /// Sends half of the body and closes the connection.
    Cut,
    /// Waits so long between two pieces of the body; see [`Chunking`](super::Chunking) for the pieces.
    Drip(Duration),
    /// Sends half of the body and then nothing more, with the connection open.
    Stall,
    /// 429 with `retry-after`.
    RateLimited {
        /// Value of the header.
        retry_after_seconds: u64,
    },
    /// 500 in the provider's error shape.
    ServerError,
    /// 529 in the provider's error shape.
    Overloaded,
    /// 200 with a body that is not what it claims to be.
    GarbageBody,
    /// Bytes that are no valid event in the middle of an otherwise complete stream.
    GarbageInStream,
    /// An error event in the middle of a stream, which ends there.
    ErrorInStream,
}

/// Faults by request number. The first request to a server is number zero.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    single: BTreeMap<usize, Vec<Fault>>,
    repeated: Vec<(usize, Fault)>,
}

impl Faults {
    /// No faults.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a fault for one request. Several faults of one request are all applied.
    #[must_use]
    pub fn on(mut self, number: usize, fault: Fault) -> Self {
        self.single.entry(number).or_default().push(fault);
        self
    }

    /// Adds a fault for every request whose number is a multiple of `period`.
    #[must_use]
    pub fn every(mut self, period: usize, fault: Fault) -> Self {
        self.repeated.push((period.max(1), fault));
        self
    }

    pub(super) fn of(&self, number: usize) -> Vec<Fault> {
        let repeated = self
            .repeated
            .iter()
            .filter(|(period, _)| number.is_multiple_of(*period))
            .map(|(_, fault)| *fault);
        let single = self.single.get(&number).into_iter().flatten().copied();
        repeated.chain(single).collect()
    }
}
