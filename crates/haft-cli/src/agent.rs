//! Runs a model from the command line.
//!
//! Not here: the loop itself (`haft-agent`), the choice of model and the records of a session (`haft-host`).

mod ending;
pub(crate) mod flags;
pub(crate) mod output;
mod teller;
mod waiting;
pub(crate) mod work;
