//! What a server offers: tools, resources and prompts.

pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod result;
pub(crate) mod tool;
