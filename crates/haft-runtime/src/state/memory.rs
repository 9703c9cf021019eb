//! Remembers the calls of a session and the files it has read.
//!
//! One memory serves several readers: redundancy, "you already tried exactly this", failures in a row, which files were
//! read and in which version, and results that haft may reuse.
//!
//! The memory is bounded: it forgets the oldest calls first.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::call::CallId;
use haft_contract::context::ReadHistory;
use haft_contract::description::spec::Spec;
use haft_contract::doors::door::{ReadVersion, Receipt};
use haft_contract::files::path::Target;
use haft_contract::files::stamp::FileStamp;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::{Content, ToolOutput};
use serde_json::Value;

use super::kept::KeptKey;

/// Most calls remembered.
const MOST_CALLS: usize = 4_096;
/// Most results kept for identical calls.
const MOST_KEPT: usize = 256;
/// Largest result that is kept, in bytes.
const LARGEST_KEPT: usize = 1024 * 1024;
/// Most files remembered.
const MOST_FILES: usize = 65_536;
/// Most kinds of repairs and hints remembered.
const MOST_TOLD: usize = 1_024;
/// Most bytes of contents remembered, so that a file that changed can be compared with what was read.
const MOST_CONTENT: usize = 32 * 1024 * 1024;

/// Most versions of one file that are remembered.
const MOST_VERSIONS: usize = 32;

/// Identifies what was called: the native tool and its canonical arguments.
///
/// Both are hashes with the keys of one memory: a key is small, and no two calls of a session have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallKey {
    tool: u64,
    arguments: u128,
}

impl Hash for CallKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u128(self.arguments);
    }
}

/// Hashes a value that is already a hash by returning it.
#[derive(Clone, Copy, Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, hash: u128) {
        let [low, high] = [hash, hash >> 64].map(|half| (half & u128::from(u64::MAX)) as u64);
        self.0 = low ^ high;
    }
}

/// Returns the stamp that a file has now.
pub(crate) type Stamping<'a> = &'a dyn Fn(&Target) -> Option<FileStamp>;

/// How an earlier call ended, and where its result is.
#[derive(Clone, Debug)]
pub(crate) struct RememberedCall {
    pub(crate) call: CallId,
    pub(crate) turn: u64,
    pub(crate) went: Went,
    /// Whether the text of its result is still in the conversation.
    pub(crate) in_conversation: bool,
}

/// How a call went, as far as later calls care.
#[derive(Clone, Debug)]
pub(crate) enum Went {
    /// It worked, and read these versions of files.
    Ok(Vec<(Target, FileStamp)>),
    /// It failed, in this way.
    Failed(FailureFingerprint),
}

/// The kind of a failure, and a hash of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FailureFingerprint(ErrorKind, u64);

impl FailureFingerprint {
    /// Remembers an error as the model read it.
    pub(crate) fn of(error: &ToolError) -> Self {
        let mut hasher = DefaultHasher::new();
        error.what.hash(&mut hasher);
        Self(error.kind, hasher.finish())
    }
}

/// The memory of one session.
#[derive(Default)]
pub(crate) struct Memory {
    hashing: RandomState,
    remembered: Mutex<MemoryTables>,
}

#[derive(Default)]
struct MemoryTables {
    calls: HashMap<CallKey, RememberedCall, BuildHasherDefault<IdentityHasher>>,
    order: VecDeque<CallKey>,
    read: HashMap<Target, ReadVersion>,
    /// Fingerprints of the contents of files that were read, the oldest first: an undo may bring one of them back.
    seen: HashMap<Target, VecDeque<u128>>,
    /// The files whose content is kept, in the order they were read, and how many bytes that is.
    contents: (VecDeque<Target>, usize),
    failures_in_a_row: HashMap<u64, usize>,
    kept: HashMap<KeptKey, (ToolOutput, Instant)>,
    /// The kinds of repairs that were told, each with its tool, and hints.
    told: HashSet<(String, String)>,
}

impl Memory {
    /// Makes the key of a call from its native tool and arguments, whatever their order.
    ///
    /// The version of the tool is part of it: what an older one answered is no answer of this one.
    pub(crate) fn key(&self, tool: &Spec, arguments: &Value) -> CallKey {
        self.key_by(&tool.name, |hasher| {
            tool.version.hash(hasher);
            hash_canonical(arguments, hasher);
        })
    }

