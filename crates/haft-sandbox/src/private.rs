//! A private folder for the home and the temporary files of a command that has no file system of its own.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use crate::strays::Mark;

/// A folder that only this user can enter; removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Makes one, with these files in the home that is in it.
    pub(crate) fn make(home_files: &[(PathBuf, String)]) -> io::Result<Self> {
        let make = |path: &Path| std::fs::DirBuilder::new().mode(0o700).create(path);
        let folder = loop {
            // Never one that is there already, which somebody else could have put there.
            let path = Path::new("/tmp").join(format!("haft-{}", Mark::fresh()));
            match make(&path) {
                Ok(()) => break Self(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        make(&folder.home())?;
        make(&folder.temporary())?;
        let stays_inside = |place: &Path| place.components().all(|component| matches!(component, Component::Normal(_)));
        for (place, text) in home_files.iter().filter(|(place, _)| stays_inside(place)) {
            let path = folder.home().join(place);
            if let Some(above) = path.parent() {
                std::fs::create_dir_all(above)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    fn temporary(&self) -> PathBuf {
        self.0.join("tmp")
    }

    /// Lets the environment name these folders.
    pub(crate) fn settle_in(&self, environment: &mut Vec<(OsString, OsString)>) {
        environment.retain(|(key, _)| key != "HOME" && key != "TMPDIR");
        environment.push(("HOME".into(), self.home().into()));
        environment.push(("TMPDIR".into(), self.temporary().into()));
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What a command made unreadable for itself stays; the folder around it is private.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
