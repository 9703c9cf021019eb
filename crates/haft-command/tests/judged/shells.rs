//! Other shells than bash, and programs by other names.

mod other_names;
mod other_shells;
mod started_shells;
