//! Remembers across processes that the system refuses layers here.
//!
//! haft knows whether there is a layer only when a command is about to run on it, but asks the user before that. So it
//! remembers a refusal for the next command; the next layer that works removes it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::state::own_files::private;

/// Longest reason that is read.
const LONGEST: u64 = 1_000;

/// The file of a workspace's state.
#[derive(Debug)]
pub(super) struct Layerless {
    path: PathBuf,
}

impl Layerless {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns why there was no layer the last time.
    pub(super) fn reason(&self) -> Option<String> {
        let mut reason = Vec::new();
        private::read_file(&self.path).ok()?.take(LONGEST).read_to_end(&mut reason).ok()?;
        Some(haft_contract::files::path::one_line(&String::from_utf8_lossy(&reason)).into_owned())
    }

    /// Remembers why there is no layer. Where that fails, the next one is told when it runs.
    pub(super) fn remember(&self, reason: &str) {
        if self.path.symlink_metadata().is_ok() {
            return;
        }
        let _ = self.path.parent().map_or(Ok(()), private::create_folder);
        if let Ok(mut file) = private::create_file(&self.path) {
            let _ = file.write_all(reason.as_bytes());
        }
    }

    /// Forgets it: there was a layer.
    pub(super) fn forget(&self) {
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        if is_there(&self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_to_the_next_process_until_a_layer_holds() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let layerless = || Layerless::new(folder.path().join("state/layerless"));
        assert_eq!(layerless().reason(), None);
        layerless().remember("the kernel\nrefuses it");
        assert_eq!(layerless().reason().as_deref(), Some("the kernel\\nrefuses it"));
        layerless().forget();
        layerless().forget();
        assert_eq!(layerless().reason(), None);
    }
}
