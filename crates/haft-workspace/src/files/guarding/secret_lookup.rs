//! Finds the secrets that a command could show: in files, in git's objects and stashes, in git's settings.
//!
//! Not here: which files are secret ([`super::secrets`]), and what a program shows of them (the guard).

use std::path::{Path, PathBuf};

use haft_contract::doors::door::Breadth;
use haft_contract::files::path::Target;

use super::followed::{FollowedPlaces, GitSecret};
use super::secrets::FolderReader;
use crate::files::Workspace;
use crate::history::git::object_kind::{self, ObjectKind};
use crate::history::git::stashes::{self, StashedSecret};

impl Workspace {
    /// Returns the files below a folder whose names say that they are secret and that such a program reads.
    pub fn secrets_read_by(&self, folder: &Path, reader: FolderReader) -> Vec<PathBuf> {
        self.secrets.read_by(&self.root, folder, reader)
    }

    /// Returns the passwords and tokens in the settings of git that hold here.
    pub fn git_secrets(&self) -> Vec<GitSecret> {
        FollowedPlaces::look(&self.root).into_git_secrets()
    }

    /// Returns whether a setting in a file makes git print patches where it would print only names: `stash.showPatch`.
    pub fn git_prints_patches(&self) -> bool {
        FollowedPlaces::look(&self.root).git_prints_patches()
    }

    /// Returns whether a word names an object of git that is no commit, by a reference or by the beginning of its name.
    ///
    /// Such an object may have the content of any file, also of one that git ignores.
    pub fn is_git_object_other_than_commit(&self, word: &str) -> bool {
        let stores = self.secrets.look(&self.root, Breadth::Whole).stores;
        stores.iter().any(|store| object_kind::kinds(&store.git_dir, word).contains(&ObjectKind::Other))
    }

    /// Returns secrets among the untracked files in git's stashes, one for each stash that has any.
    pub fn stashed_secrets(&self) -> Vec<StashedSecret> {
        let stores = self.secrets.look(&self.root, Breadth::Whole).stores;
        stores.iter().flat_map(|store| stashes::secrets(&store.git_dir)).collect()
    }

    /// Returns the secret file of which a file is another name.
    pub fn secret_of_same_file(&self, target: &Target) -> Option<PathBuf> {
        self.secrets.same_as(&self.root, target)
    }
}
