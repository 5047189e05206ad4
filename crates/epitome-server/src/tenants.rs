//! Who asks. Each tenant has a keeper, an index, a journal and a tally of its own: nothing that one of them said, or that was
//! learned from it, is looked at for another.
//!
//! - `doors`: by what requests are known; `start`: what a tenant begins with

mod doors;
mod start;

use std::sync::{Arc, PoisonError, RwLock};

use epitome_store::TenantId;
use http::HeaderMap;

use crate::clients::Clients;
use crate::config::{Config, Mode, TenantSettings};
use crate::histories::Histories;
use crate::keeper::Keeper;
use crate::quota::Quota;
use crate::tally::Tally;
use doors::{Door, Doors};
pub(crate) use doors::{Peer, bearer};
pub(crate) use start::{Founder, fresh_secret};

/// One of those who ask, with all that is its own.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) id: TenantId,
    /// Another one takes its place when the configuration changes.
    keeper: RwLock<Arc<Keeper>>,
    /// What providers keep of its conversations.
    pub(crate) histories: Arc<Histories>,
    /// What was done so far.
    pub(crate) tally: Arc<Tally>,
    pub(crate) clients: Clients,
    pub(crate) quota: Arc<Quota>,
    /// Whether the store did not tell its key, so that its conversations are in memory only.
    is_keyless: bool,
}

impl Tenant {
    pub(crate) fn keeper(&self) -> Arc<Keeper> {
        let keeper = self.keeper.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&keeper)
    }

    /// Decides by other settings from the next request on.
    pub(crate) fn reconfigure(&self, config: &Config) {
        let next = Arc::new(self.keeper().reconfigured(config));
        *self.keeper.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Changes requests or only watches them, from the next one on.
    pub(crate) fn switch(&self, mode: Mode) {
        let mut keeper = self.keeper.write().unwrap_or_else(PoisonError::into_inner);
        if keeper.mode != mode {
            *keeper = Arc::new(keeper.switched(mode));
        }
    }
}

/// All tenants of a server.
#[derive(Debug)]
pub(crate) struct Register {
    /// By name.
    all: Vec<Arc<Tenant>>,
    /// Without any everybody is the one tenant there is.
    doors: Option<Doors>,
}

impl Register {
    /// These tenants, found as the settings say.
    pub(crate) fn new(mut all: Vec<Arc<Tenant>>, settings: &TenantSettings) -> Self {
        all.sort_by(|one, other| one.id.cmp(&other.id));
        let doors = settings.are_set().then(|| {
            let at = |id: &TenantId| all.iter().position(|tenant| tenant.id == *id);
            Doors::new(settings, at)
        });
        Self { all, doors }
    }

    pub(crate) fn all(&self) -> &[Arc<Tenant>] {
        &self.all
    }

    /// Whether requests are told apart.
    pub(crate) const fn tells_apart(&self) -> bool {
        self.doors.is_some()
    }

    pub(crate) fn named(&self, id: &str) -> Option<&Arc<Tenant>> {
        self.all.iter().find(|tenant| tenant.id.as_str() == id)
    }

    /// Whose a request is; `None` where nobody's.
    pub(crate) fn of_request(
        &self,
        headers: &HeaderMap,
        peer: Option<Peer>,
    ) -> Option<&Arc<Tenant>> {
        let Some(doors) = &self.doors else {
            return self.all.first();
        };
        self.at(doors.of_request(headers, peer)?)
    }

    /// Whose a key is, whichever kind of key.
    pub(crate) fn of_key(&self, key: &str) -> Option<&Arc<Tenant>> {
        self.at(self.doors.as_ref()?.of_key(key)?)
    }

    /// Who logged in with this.
    pub(crate) fn of_session(&self, session: &str, secret: &str) -> Option<&Arc<Tenant>> {
        self.at(self.doors.as_ref()?.of_session(session, secret)?)
    }

    /// What logging in with a key leaves in a browser: not the key, and nothing once the key is withdrawn.
    pub(crate) fn session(&self, key: &str, secret: &str) -> Option<String> {
        self.doors.as_ref()?.session(key, secret)
    }

    /// Takes out of a request what only says who asks.
    pub(crate) fn hide(&self, headers: &mut HeaderMap) {
        if let Some(doors) = &self.doors {
            doors.hide(headers);
        }
    }

    fn at(&self, door: Door) -> Option<&Arc<Tenant>> {
        self.all.get(door.0)
    }
}
