//! How a tool is described to a model: words, schema, shapes, and the forms of other systems.

pub mod dialect;
pub mod lift;
pub mod manual;
pub mod page_style;
pub mod schema;
pub mod schema_rules;
pub mod shape;
pub mod spec;
