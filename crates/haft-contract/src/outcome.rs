//! How a call ended: result, output and error.

pub mod error;
pub mod kinds;
pub mod output;
pub mod result;
