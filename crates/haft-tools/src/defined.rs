//! Tools from files: definitions, their backends, prompt files and skills.

pub mod bound;
pub mod definition;
pub mod prompt_file;
pub mod skill;
