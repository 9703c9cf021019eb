//! Shows the results of `haft replay`. Not here: the replay itself (`haft_host::replay`).

pub(crate) mod told;
