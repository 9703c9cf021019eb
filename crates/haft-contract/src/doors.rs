//! The traits of the doors, and what passes through them.

pub mod before_image;
pub mod command_run;
pub mod connection;
pub mod door;
pub mod history;
pub mod idle_workers;
pub mod inspection;
pub mod job;
pub mod net;
pub mod process;
pub mod reader;
pub mod session_state;
pub mod user_questions;
pub mod web;
