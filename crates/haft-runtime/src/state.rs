//! What a session keeps between calls.

pub(crate) mod jobs;
pub(crate) mod kept;
pub(crate) mod memory;
pub mod session;
pub(crate) mod storage;
pub mod taint;
