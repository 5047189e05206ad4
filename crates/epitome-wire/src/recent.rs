//! Values by name, as many of the newest as fit.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Values by their names, as many of those that were used last as fit.
///
/// ```
/// use epitome_wire::Recent;
///
/// let recent = Recent::new(1 << 20);
/// recent.put("one".to_owned(), 1, 100);
/// assert_eq!(recent.find("one"), Some(1));
/// assert_eq!(recent.find("two"), None);
/// ```
#[derive(Debug)]
pub struct Recent<T> {
    kept: Mutex<Kept<T>>,
    capacity_bytes: usize,
}

/// Two generations: when the younger one is full, the older one is forgotten. Each value with the bytes that it takes.
#[derive(Debug)]
struct Kept<T> {
    young: HashMap<String, (T, usize)>,
    young_bytes: usize,
    old: HashMap<String, (T, usize)>,
}

impl<T: Clone> Recent<T> {
    /// Keeps about so many bytes.
    #[must_use]
    pub fn new(capacity_bytes: usize) -> Self {
        let kept = Kept {
            young: HashMap::new(),
            young_bytes: 0,
            old: HashMap::new(),
        };
        Self {
            kept: Mutex::new(kept),
            capacity_bytes,
        }
    }

    /// Keeps a value that takes so many bytes.
    pub fn put(&self, name: String, value: T, bytes: usize) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(name, value, bytes, self.capacity_bytes / 2);
    }

    /// The value of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, _)) = kept.young.get(name) {
            return Some(found.clone());
        }
        let (name, (found, bytes)) = kept.old.remove_entry(name)?;
        kept.put(name, found.clone(), bytes, self.capacity_bytes / 2);
        Some(found)
    }
}

impl<T> Kept<T> {
    fn put(&mut self, name: String, value: T, bytes: usize, most_bytes: usize) {
        self.young_bytes += name.len() + bytes;
        self.young.insert(name, (value, bytes));
        if self.young_bytes > most_bytes {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}
