//! What is believed of models, for all tenants.

use crate::{BeliefRow, LearnedWindow, Result};

/// What is believed of models at endpoints. Nothing here is scoped to a tenant.
pub trait Beliefs {
    /// Notes the window of a model at an endpoint. A later one replaces an earlier one, whatever the order of calls.
    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send;

    /// All learned windows, by endpoint and model.
    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send;

    /// Keeps what is believed of a model at an endpoint. A later belief replaces an earlier one, whatever the order of
    /// calls.
    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send;

    /// All beliefs, by endpoint and model.
    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send;

    /// What is believed of one model at an endpoint.
    fn belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<Option<BeliefRow>>> + Send;

    /// Forgets what is believed of a model at an endpoint, learned windows included. Says whether there was anything.
    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send;
}
