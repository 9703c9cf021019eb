//! A private folder for the home and the temporary files of a command that has no file system of its own.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::strays::Mark;

/// Where private folders are made, and how their names begin.
const ABOVE: &str = "/tmp";
const PREFIX: &str = "haft-private-";

/// A folder that only this user can enter; removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    /// Locked while haft lives; so whoever finds one that is not, can remove it.
    _locked: OwnedFd,
}

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
        remove_abandoned();
        let folder = loop {
            // Never one that is there already, which somebody else could have put there.
            let path = Path::new(ABOVE).join(format!("{PREFIX}{}", Mark::fresh()));
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // Somebody who cleans up may have been faster with the lock; then there is another name.
            if let Some(locked) = lock(&path).filter(|_| path.exists()) {
                break Self { path, _locked: locked };
            }
        };
        make_folder(&folder.home())?;
        make_folder(&folder.temporary())?;
        furniture.put_into(&folder.home())?;
        if let Some(workspace) = furniture.workspace.filter(|_| rustix::process::geteuid().is_root()) {
            let owner = rustix::fs::fstat(workspace)?;
            give_away(&folder.path, owner.st_uid, owner.st_gid)?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
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
        // What the user lets commands read stands in the place of such a file.
        let is_shown = |place: &Path| {
            let place = self.home.join(place);
            self.readable.iter().any(|link| {
                link != self.home && link.starts_with(self.home) && place.starts_with(link) && link.exists()
            })
        };
        for (place, text) in self.files.iter().filter(|(place, _)| is_inside(place) && !is_shown(place)) {
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

/// Removes folders of a haft that was killed.
fn remove_abandoned() {
    let entries = std::fs::read_dir(ABOVE).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        if let Some(_locked) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a folder, unless somebody has or it is none of ours.
fn lock(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(folder)
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
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> Furniture<'static> {
        Furniture { files: &[], readable: &[], home: Path::new("/nowhere"), workspace: None }
    }

    #[test]
    fn a_folder_of_somebody_who_was_killed_is_removed_and_one_of_the_living_is_not() {
        let living = PrivateFolder::make(&bare()).unwrap();
        let abandoned = Path::new(ABOVE).join(format!("{PREFIX}{}", Mark::fresh()));
        std::fs::create_dir_all(abandoned.join("home/deep")).unwrap();

        let another = PrivateFolder::make(&bare()).unwrap();

        assert!(living.path().exists() && another.path().exists() && !abandoned.exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }

    #[test]
    fn the_home_has_the_small_files_and_leads_to_what_may_be_read() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".cargo/bin")).unwrap();
        let files = [(".gitconfig".into(), "[user]".to_owned()), ("../outside".into(), "x".to_owned())];
        let readable = [home.path().join(".cargo"), home.path().join("missing"), "/usr".into()];
        let furniture = Furniture { files: &files, readable: &readable, home: home.path(), workspace: None };

        let private = PrivateFolder::make(&furniture).unwrap();

        assert_eq!(std::fs::read_to_string(private.home().join(".gitconfig")).unwrap(), "[user]");
        assert!(private.home().join(".cargo/bin").is_dir());
        let entries = std::fs::read_dir(private.home()).unwrap().count();
        assert!(entries == 2 && !private.path().join("outside").exists());
    }
}
