//! The tenants of a server, for its operator; for a tenant, itself.

use axum::body::Body;
use http::Response;
use serde_json::{Value, json};

use super::answer;
use super::view::View;
use crate::keeper::Action;
use crate::quota::Excess;
use crate::tally::Totals;
use crate::tenants::Tenant;

pub(super) async fn get_tenants(view: View) -> Response<Body> {
    let tenants = view.tenants();
    let tenants: Vec<Value> = tenants.iter().map(|tenant| object(tenant)).collect();
    answer::json(Ok(json!({ "tenants": tenants })))
}

fn object(tenant: &Tenant) -> Value {
    let totals = Totals::of([&*tenant.tally]);
    let shortened: u64 = totals
        .by_reason()
        .iter()
        .filter(|(action, ..)| *action == Action::Compacted)
        .map(|(.., count)| count)
        .sum();
    let used_up = tenant.quota.used_up();
    let used_up: Vec<&str> = used_up.into_iter().map(Excess::as_str).collect();
    json!({
        "tenant": tenant.id.as_str(),
        "requests": totals.requests(),
        "shortened": shortened,
        "tokens_saved": totals.tokens.0.saturating_sub(totals.tokens.1),
        "own_spend_usd": tenant.keeper().own_spend_usd(),
        "quota": tenant.quota.object(),
        "used_up": used_up,
    })
}
