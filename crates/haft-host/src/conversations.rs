//! Stored conversations with models: records, names, exports and replays.

#[cfg(feature = "agent")]
pub mod agent_records;
#[cfg(feature = "agent")]
pub mod circle_question;
#[cfg(feature = "agent")]
pub mod prompt_images;
#[cfg(feature = "agent")]
pub mod replay;
#[cfg(feature = "agent")]
pub mod session_export;
pub mod session_names;
#[cfg(feature = "agent")]
pub mod session_preview;
#[cfg(feature = "agent")]
pub mod session_records;
#[cfg(feature = "agent")]
pub mod user_commands;
