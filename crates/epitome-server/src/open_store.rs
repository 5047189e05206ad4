//! A store that many write to.

use std::sync::{Arc, Weak};

use epitome_store::{AnyStore, Store as _};

/// A store that is closed when the last of those who write to it is done. A clone is for one more of them.
#[derive(Clone, Debug)]
pub(crate) struct OpenStore {
    store: Arc<AnyStore>,
    writers: Arc<()>,
}

impl OpenStore {
    pub(crate) fn new(store: Arc<AnyStore>) -> Self {
        Self {
            store,
            writers: Arc::default(),
        }
    }

    pub(crate) const fn store(&self) -> &Arc<AnyStore> {
        &self.store
    }

    /// For whoever lets others write, and does not write itself.
    pub(crate) fn lent(&self) -> LentStore {
        LentStore {
            store: Some(Arc::clone(&self.store)),
            writers: Arc::downgrade(&self.writers),
        }
    }

    /// One of them is done.
    pub(crate) async fn done(self) {
        if Arc::into_inner(self.writers).is_some() {
            self.store.close().await;
        }
    }
}

/// A store that somebody else keeps open.
#[derive(Clone, Debug, Default)]
pub(crate) struct LentStore {
    store: Option<Arc<AnyStore>>,
    writers: Weak<()>,
}

impl LentStore {
    pub(crate) const fn is_some(&self) -> bool {
        self.store.is_some()
    }

    /// The store for one who writes, as long as somebody else does; `None` where there is none.
    pub(crate) fn open(&self) -> Option<OpenStore> {
        Some(OpenStore {
            store: Arc::clone(self.store.as_ref()?),
            writers: self.writers.upgrade()?,
        })
    }
}
