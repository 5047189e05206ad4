//! Who tried to write a summary.

use serde::{Deserialize, Serialize};

use crate::summarise::TriedRung;

/// One rung of the ladder that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its name.
    pub rung: String,
    /// The reason code, where it did not hold.
    #[serde(default)]
    pub failed: Option<String>,
}

impl From<&TriedRung> for StepRecord {
    fn from(step: &TriedRung) -> Self {
        Self {
            rung: step.rung.as_str().to_owned(),
            failed: step.failed.map(|reason| reason.as_str().to_owned()),
        }
    }
}
