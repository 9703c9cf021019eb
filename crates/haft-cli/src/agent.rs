//! A model at work, as the command line runs it: which one, what is shown of it, where its session is kept.
//!
//! Not here: the loop itself (`haft-agent`), the files (`haft-workspace`).

pub(crate) mod asked_to_stop;
pub(crate) mod choice;
mod ending;
pub(crate) mod flags;
pub(crate) mod kept;
pub(crate) mod output;
pub(crate) mod providers;
pub(crate) mod shown;
#[cfg(feature = "otel")]
mod spans;
#[cfg(not(feature = "otel"))]
#[path = "agent/no_spans.rs"]
mod spans;
mod stream;
mod teller;
pub(crate) mod tuning;
mod waiting;
pub(crate) mod whose;
pub(crate) mod work;
