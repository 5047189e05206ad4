//! Histories on their way from the store: one that several requests ask for is read once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// By the answers that they lead to.
pub(super) type Readings = Arc<Mutex<HashMap<String, watch::Receiver<()>>>>;

/// A history is being read as long as this lives.
#[derive(Debug)]
pub(super) struct Reading {
    id: String,
    readings: Readings,
    /// Whoever waits learns that it is gone.
    _done: watch::Sender<()>,
}

impl Reading {
    /// Begins to read a history.
    ///
    /// # Errors
    /// Somebody reads it already: what changes when they are done.
    pub(super) fn begin(readings: &Readings, id: &str) -> Result<Self, watch::Receiver<()>> {
        let mut others = readings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(others) = others.get(id) {
            return Err(others.clone());
        }
        let (done, waiting) = watch::channel(());
        others.insert(id.to_owned(), waiting);
        Ok(Self {
            id: id.to_owned(),
            readings: Arc::clone(readings),
            _done: done,
        })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.remove(&self.id);
    }
}
