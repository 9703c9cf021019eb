//! Shows the results of `haft replay`. Not here: the replay itself (`haft_host::conversations::replay`).

pub(crate) mod told;
