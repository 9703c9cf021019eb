//! Caches what one judgement finds out about the secrets of a workspace.
//!
//! Each search reads folders, and a command may have thousands of parts. So haft searches only once for each question.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use haft_contract::files::path::Target;
use haft_workspace::files::{FolderReader, StashedSecret, Workspace};

/// The answers that one judgement has got so far.
pub(in crate::other_agents::guard) struct SecretLooks<'w> {
    pub(in crate::other_agents::guard) workspace: &'w Workspace,
    read: RefCell<HashMap<(PathBuf, FolderReader), Vec<PathBuf>>>,
    same: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    objects: RefCell<HashMap<String, bool>>,
    stashed: OnceCell<Vec<StashedSecret>>,
    git_prints_patches: OnceCell<bool>,
}

impl<'w> SecretLooks<'w> {
    pub(in crate::other_agents::guard) fn at(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            read: RefCell::default(),
            same: RefCell::default(),
            objects: RefCell::default(),
            stashed: OnceCell::new(),
            git_prints_patches: OnceCell::new(),
        }
    }

    /// Returns the secrets that a program reads below a folder.
    pub(in crate::other_agents::guard) fn read_by(&self, folder: &Path, reader: FolderReader) -> Vec<PathBuf> {
        let look = || self.workspace.secrets_read_by(folder, reader);
        self.read.borrow_mut().entry((folder.to_owned(), reader)).or_insert_with(look).clone()
    }

    /// Returns whether a word names an object of git that is no commit.
    pub(in crate::other_agents::guard) fn names_git_object(&self, word: &str) -> bool {
        let look = || self.workspace.is_git_object_other_than_commit(word);
        *self.objects.borrow_mut().entry(word.to_owned()).or_insert_with(look)
    }

    /// Returns secrets among untracked files in a git stash.
    pub(in crate::other_agents::guard) fn stashed(&self) -> &[StashedSecret] {
        self.stashed.get_or_init(|| self.workspace.stashed_secrets())
    }

    /// Returns whether a setting in a file makes git print patches where it would print only names.
    pub(in crate::other_agents::guard) fn git_prints_patches(&self) -> bool {
        *self.git_prints_patches.get_or_init(|| self.workspace.git_prints_patches())
    }

    /// Returns the secret file of which a file is another name.
    pub(in crate::other_agents::guard) fn secret_of_same_file(&self, target: &Target) -> Option<PathBuf> {
        let look = || self.workspace.secret_of_same_file(target);
        self.same.borrow_mut().entry(target.place().path().to_owned()).or_insert_with(look).clone()
    }
}
