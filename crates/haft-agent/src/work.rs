//! One turn of a model: request, calls, and what haft adds.

pub(crate) mod ask;
pub(crate) mod calls;
pub mod each_time;
pub(crate) mod finishing;
pub(crate) mod images;
pub mod inbox;
pub(crate) mod offered;
pub mod preview;
pub mod told;
pub mod waiting;
