//! Tools for tasks, thoughts, facts and questions of a session.

pub mod ask_user;
pub mod finish;
pub mod remember;
pub mod think;
pub mod todo;
pub mod undo;
