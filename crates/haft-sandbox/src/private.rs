//! A private folder for the home and the temporary files of a command that has no file system of its own.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use crate::strays::Mark;

/// A folder that only this user can enter; removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

/// What lies in the home of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Furniture<'a> {
    /// Small files, by their place in it.
    pub(crate) files: &'a [(PathBuf, String)],
    /// What may be read: to what lies in the user's own home, links lead.
    pub(crate) readable: &'a [PathBuf],
    /// The user's own home.
    pub(crate) home: &'a Path,
    /// A folder of the workspace: the command runs as its owner, if haft runs as root.
    pub(crate) workspace: Option<&'a OwnedFd>,
}

impl PrivateFolder {
    /// Makes one, with a home and a folder for temporary files in it.
    pub(crate) fn make(furniture: &Furniture<'_>) -> io::Result<Self> {
        let folder = loop {
            // Never one that is there already, which somebody else could have put there.
            let path = Path::new("/tmp").join(format!("haft-{}", Mark::fresh()));
            match make_folder(&path) {
                Ok(()) => break Self(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        make_folder(&folder.home())?;
        make_folder(&folder.temporary())?;
        furniture.put_into(&folder.home())?;
        if let Some(workspace) = furniture.workspace.filter(|_| rustix::process::geteuid().is_root()) {
            let owner = rustix::fs::fstat(workspace)?;
            give_away(&folder.0, owner.st_uid, owner.st_gid)?;
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

impl Furniture<'_> {
    fn put_into(&self, home: &Path) -> io::Result<()> {
        let is_inside = |place: &Path| place.components().all(|component| matches!(component, Component::Normal(_)));
        for (place, text) in self.files.iter().filter(|(place, _)| is_inside(place)) {
            std::fs::write(with_folders(&home.join(place))?, text)?;
        }
        for link in self.readable {
            let Ok(place) = link.strip_prefix(self.home) else { continue };
            if is_inside(place) && !place.as_os_str().is_empty() && link.exists() {
                // One that lies in another is there already.
                let _ = std::os::unix::fs::symlink(link, with_folders(&home.join(place))?);
            }
        }
        Ok(())
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Makes the folders above a path, and returns it.
fn with_folders(path: &Path) -> io::Result<&Path> {
    if let Some(above) = path.parent() {
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(above)?;
    }
    Ok(path)
}

/// Gives a folder and all that is in it to another owner. Nobody else can have put anything there yet.
fn give_away(path: &Path, user: u32, group: u32) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(user), Some(group))?;
    if std::fs::symlink_metadata(path)?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give_away(&entry?.path(), user, group)?;
        }
    }
    Ok(())
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What a command made unreadable for itself stays; the folder around it is private.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
