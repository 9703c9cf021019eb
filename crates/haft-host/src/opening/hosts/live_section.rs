//! Reads `[network]` again when the settings file changes: a running session uses what `haft network allow` adds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::sections::network::{HostSelector, NetworkSection};
use haft_config::settings::Settings;
use haft_contract::files::stamp::FileStamp;
use haft_workspace::state::{read_config_file, stamps_of};

/// The section, read again whenever its file has changed. A file with a mistake changes nothing.
pub(super) struct LiveSection {
    /// The user's file; nothing for what never changes.
    file: Option<PathBuf>,
    /// What a project denies beside the file.
    denied_by_project: Vec<HostSelector>,
    /// Whether only what is denied counts.
    only_denies: bool,
    known: Mutex<NetworkSectionSnapshot>,
}

/// The `[network]` section as it was last read, with the stamp of its file.
struct NetworkSectionSnapshot {
    stamp: Option<FileStamp>,
    section: Arc<NetworkSection>,
}

impl LiveSection {
    pub(super) fn of(settings: &Settings) -> Self {
        let file = settings.config_file.clone();
        let known = NetworkSectionSnapshot { stamp: stamp(&file), section: Arc::new(settings.network.clone()) };
        let denied_by_project = settings.denied_by_project.clone();
        Self { file: Some(file), denied_by_project, only_denies: false, known: Mutex::new(known) }
    }

    /// Leaves out what is allowed.
    pub(super) fn only_denying(mut self) -> Self {
        self.only_denies = true;
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        known.section = Arc::new(NetworkSection { allow: Vec::new(), ..(*known.section).clone() });
        self
    }

    /// Makes the section stay as it is now, whatever the file says later.
    #[cfg(all(feature = "sandbox", feature = "model"))]
    pub(super) fn unchanging(mut self) -> Self {
        self.file = None;
        self
    }

    /// A section that stays as it is.
    #[cfg(test)]
    pub(super) fn fixed(section: NetworkSection) -> Self {
        let known = Mutex::new(NetworkSectionSnapshot { stamp: None, section: Arc::new(section) });
        Self { file: None, denied_by_project: Vec::new(), only_denies: false, known }
    }

    /// Returns the section as it is now.
    pub(super) fn now(&self) -> Arc<NetworkSection> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &self.file {
            let stamp = stamp(file);
            if stamp != known.stamp {
                known.stamp = stamp;
                let text = read_config_file(file).ok().map(Option::unwrap_or_default);
                if let Some(section) = text.and_then(|text| haft_config::sections::network::section_of_file(&text).ok())
                {
                    known.section = Arc::new(self.completed(section));
                }
            }
        }
        known.section.clone()
    }

    fn completed(&self, mut section: NetworkSection) -> NetworkSection {
        section.deny.extend(self.denied_by_project.iter().cloned());
        if self.only_denies {
            section.allow.clear();
        }
        section
    }
}

fn stamp(file: &PathBuf) -> Option<FileStamp> {
    stamps_of(std::slice::from_ref(file)).remove(file).flatten()
}
