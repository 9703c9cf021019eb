//! Cases that tests read, and generators of cases.

pub mod command_cases;
pub mod everyday;
pub mod mutator;
pub mod parted;
