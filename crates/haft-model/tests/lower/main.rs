//! What every provider is told about a tool, and that nothing is lost on the way back.

mod accepted;
mod lifting;
mod lists;
mod names;
mod random;
mod receipts;
mod refusals;
mod table;
