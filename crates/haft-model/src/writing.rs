//! What requests say beside the conversation: effort, images, names.

pub mod effort;
pub mod images;
#[cfg(feature = "client")]
pub(crate) mod offered_names;
