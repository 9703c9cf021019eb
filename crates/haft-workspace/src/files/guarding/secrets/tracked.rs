//! Finds the secret files that git tracks: in the repositories of the workspace, and in one that it lies in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::{SecretKind, secret_kind};

use super::SecretFiles;
use crate::files::guarding::git_stores;
use crate::files::read::open::WorkspaceRoot;

impl SecretFiles {
    /// Returns what the repositories in and above the workspace track.
    pub(super) fn tracked(&self, root: &WorkspaceRoot) -> Vec<TrackedPaths> {
        let inside = self.signs(root).repositories.into_iter();
        let inside = inside.map(|place| TrackedPaths::of(&root.path().join(&place), place, PathBuf::new()));
        let top = root.path().ancestors().skip(1).find(|above| above.join(".git").exists());
        let above = top.and_then(|top| {
            let workspace = root.path().strip_prefix(top).ok()?;
            let place = PathBuf::from("../".repeat(workspace.components().count()));
            Some(TrackedPaths::of(top, place, workspace.to_owned()))
        });
        inside.chain(above).collect()
    }
}

/// What a repository tracks.
pub(super) struct TrackedPaths {
    /// The folder of the repository, from the root of the workspace.
    place: PathBuf,
    /// The workspace in a repository that lies above it; empty for any other.
    workspace: PathBuf,
    /// The paths in the index; nothing if haft cannot read it.
    paths: Option<HashSet<PathBuf>>,
    /// The secret files among them, from the root of the workspace.
    pub(super) secrets: Vec<PathBuf>,
}

impl TrackedPaths {
    fn of(repository: &Path, place: PathBuf, workspace: PathBuf) -> Self {
        let mut tracked = Self { place, workspace, paths: git_stores::tracked_paths(repository), secrets: Vec::new() };
        let is_secret_file = |path: &&PathBuf| secret_kind(path).is_some_and(|kind| kind != SecretKind::Source);
        tracked.secrets =
            tracked.paths.iter().flatten().filter(is_secret_file).map(|path| tracked.place_of(path)).collect();
        tracked
    }

    /// Returns a path in the index as one from the root of the workspace.
    fn place_of(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix(&self.workspace).ok().filter(|_| !self.workspace.as_os_str().is_empty());
        inside.map_or_else(|| self.place.join(path), Path::to_owned)
    }

    /// Returns whether the repository may track a file of the workspace.
    pub(super) fn may_have(&self, place: &Path) -> bool {
        let own = if self.workspace.as_os_str().is_empty() {
            place.strip_prefix(&self.place).ok().map(Path::to_owned)
        } else {
            Some(self.workspace.join(place))
        };
        own.is_some_and(|own| self.paths.as_ref().is_none_or(|paths| paths.contains(&own)))
    }
}
