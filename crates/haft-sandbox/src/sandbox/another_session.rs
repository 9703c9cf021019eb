//! Opens a door to processes for another session of the same workspace; the sessions share no files that commands leave.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Sandbox;
use crate::connections::network_jobs::NetworkJobs;
use crate::running::standby::Launchers;
use crate::session::home::HomeWatch;

impl Sandbox {
    /// Returns a door for another session. Both know what was found out about this machine; each has launchers, a home,
    /// temporary folders and a network of its own, from its first command on.
    pub(super) fn of_another_session(&self) -> Self {
        let network = self.network.as_ref().map(|network| network.for_another_session());
        let launcher = self.launchers.launcher.clone();
        let launchers = match &network {
            Some(network) => Launchers::supervised_by(launcher, network.clone()),
            None => Launchers::new(launcher),
        };
        Self {
            launchers: Arc::new(launchers),
            settings: Arc::clone(&self.settings),
            strongest: self.strongest,
            is_off: self.is_off,
            network,
            remembered: self.remembered.clone(),
            known: Arc::clone(&self.known),
            covered: Arc::clone(&self.covered),
            keys: Arc::clone(&self.keys),
            home: HomeWatch::default(),
            guests: Arc::default(),
            told_of_caches: AtomicBool::new(false),
            told_of_level: AtomicBool::new(false),
            jobs: NetworkJobs::default(),
        }
    }
}
