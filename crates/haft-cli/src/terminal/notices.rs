//! Shows the host's notices: on stderr until the screen is drawn, then as finished lines.

use std::io;
use std::sync::{Arc, OnceLock};

use haft_host::notices::{Notices, UntrustedFiles};
use tokio::sync::mpsc::UnboundedSender;

use super::protocol::WorkerReport;
use crate::notices::Stderr;

/// Shows notices where the user looks at that moment.
#[derive(Clone, Default)]
pub(super) struct ScreenNotices(Arc<OnceLock<UnboundedSender<WorkerReport>>>);

impl ScreenNotices {
    /// Sends notices to the screen from now on.
    pub(super) fn send_to(&self, reports: UnboundedSender<WorkerReport>) {
        // There is one screen.
        let _is_set = self.0.set(reports);
    }
}

impl Notices for ScreenNotices {
    fn note(&self, text: &str) {
        match self.0.get() {
            Some(reports) => _ = reports.send(WorkerReport::Note(text.to_owned())),
            None => Stderr.note(text),
        }
    }

    fn warn(&self, text: &str) {
        match self.0.get() {
            Some(reports) => _ = reports.send(WorkerReport::Warn(text.to_owned())),
            None => Stderr.warn(text),
        }
    }

    fn can_ask(&self) -> bool {
        self.0.get().is_none() && Stderr.can_ask()
    }

    fn asks_for_trust(&self, files: &UntrustedFiles) -> io::Result<bool> {
        Stderr.asks_for_trust(files)
    }
}
