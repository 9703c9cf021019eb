//! The workers that tools keep between calls. They end with the door through which they were started.
//!
//! A tool outlives a session, and serves many of them. A worker uses the home, the temporary folders and the network of the
//! session for which it was started. So tools do not own their workers: the doors of the session do.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The workers of one door to processes. Clones share them.
#[derive(Clone, Default)]
pub struct IdleWorkers {
    by_type: Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>,
}

impl IdleWorkers {
    /// Returns what a tool keeps here under a type of its own.
    pub fn of<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut by_type = self.by_type.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = by_type.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The key is the type, so the value has it.
        Arc::clone(kept).downcast().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one_value_that_clones_share_and_that_ends_with_them() {
        let workers = IdleWorkers::default();
        *workers.of::<Mutex<u8>>().lock().expect("no one panicked") = 7;
        assert_eq!(*workers.clone().of::<Mutex<u8>>().lock().expect("no one panicked"), 7);
        assert_eq!(*workers.of::<Mutex<u16>>().lock().expect("no one panicked"), 0);
        let kept = Arc::downgrade(&workers.of::<Mutex<u8>>());
        drop(workers);
        assert!(kept.upgrade().is_none());
    }
}