    /// Makes the key of a call whose arguments could not be read.
    pub(crate) fn key_of_text(&self, tool: &str, text: &str) -> CallKey {
        self.key_by(tool, |hasher| ("text", text).hash(hasher))
    }

    fn key_by(&self, tool: &str, hash: impl Fn(&mut DefaultHasher)) -> CallKey {
        let hash_all = |hasher: &mut DefaultHasher| {
            tool.hash(hasher);
            hash(hasher);
        };
        CallKey { tool: self.hashing.hash_one(tool), arguments: self.fingerprint(hash_all) }
    }

    /// Returns a hash long enough to exclude chance collisions. The hasher's state has twice as many bits as the result.
    fn fingerprint(&self, hash: impl Fn(&mut DefaultHasher)) -> u128 {
        let mut hasher = self.hashing.build_hasher();
        hash(&mut hasher);
        let first = hasher.finish();
        hasher.write_u8(0);
        u128::from(first) << 64 | u128::from(hasher.finish())
    }

    /// Remembers how a call went, which files it read, and what it left of those that were read before.
    pub(crate) fn remember(
        &self,
        key: CallKey,
        remembered: RememberedCall,
        (receipts, stamp): (&[Receipt], Stamping<'_>),
    ) {
        let mut inner = self.inner();
        for receipt in receipts {
            match receipt {
                Receipt::Read(target, version) => {
                    let content = version.bytes.as_ref().map(|bytes| self.fingerprint(|hasher| bytes.hash(hasher)));
                    inner.note_read(target, version.clone());
                    inner.note_seen(target, content);
                }
                Receipt::Changed(target, _) => {
                    if let Some(version) = inner.read.get_mut(target) {
                        version.left = stamp(target);
                    }
                }
                Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => {}
            }
        }
        match remembered.went {
            Went::Ok(_) if inner.failures_in_a_row.is_empty() => {}
            Went::Ok(_) => drop(inner.failures_in_a_row.remove(&key.tool)),
            Went::Failed(_) => *inner.failures_in_a_row.entry(key.tool).or_default() += 1,
        }
        if inner.calls.insert(key, remembered).is_none() {
            inner.order.push_back(key);
        }
        if inner.order.len() > MOST_CALLS
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.calls.remove(&oldest);
        }
    }

    /// Returns how the same call went before.
    pub(crate) fn earlier(&self, key: &CallKey) -> Option<RememberedCall> {
        self.inner().calls.get(key).cloned()
    }

    /// Returns how often the tool has failed since it last worked.
    pub(crate) fn failures_in_a_row(&self, key: &CallKey) -> usize {
        self.inner().failures_in_a_row.get(&key.tool).copied().unwrap_or(0)
    }

    /// Keeps a result for identical calls; the oldest goes when there are too many.
    pub(crate) fn keep(&self, key: KeptKey, output: ToolOutput) {
        let size: usize = output.for_model.iter().map(Content::size).sum();
        if size > LARGEST_KEPT {
            return;
        }
        let mut inner = self.inner();
        if inner.kept.len() >= MOST_KEPT
            && let Some(oldest) = inner.kept.iter().min_by_key(|(_, (_, since))| *since).map(|(key, _)| key.clone())
        {
            inner.kept.remove(&oldest);
        }
        inner.kept.insert(key, (output, Instant::now()));
    }

    /// Returns a kept result that is no older than this, and how old it is.
    pub(crate) fn kept(&self, key: &KeptKey, no_older: Duration) -> Option<(ToolOutput, Duration)> {
        let inner = self.inner();
        let (output, since) = inner.kept.get(key)?;
        let age = since.elapsed();
        (age <= no_older).then(|| (output.clone(), age))
    }

    /// Notes that a kind of repair is told of a tool, or a hint of none; returns whether it is the first time.
    pub(crate) fn is_first_time(&self, tool: &str, kind: String) -> bool {
        let mut inner = self.inner();
        if inner.told.len() >= MOST_TOLD {
            inner.told.clear();
        }
        inner.told.insert((tool.to_owned(), kind))
    }

    /// Notes that the text of a result is not in the conversation any more.
    pub(crate) fn text_dropped(&self, call: &CallId) {
        let mut inner = self.inner();
        for remembered in inner.calls.values_mut().filter(|remembered| remembered.call == *call) {
            remembered.in_conversation = false;
        }
    }

