//! Reads what providers send: repairs, written calls, refusals.

#[cfg(feature = "client")]
pub(crate) mod foreign;
#[cfg(feature = "client")]
pub(crate) mod made_ids;
#[cfg_attr(not(feature = "client"), expect(dead_code, reason = "the forms of providers use the rest"))]
pub(crate) mod raw_json;
#[cfg(feature = "client")]
pub(crate) mod refused;
pub(crate) mod repaired;
#[cfg(feature = "client")]
pub(crate) mod written_calls;
#[cfg(all(test, feature = "client"))]
pub(crate) mod written_streams;
