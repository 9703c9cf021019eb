//! Tools for the web.

pub mod fetch;
pub mod web_search;
