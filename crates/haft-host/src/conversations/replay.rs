//! Replays a recorded session in a copy of the workspace, without a model, and compares.

mod adapted;
mod answered;
pub mod compared;
mod recorded;
pub mod records;
pub mod session_replay;
