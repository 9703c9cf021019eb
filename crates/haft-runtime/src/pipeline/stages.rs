//! The stages of a call: one file, one function, one type in, the next type out.

pub(crate) mod authorize;
pub(crate) mod connections;
mod desk_of_user;
pub(crate) mod execute;
pub(crate) mod line_up;
pub(crate) mod parse;
pub(crate) mod prepare;
pub(crate) mod recall;
pub(crate) mod resolve;
pub(crate) mod shrink;
