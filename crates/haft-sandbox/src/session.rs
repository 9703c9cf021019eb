//! What the commands of a session share: roots, home, temporary files and caches.

pub(crate) mod ahead;
pub(crate) mod caches;
pub(crate) mod covered;
pub(crate) mod disk;
pub(crate) mod glance;
pub(crate) mod home;
pub(crate) mod kept;
pub(crate) mod private;
pub(crate) mod reached;
pub(crate) mod remembered;
pub(crate) mod sights;
pub(crate) mod whose_home;
