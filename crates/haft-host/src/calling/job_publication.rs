//! Publishes the jobs of a session to other processes of the user, who look for it in haft's state.

use std::io;
use std::sync::Weak;

use haft_contract::doors::job::{JobService, Jobs, Publication};
use haft_workspace::state::WorkspaceState;

/// Publishes jobs in the state of a workspace.
pub(crate) struct StateJobService(pub(crate) WorkspaceState);

impl JobService for StateJobService {
    fn publish(&self, session: &str, jobs: Weak<dyn Jobs>) -> io::Result<Publication> {
        let held = self.0.live_sessions().hold(session)?;
        let served = haft_net::jobs::serve(&held.socket.path(), jobs)?;
        // The folder goes after who serves in it.
        Ok(Box::new((served, held)))
    }
}
