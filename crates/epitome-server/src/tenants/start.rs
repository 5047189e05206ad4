//! What a tenant begins with: its secret from the store, what it believes of models, and somebody who writes and counts for it.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use epitome::Preset;
use epitome_engine::known_models::KnownModels;
use epitome_store::{AnyStore, TenantId, Tenants as _};
use epitome_wire::ChainKey;
use tokio_util::task::TaskTracker;

use super::{Register, Tenant};
use crate::clients::Clients;
use crate::clock;
use crate::config::{Config, QuotaLimits};
use crate::histories::Histories;
use crate::index::Index;
use crate::journal::{Closing, Journal, Workshop, may_pass};
use crate::keeper::{Keeper, Rules};
use crate::models::Models;
use crate::open_store::LentStore;
use crate::quota::{Counter, Quota, keep_account};

/// How often a store is asked for a key at the start, and how long to wait in between.
const KEY_TRIES: usize = 5;
const KEY_WAIT: Duration = Duration::from_millis(200);

/// Lets tenants begin.
#[derive(Debug)]
pub(crate) struct Founder {
    store: LentStore,
    shop: Workshop,
    tasks: TaskTracker,
    counter: Counter,
}

impl Founder {
    pub(crate) fn new(store: LentStore, tasks: TaskTracker) -> Self {
        Self {
            store,
            shop: Workshop::default(),
            tasks,
            counter: Counter::default(),
        }
    }

    /// Ends the background work of all of them.
    pub(crate) fn closing(&self) -> Closing {
        self.shop.closing()
    }

    /// Whether there is a store to count by.
    pub(crate) const fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Those of the settings' tenants that are there already, under these settings.
    pub(crate) fn known(config: &Config, there: &[Arc<Tenant>]) -> Register {
        let known = wanted(config).into_iter().filter_map(|(id, limits)| {
            let tenant = there.iter().find(|tenant| tenant.id == id)?;
            tenant.quota.limit(limits);
            Some(Arc::clone(tenant))
        });
        Register::new(known.collect(), &config.tenants)
    }

    /// The tenants that the settings name; those that are there already stay as they are, under these settings. One that is kept in
    /// memory only, because the store did not tell its key, begins anew as soon as it does.
    pub(crate) async fn register(&self, config: &Config, there: &[Arc<Tenant>]) -> Register {
        let mut all = Vec::new();
        for (id, limits) in wanted(config) {
            let known = there.iter().find(|tenant| tenant.id == id);
            if let Some(known) = known {
                known.quota.limit(limits);
            }
            all.push(match known {
                Some(known) if !known.is_keyless => Arc::clone(known),
                known => {
                    let founded = self.tenant(id, limits, config).await;
                    match known {
                        Some(known) if founded.is_keyless => Arc::clone(known),
                        _ => Arc::new(founded),
                    }
                }
            });
        }
        Register::new(all, &config.tenants)
    }

    async fn tenant(&self, id: TenantId, limits: QuotaLimits, config: &Config) -> Tenant {
        let store = self.store.open();
        let models = Models::new(
            config.windows.clone().or(config.window_tokens),
            config.settings.margins(),
            Preset::from(&config.settings).assumed_window(),
            KnownModels::of_tenant(id.clone()),
        );
        let mut secret = fresh_secret();
        // Without its key nothing that the store holds is recognised, and what is written is recognised by nobody.
        let mut kept_in = store.clone();
        if let Some(store) = &store {
            match key_of(store.store(), &id, secret).await {
                Ok(known) => secret = known,
                Err(error) => {
                    tracing::warn!(tenant = id.as_str(), %error, "store does not tell its key; conversations are kept in memory only");
                    kept_in = None;
                }
            }
            if let Err(error) = models.known().recall_all(&**store.store()).await {
                tracing::warn!(%error, "what is believed of models cannot be read and is learned anew");
            }
        }
        let quota = Arc::new(Quota::new(id.clone(), limits));
        let index = Arc::new(Index::default());
        let is_keyless = kept_in.is_none() && store.is_some();
        let journal = Journal::start(
            kept_in,
            id.clone(),
            Arc::clone(&index),
            Arc::clone(&quota),
            &self.shop,
            &self.tasks,
        );
        if is_keyless {
            journal.note_missing_key();
        }
        if let Some(store) = store {
            let account = keep_account(store, &quota, self.counter.clone());
            self.tasks.spawn(account);
        }
        let journal = Arc::new(journal);
        let keeper = Keeper::new(
            config.mode,
            Rules::of(config, Arc::clone(&quota.purse)),
            ChainKey::new(secret),
            models,
            index,
            Arc::clone(&journal),
            self.tasks.clone(),
        );
        Tenant {
            id,
            keeper: RwLock::new(Arc::new(keeper)),
            histories: Arc::new(Histories::new(journal)),
            tally: Arc::default(),
            clients: Clients::default(),
            quota,
            is_keyless,
        }
    }
}

/// Who is a tenant by the settings. Without any everybody is `local`.
fn wanted(config: &Config) -> Vec<(TenantId, QuotaLimits)> {
    let tenants = config.tenants.tenants.iter();
    let wanted: Vec<_> = tenants.map(|one| (one.id.clone(), one.limits)).collect();
    match wanted.is_empty() {
        true => vec![(TenantId::local(), QuotaLimits::default())],
        false => wanted,
    }
}

/// The key that conversations of a tenant are known by. A database that is just starting, or whose connections are all in
/// use, is asked again.
async fn key_of(
    store: &AnyStore,
    tenant: &TenantId,
    fresh: [u8; 32],
) -> Result<[u8; 32], epitome_store::Error> {
    for _ in 1..KEY_TRIES {
        match store.tenant_key(tenant, fresh).await {
            Err(error) if may_pass(&error) => clock::sleep(KEY_WAIT).await,
            known => return known,
        }
    }
    store.tenant_key(tenant, fresh).await
}

/// A secret nobody can guess.
pub(crate) fn fresh_secret() -> [u8; 32] {
    let mut secret = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    if provider.secure_random.fill(&mut secret).is_err() {
        tracing::warn!("the system gives no random numbers; chains are made with a known key");
    }
    secret
}