    /// Forgets everything.
    pub(crate) fn forget(&self) {
        *self.inner() = MemoryTables::default();
    }

    fn inner(&self) -> MutexGuard<'_, MemoryTables> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryTables {
    /// Remembers that a file had this content. The oldest is forgotten first.
    fn note_seen(&mut self, target: &Target, content: Option<u128>) {
        let Some(content) = content.filter(|_| self.read.contains_key(target)) else { return };
        let seen = self.seen.entry(target.clone()).or_default();
        seen.retain(|earlier| *earlier != content);
        seen.push_back(content);
        if seen.len() > MOST_VERSIONS {
            seen.pop_front();
        }
    }

    /// Remembers a version that was read. The contents of the files read longest ago are forgotten first.
    fn note_read(&mut self, target: &Target, version: ReadVersion) {
        if self.read.len() >= MOST_FILES && !self.read.contains_key(target) {
            return;
        }
        let size = version.bytes.as_ref().map_or(0, |bytes| bytes.len());
        let earlier = self.read.insert(target.clone(), version).and_then(|earlier| earlier.bytes);
        let (order, kept) = &mut self.contents;
        if let Some(bytes) = earlier {
            *kept -= bytes.len();
            // It is there once, and who reads everything again finds it in front.
            if let Some(place) = order.iter().position(|known| known == target) {
                order.remove(place);
            }
        }
        if size > 0 {
            order.push_back(target.clone());
            *kept += size;
        }
        while *kept > MOST_CONTENT
            && let Some(oldest) = order.pop_front()
        {
            let forgotten = self.read.get_mut(&oldest).and_then(|version| version.bytes.take());
            *kept -= forgotten.map_or(0, |bytes| bytes.len());
        }
    }
}

impl ReadHistory for Memory {
    fn when_read(&self, target: &Target) -> Option<ReadVersion> {
        self.inner().read.get(target).cloned()
    }

    fn has_seen(&self, target: &Target, content: &[u8]) -> bool {
        let fingerprint = self.fingerprint(|hasher| content.hash(hasher));
        self.inner().seen.get(target).is_some_and(|seen| seen.contains(&fingerprint))
    }
}

/// Hashes a value so that the order of an object's keys does not matter.
fn hash_canonical(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(flag) => (1u8, flag).hash(hasher),
        Value::Number(number) => (2u8, number).hash(hasher),
        Value::String(text) => (3u8, text).hash(hasher),
        Value::Array(items) => {
            (4u8, items.len()).hash(hasher);
            items.iter().for_each(|item| hash_canonical(item, hasher));
        }
        Value::Object(fields) => {
            (5u8, fields.len()).hash(hasher);
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in sorted {
                key.hash(hasher);
                hash_canonical(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_but_values_do() {
        let memory = Memory::default();
        let tool =
            |name: &str| Spec::new(name, haft_contract::description::manual::Manual::plain(name, "Words."), json!({}));
        let key = |value| memory.key(&tool("t"), &value);
        assert_eq!(
            key(json!({ "a": 1, "b": [{ "c": 2, "d": 3 }] })),
            key(json!({ "b": [{ "d": 3, "c": 2 }], "a": 1 }))
        );
        assert_ne!(key(json!({ "a": 1 })), key(json!({ "a": "1" })));
        assert_ne!(key(json!({ "a": ["b", "c"] })), key(json!({ "a": ["c", "b"] })));
        assert_ne!(memory.key(&tool("t"), &json!({})), memory.key(&tool("u"), &json!({})));
        let newer = Spec { version: "2".into(), ..tool("t") };
        assert_ne!(memory.key(&tool("t"), &json!({})), memory.key(&newer, &json!({})));
    }

    #[test]
    fn memory_is_bounded() {
        let memory = Memory::default();
        for index in 0..MOST_CALLS + 10 {
            let went =
                RememberedCall { call: CallId::new("1"), turn: 1, went: Went::Ok(Vec::new()), in_conversation: true };
            memory.remember(memory.key_of_text("t", &index.to_string()), went, (&[], &|_| None));
        }
        assert_eq!(memory.inner().calls.len(), MOST_CALLS);
        assert!(memory.earlier(&memory.key_of_text("t", "0")).is_none());
    }
}
