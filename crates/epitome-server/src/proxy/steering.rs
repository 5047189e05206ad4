//! What may be changed while the proxy runs, and what is shown of it.

use std::sync::{Arc, PoisonError};

use super::Proxy;
use crate::config::{Config, Mode, ShownSetting};
use crate::keeper::Keeper;

impl Proxy {
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
