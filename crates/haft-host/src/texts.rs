//! Texts that the host prepares for people and programs.

#[cfg(feature = "agent")]
pub mod agent_lines;
pub mod argument_lines;
pub mod bounded_text;
pub mod for_person;
pub mod result_preview;
#[cfg(feature = "agent")]
pub mod shown_tools;
pub mod wrapped;
