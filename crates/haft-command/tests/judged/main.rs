//! Commands that are read, and then judged by the default rules in the scene of the examples.

mod paths;
mod programs;
mod shells;
mod values;
