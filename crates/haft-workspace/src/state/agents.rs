//! What haft remembers of agents of others between their events.

pub(crate) mod agent_process;
pub(crate) mod agent_turns;
pub(crate) mod judged_calls;
