//! What a model sent: one call of one tool.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::description::lift::InverseLowering;
use crate::doors::process::CallerStreams;

/// Identifies a call within its session; results, events and output chunks carry it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Takes the id that a model or a driver chose.
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(Arc::from(id.as_ref()))
    }

    /// Makes an id that sorts by time, for callers that have none.
    ///
    /// It is a UUID of version 7: the time, a count, and what tells this process from others. Random bits are drawn once,
    /// because drawing them for each id would ask the kernel each time.
    pub fn fresh() -> Self {
        static OF_PROCESS: LazyLock<uuid::Uuid> = LazyLock::new(uuid::Uuid::now_v7);
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut rest = [0; 10];
        // The version and the variant take the first four bits of these and the first two bits behind them.
        let [high, low] = [count >> 14 & 0xfff, count & 0x3fff].map(|part| part as u16);
        rest[..2].copy_from_slice(&high.to_be_bytes());
        rest[2..4].copy_from_slice(&low.to_be_bytes());
        rest[4..].copy_from_slice(&OF_PROCESS.as_bytes()[10..]);
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &rest).into_uuid();
        Self::new(id.simple().encode_lower(&mut uuid::Uuid::encode_buffer()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One call of one tool, as it came in.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Identifies the call.
    pub id: CallId,
    /// The name of the tool as the caller wrote it.
    pub name: String,
    /// The arguments, not yet understood.
    pub arguments: RawArguments,
    /// Who made the call.
    pub origin: CallOrigin,
    /// Turns arguments of a provider's lowered schema back; none when the schema was not lowered.
    pub lift: Option<Arc<InverseLowering>>,
    /// The standard streams for its command, where the caller brings them along.
    pub streams: Option<CallerStreams>,
}

impl ToolCall {
    /// Makes a call of a model with a fresh id.
    pub fn new(name: impl Into<String>, arguments: RawArguments) -> Self {
        Self { id: CallId::fresh(), name: name.into(), arguments, origin: CallOrigin::Model, lift: None, streams: None }
    }

    /// Gives the call the id that its caller chose.
    pub fn with_id(mut self, id: impl AsRef<str>) -> Self {
        self.id = CallId::new(id);
        self
    }

    /// Says who made the call.
    pub fn by(mut self, origin: CallOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// Gives the command of the call these standard streams.
    pub fn with_streams(mut self, streams: CallerStreams) -> Self {
        self.streams = Some(streams);
        self
    }

    /// Says how the arguments are turned back from a provider's schema.
    pub fn lifted_by(mut self, lift: Arc<InverseLowering>) -> Self {
        self.lift = Some(lift);
        self
    }
}

/// Arguments as they came in.
#[derive(Clone, Debug, PartialEq)]
pub enum RawArguments {
    /// The text exactly as a model sent it; it may be broken.
    Text(String),
    /// An object that the caller has parsed already.
    Object(Map<String, Value>),
    /// `key=value` words of a command line, read by the schema.
    Words(Vec<(String, String)>),
}

impl From<String> for RawArguments {
    /// Takes the text as a model sent it.
    fn from(text: String) -> Self {
        RawArguments::Text(text)
    }
}

impl From<&str> for RawArguments {
    /// Takes the text as a model sent it.
    fn from(text: &str) -> Self {
        RawArguments::Text(text.to_owned())
    }
}

impl From<Value> for RawArguments {
    /// Takes an object as it is; any other value as the text it would be.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(map) => RawArguments::Object(map),
            Value::String(text) => RawArguments::Text(text),
            other => RawArguments::Text(other.to_string()),
        }
    }
}

/// The maker of a call. It decides what must have been read before it is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOrigin {
    /// A person at a terminal who sees the question and answers it.
    Person,
    /// A command line that no person attends.
    Script,
    /// A model, also through another program.
    Model,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_differ_and_sort_in_the_order_in_which_they_were_made() {
        let ids: Vec<CallId> = (0..20_000).map(|_| CallId::fresh()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "the clock may have been set back");
        let id = uuid::Uuid::parse_str(ids[0].as_str()).expect("it is a UUID");
        assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
    }
}
