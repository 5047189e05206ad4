//! Tenants: who is let in, that none finds anything of another, and what each may use.

#[path = "tenants/apart.rs"]
mod apart;
#[path = "tenants/doors.rs"]
mod doors;
#[path = "tenants/guesses.rs"]
mod guesses;
#[path = "tenants/quotas.rs"]
mod quotas;
#[path = "tenants/reload.rs"]
mod reload;
#[path = "tenants/viewers.rs"]
mod viewers;

use std::ops::ControlFlow;

use epitome_server::{Config, KeyDigest, QuotaLimits, TenantConfig, TenantSettings};
use epitome_store::{Cell, Housekeeping, SnapshotRow, Store, TenantId};
use epitome_testkit::Wire;
use epitome_testkit::client::Received;
use http::Method;
use serde_json::Value;

use crate::support::{Folder, Proxy};

const KEY_A: &str = "ep-key-of-the-tenant-alpha";
const KEY_B: &str = "ep-key-of-the-tenant-beta";
const PROVIDER_KEY_A: &str = "sk-provider-key-of-alpha";

/// A tenant that is known by one key.
fn tenant(name: &str, key: &str) -> TenantConfig {
    TenantConfig {
        id: name.parse().unwrap(),
        keys: vec![KeyDigest::of(key)],
        provider_keys: Vec::new(),
        principals: Vec::new(),
        limits: QuotaLimits::default(),
    }
}

/// The tenants `alpha` and `beta`.
fn two() -> TenantSettings {
    let mut alpha = tenant("alpha", KEY_A);
    alpha.provider_keys.push(KeyDigest::of(PROVIDER_KEY_A));
    TenantSettings {
        tenants: vec![alpha, tenant("beta", KEY_B)],
        ..TenantSettings::default()
    }
}

fn id(name: &str) -> TenantId {
    name.parse().unwrap()
}

/// A proxy for two tenants, on a store and with a small window.
fn for_two(config: &mut Config, folder: &Folder) {
    config.store = folder.location();
    config.window_tokens = Some(8_000);
    config.tenants = two();
}

async fn post_as(proxy: &Proxy, key: &str, wire: Wire, body: &Value) -> Received {
    let headers = [
        ("x-epitome-key", key),
        ("authorization", "Bearer provider-key"),
        ("anthropic-version", "2023-06-01"),
    ];
    let body = body.to_string();
    proxy.send(&Method::POST, wire.path(), &headers, body).await
}

async fn get_as(proxy: &Proxy, key: &str, path: &str) -> Received {
    let headers = [("x-epitome-key", key)];
    proxy.send(&Method::GET, path, &headers, "").await
}

/// What an operator sees.
async fn operator(proxy: &Proxy, path: &str) -> Received {
    let bearer = format!("Bearer {}", proxy.token);
    let headers = [("authorization", bearer.as_str())];
    proxy.send(&Method::GET, path, &headers, "").await
}

/// Everything that a store keeps.
async fn rows(folder: &Folder) -> Vec<SnapshotRow> {
    let store = folder.open().await;
    let mut rows = Vec::new();
    let mut each = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.snapshot(&mut each).await.unwrap();
    store.close().await;
    rows
}

/// A cell as text, whatever it holds.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
