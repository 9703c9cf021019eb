//! Judges what a command changed in its layer, path by path.

pub(crate) mod covers;
pub(crate) mod generated;
pub(crate) mod harmless;
pub(crate) mod judge;
pub(crate) mod moved_to_refused;
pub(crate) mod sift;
pub(crate) mod well_known;
