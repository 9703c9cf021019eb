//! Commands that call, show and check tools.

pub(crate) mod call;
pub(crate) mod call_lines;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod new_tool;
pub(crate) mod tools;
