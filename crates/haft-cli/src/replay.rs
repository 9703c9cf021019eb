//! What `haft replay` shows. Not here: the replay itself (`haft_host::replay`).

pub(crate) mod told;
