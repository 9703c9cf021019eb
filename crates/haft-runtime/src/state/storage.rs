//! Stores what the tools of one session keep for each other: in memory, bounded, dropped with the session.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use haft_contract::BoxFuture;
use haft_contract::doors::session_state::{AgentState, LockGuard, Storage};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::grouped::GroupedNumber;
use indexmap::IndexMap;
use serde_json::Value;

/// Most bytes that all keys and values of a session may have together, as JSON.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The storage of one session.
#[derive(Default)]
pub(crate) struct SessionStorage {
    kept: Mutex<StoredValues>,
    /// A lock lives as long as a caller holds it or waits for it.
    locks: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

#[derive(Default)]
struct StoredValues {
    values: IndexMap<String, (Arc<Value>, usize)>,
    bytes: usize,
}

impl SessionStorage {
    /// Forgets everything that is kept. Locks that are held stay so.
    pub(crate) fn forget(&self) {
        *self.kept() = StoredValues::default();
    }

    fn kept(&self) -> MutexGuard<'_, StoredValues> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_named(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(name).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(name.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

impl Storage for SessionStorage {
    fn get(&self, key: &str) -> Option<Arc<Value>> {
        self.kept().values.get(key).map(|(value, _)| Arc::clone(value))
    }

    fn set(&self, key: &str, value: Value) -> Result<(), ToolError> {
        let size = key.len() + size_of_json(&value);
        let mut kept = self.kept();
        let before = kept.values.get(key).map_or(0, |(_, size)| *size);
        let bytes = kept.bytes - before + size;
        if bytes > MOST_BYTES {
            return Err(full(key, size, kept.bytes - before));
        }
        kept.bytes = bytes;
        kept.values.insert(key.to_owned(), (Arc::new(value), size));
        Ok(())
    }

    fn delete(&self, key: &str) -> bool {
        let mut kept = self.kept();
        let removed = kept.values.shift_remove(key);
        kept.bytes -= removed.as_ref().map_or(0, |(_, size)| *size);
        removed.is_some()
    }

    fn keys(&self) -> Vec<String> {
        self.kept().values.keys().cloned().collect()
    }

    fn lock<'a>(&'a self, name: &'a str) -> BoxFuture<'a, LockGuard> {
        let lock = self.lock_named(name);
        Box::pin(async move { Box::new(lock.lock_owned().await) as LockGuard })
    }
}

fn full(key: &str, size: usize, others: usize) -> ToolError {
    let [size, others, most] = [size, others, MOST_BYTES].map(|bytes| GroupedNumber(bytes as u64));
    let what = format!(
        "\"{key}\" with {size} bytes does not fit into the storage of the session: it holds at most {most} bytes, and \
         the other keys have {others}."
    );
    ToolError::new(
        ErrorKind::TooLarge,
        what,
        Next::DoNotRetry("store less, or delete keys that are no longer needed".into()),
    )
}

/// Returns about how long a value is as JSON, without writing it.
fn size_of_json(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 16,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size_of_json(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, value)| name.len() + 4 + size_of_json(value)).sum::<usize>()
        }
    }
}

/// What is known of an agent that has not said anything of itself: its turn.
pub(crate) struct TurnOnly(pub(crate) u64);

impl AgentState for TurnOnly {
    fn current_iteration(&self) -> u64 {
        self.0
    }

    fn history_length(&self) -> usize {
        0
    }

    fn history(&self, _range: Range<usize>) -> Vec<Value> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use serde_json::json;

    #[test]
    fn what_is_kept_is_found_again_in_the_order_in_which_it_came() {
        let storage = SessionStorage::default();
        for key in ["b", "a", "c"] {
            storage.set(key, json!({ "of": key })).unwrap();
        }
        storage.set("b", json!(2)).unwrap();
        assert!(storage.delete("a") && !storage.delete("a"));
        assert_eq!(storage.keys(), ["b", "c"]);
        assert_eq!(storage.get("b").as_deref(), Some(&json!(2)));
        assert_eq!(storage.get("a"), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_was_there_stays() {
        let storage = SessionStorage::default();
        storage.set("small", json!(1)).unwrap();
        storage.set("big", json!("x".repeat(10 << 20))).unwrap();
        let refused = storage.set("small", json!("x".repeat(7 << 20))).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::TooLarge);
        assert!(refused.what.contains("\"small\"") && refused.what.contains("16,777,216"), "{}", refused.what);
        assert_eq!(storage.get("small").as_deref(), Some(&json!(1)));
        storage.set("big", json!(0)).unwrap();
        storage.set("small", json!("x".repeat(7 << 20))).unwrap();
    }

    #[tokio::test]
    async fn a_lock_is_held_until_its_guard_is_dropped() {
        let storage = SessionStorage::default();
        let held = storage.lock("a").await;
        assert!(storage.lock("a").now_or_never().is_none());
        assert!(storage.lock("b").now_or_never().is_some());
        drop(held);
        assert!(storage.lock("a").now_or_never().is_some());
        assert!(storage.locks.lock().unwrap().len() <= 2);
    }
}
