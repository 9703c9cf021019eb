//! Permits, containment, and commands that haft itself runs.

pub mod containment;
pub mod inspecting;
pub(crate) mod permits;
