//! Servers and approvers that follow a script.

pub mod approver;
#[cfg(feature = "otel")]
pub mod collector;
pub mod scripted_model;
pub mod scripted_server;
pub mod web;
