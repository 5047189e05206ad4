//! Other settings for the same conversations.

use std::sync::Arc;

use epitome::Meter;
use epitome_wire::Memo;

use super::{Keeper, MEMO_CAPACITY};
use crate::config::{Config, Mode};

impl Keeper {
    /// The same conversations and beliefs under other settings. Requests that are under way stay with the old ones.
    pub(crate) fn reconfigured(&self, config: &Config) -> Self {
        let rules = self.rules.reconfigured(config);
        self.forget_thoughts(config.mode);
        Self {
            mode: config.mode,
            memo: Memo::new(Meter::Estimate, MEMO_CAPACITY).counting_as(rules.reference_meter()),
            models: self.models.reconfigured(
                config.windows.clone().or(config.window_tokens),
                config.settings.margins(),
                rules.preset.assumed_window(),
            ),
            rules,
            items: Arc::clone(&self.items),
            key: self.key,
            index: Arc::clone(&self.index),
            journal: Arc::clone(&self.journal),
            tasks: self.tasks.clone(),
        }
    }

    /// The same, changing requests or only watching them. Requests that are under way stay with what they began with.
    pub(crate) fn switched(&self, mode: Mode) -> Self {
        self.forget_thoughts(mode);
        Self {
            mode,
            memo: Memo::new(Meter::Estimate, MEMO_CAPACITY)
                .counting_as(self.rules.reference_meter()),
            models: self.models.clone(),
            rules: self.rules.clone(),
            items: Arc::clone(&self.items),
            key: self.key,
            index: Arc::clone(&self.index),
            journal: Arc::clone(&self.journal),
            tasks: self.tasks.clone(),
        }
    }

    fn forget_thoughts(&self, next: Mode) {
        if self.mode == Mode::Observe && next == Mode::Act {
            // What was only thought of is in no store.
            self.index.forget_epochs();
        }
    }
}
