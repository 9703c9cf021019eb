//! Remembers that a person allows commands in a very wide workspace: the home folder, or a folder that holds it.
//!
//! The answer is an empty file in the workspace's state, named by a hash of the folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::read::open::WorkspaceRoot;
use crate::state::own_files::private;

/// Remembers the folders in which a person has allowed commands.
#[derive(Clone, Debug)]
pub(in crate::files) struct FolderConsents {
    folder: PathBuf,
}

impl FolderConsents {
    pub(in crate::files) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn has(&self, path: &str) -> bool {
        self.file(path).symlink_metadata().is_ok_and(|facts| facts.is_file())
    }

    /// Remembers that a person said yes to commands in this folder.
    pub(in crate::files) fn remember(&self, path: &str) -> io::Result<()> {
        private::create_folder(&self.folder)?;
        match private::create_file(&self.file(path)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map(drop),
        }
    }

    fn file(&self, path: &str) -> PathBuf {
        self.folder.join(blake3::hash(path.as_bytes()).to_hex().as_str())
    }
}

/// Names the folder that is too wide and was not agreed to yet.
pub(in crate::files) fn wide(
    root: &WorkspaceRoot,
    home: Option<&Path>,
    agreed: Option<&FolderConsents>,
) -> Option<String> {
    let is_wide = |path: &Path| path == Path::new("/") || home.is_some_and(|home| home.starts_with(path));
    let folders = root.folders().into_iter().filter(|(path, _)| is_wide(path));
    let mut names = folders.map(|(path, _)| haft_contract::files::path::one_line(&path.to_string_lossy()).into_owned());
    names.find(|name| agreed.is_none_or(|agreed| !agreed.has(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_holds_the_home_is_asked_about_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let base = folder.path().canonicalize().expect("it is there");
        let home = base.join("home");
        std::fs::create_dir_all(home.join("project")).expect("it is new");
        let agreed = FolderConsents::new(base.join("agreed"));
        let asked = |path: &Path| {
            let root = WorkspaceRoot::open(path).expect("it is there");
            wide(&root, Some(&home), Some(&agreed))
        };
        assert_eq!(asked(&home.join("project")), None);
        assert_eq!(asked(&base), Some(base.display().to_string()));
        assert_eq!(asked(Path::new("/")), Some("/".to_owned()));
        let name = asked(&home).expect("it is the home");
        agreed.remember(&name).expect("it can be written");
        agreed.remember(&name).expect("it is there already");
        assert_eq!(asked(&home), None);
        assert_eq!(asked(&base), Some(base.display().to_string()));
    }
}
