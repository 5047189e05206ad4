//! What may be changed while the proxy runs, and what is shown of it.

use std::sync::{Arc, PoisonError};

use super::Proxy;
use crate::config::{Config, Mode, ShownSetting, StartError};
use crate::tenants::{Founder, Register};

impl Proxy {
    /// Those who ask.
    pub(crate) fn register(&self) -> Arc<Register> {
        let register = self.register.read();
        Arc::clone(&register.unwrap_or_else(PoisonError::into_inner))
    }

    /// Decides by other settings from the next request on. Who is no tenant any more gets no answer from then on.
    ///
    /// # Errors
    /// Where tenants would be told apart from now on, or no longer: whose conversations are whose is settled at the start; and
    /// where quotas have nothing to be counted by, or principals would be believed of any page.
    pub(crate) async fn reconfigure(&self, config: &Config) -> Result<(), StartError> {
        let register = self.register();
        if register.tells_apart() != config.tenants.are_set() {
            return Err(StartError::TenantsNeedRestart);
        }
        if let Some(limited) = config.tenants.limited()
            && !self.founder.has_store()
        {
            return Err(StartError::QuotaWithoutStore(limited.clone()));
        }
        for tenant in register.all() {
            tenant.reconfigure(config);
        }
        if let Some(named) = config.tenants.with_principals()
            && self.own.answers_to_any()
        {
            return Err(StartError::NoHosts(named.clone()));
        }
        // Whose key is withdrawn is out at once, however long the store takes to let others in.
        let there = register.all();
        self.publish(Founder::known(config, there));
        self.publish(self.founder.register(config, there).await);
        Ok(())
    }

    fn publish(&self, next: Register) {
        let register = self.register.write();
        *register.unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }

    /// Changes requests or only watches them, from the next one on.
    pub(crate) fn switch(&self, mode: Mode) {
        for tenant in self.register().all() {
            tenant.switch(mode);
        }
    }

    /// The settings as they are shown.
    pub(crate) fn shown(&self) -> Arc<[ShownSetting]> {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&shown)
    }

    /// Shows these settings from now on.
    pub(crate) fn show(&self, settings: Vec<ShownSetting>) {
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = settings.into();
    }
}
