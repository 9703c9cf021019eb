//! Makes private folders for the home and the temporary files of a session, or of a command without a separate file system.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use haft_contract::doors::process::Staging;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, renameat_with};
use rustix::process::{getegid, geteuid};

use super::caches::Caches;
use crate::running::strays::Mark;
use crate::settings::SandboxSettings;

/// Where private folders are made, and how their names begin.
const ABOVE: &str = "/tmp";
const PREFIX: &str = "haft-private-";
/// How often another name is tried.
const ATTEMPTS: usize = 8;
/// The folders of a session: where each lies inside, the home without a name, and what it is called outside.
const OF_SESSION: [(&str, &str); 4] = [("", "home"), ("/tmp", "tmp"), ("/var/tmp", "var-tmp"), ("/dev/shm", "shm")];

/// Where the emptied folders of a session wait for the next one, beside those of sessions.
const SPARE: &str = "spare-place";

/// A folder that only this user can enter; removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    /// Where it is put, emptied, instead of being removed.
    spare: Option<PathBuf>,
    /// Locked while haft lives. So another haft can remove a folder whose lock is free.
    _locked: OwnedFd,
}

/// The folders of a session.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    /// First, because what is kept of them is taken from the folder.
    pub(crate) caches: Caches,
    pub(crate) folder: PrivateFolder,
}

impl SessionPlace {
    /// Makes them with the first command, for the owner of the workspace.
    pub(crate) fn of(settings: &SandboxSettings, ground: &dyn Staging) -> Option<Self> {
        let workspace = ground.roots().first().map(|root| &root.folder);
        let above = ground.place()?;
        let spare = above.with_file_name(SPARE);
        let again = PrivateFolder::again(&above, &spare, workspace);
        let mut folder = again.map_or_else(|| PrivateFolder::of_session(&above, workspace).ok(), Some)?;
        folder.spare = Some(spare);
        Some(Self { caches: Caches::of_session(settings, ground, &folder), folder })
    }
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
        let folder = Self::bare(Path::new(ABOVE))?;
        make_folder(&folder.home())?;
        make_folder(&folder.temporary())?;
        furniture.put_into(&folder.home())?;
        folder.give_to_owner_of(furniture.workspace)?;
        Ok(folder)
    }

    /// Makes one for a session, for the owner of the workspace.
    pub(crate) fn of_session(above: &Path, workspace: Option<&OwnedFd>) -> io::Result<Self> {
        let folder = Self::bare(above)?;
        for (place, name) in OF_SESSION {
            let path = folder.path.join(name);
            make_folder(&path)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode_of(place)))?;
        }
        folder.give_to_owner_of(workspace)?;
        Ok(folder)
    }

    /// Returns where the folders of a session lie inside and outside.
    pub(crate) fn folders(&self, home: &Path) -> Vec<(PathBuf, PathBuf)> {
        let inside = |inside: &str| if inside.is_empty() { home.to_owned() } else { PathBuf::from(inside) };
        OF_SESSION.iter().map(|(place, name)| (inside(place), self.path.join(name))).collect()
    }

    fn bare(above: &Path) -> io::Result<Self> {
        remove_abandoned(above);
        for _ in 0..ATTEMPTS {
            // Never reuse a folder that exists: another user could have put it there.
            let path = above.join(format!("{PREFIX}{}", Mark::fresh()));
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // Another haft that cleans up may have taken the lock first; then try another name.
            if let Some(locked) = lock(&path).filter(|_| path.exists()) {
                return Ok(Self { path, spare: None, _locked: locked });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "its folders cannot be locked"))
    }

    /// Takes the emptied folders of an earlier session, where they are as new ones would be: a disk takes long to make some.
    fn again(above: &Path, spare: &Path, workspace: Option<&OwnedFd>) -> Option<Self> {
        remove_abandoned(above);
        let path = above.join(format!("{PREFIX}{}", Mark::fresh()));
        // The first process that moves the folder away owns it.
        renameat_with(CWD, spare, CWD, &path, RenameFlags::NOREPLACE).ok()?;
        let locked = lock(&path).filter(|_| path.exists())?;
        let folder = Self { path, spare: None, _locked: locked };
        folder.is_as_new(workspace).ok()?.then_some(folder)
    }

    fn is_as_new(&self, workspace: Option<&OwnedFd>) -> io::Result<bool> {
        let own = (geteuid().as_raw(), getegid().as_raw());
        let owner = match workspace.filter(|_| geteuid().is_root()) {
            Some(workspace) => rustix::fs::fstat(workspace).map(|found| (found.st_uid, found.st_gid))?,
            None => own,
        };
        let is_new = |path: &Path, mode: u32| {
            let found = path.symlink_metadata()?;
            let is_right = found.is_dir() && found.mode() & 0o7777 == mode && (found.uid(), found.gid()) == owner;
            let has_attributes = rustix::fs::llistxattr(path, &mut [0_u8; 0])? > 0;
            io::Result::Ok(is_right && !has_attributes)
        };
        let mut is_as_new = is_new(&self.path, 0o700)? && std::fs::read_dir(&self.path)?.count() == OF_SESSION.len();
        for (place, name) in OF_SESSION {
            let path = self.path.join(name);
            is_as_new = is_as_new && is_new(&path, mode_of(place))? && std::fs::read_dir(&path)?.next().is_none();
        }
        Ok(is_as_new)
    }

    /// Empties the folders of a session for another one.
    fn put_by(&self, spare: &Path) -> io::Result<()> {
        if spare.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        for entry in std::fs::read_dir(&self.path)? {
            let path = entry?.path();
            let Some((place, _)) = OF_SESSION.iter().find(|(_, name)| path.ends_with(name)) else {
                std::fs::remove_dir_all(&path)?;
                continue;
            };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode_of(place)))?;
            for inner in std::fs::read_dir(&path)? {
                let inner = inner?;
                match inner.file_type()?.is_dir() {
                    true => std::fs::remove_dir_all(inner.path())?,
                    false => std::fs::remove_file(inner.path())?,
                }
            }
        }
        Ok(renameat_with(CWD, &self.path, CWD, spare, RenameFlags::NOREPLACE)?)
    }

    /// The command runs as the owner of the workspace, if haft runs as root.
    fn give_to_owner_of(&self, workspace: Option<&OwnedFd>) -> io::Result<()> {
        let Some(workspace) = workspace.filter(|_| geteuid().is_root()) else { return Ok(()) };
        let owner = rustix::fs::fstat(workspace)?;
        give_away(&self.path, owner.st_uid, owner.st_gid)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn home(&self) -> PathBuf {
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
fn remove_abandoned(above: &Path) {
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        if let Some(_locked) = lock(&entry.path()) {
            remove(&entry.path());
        }
    }
}

/// Returns the rights of a folder of a session. Programs look whether a folder for everybody's temporary files is one.
fn mode_of(place: &str) -> u32 {
    if place.is_empty() { 0o700 } else { 0o1777 }
}

/// Locks a folder; returns nothing if another process has locked it, or if it is not ours.
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

/// Gives a folder and all that is in it to another owner. No other user can have put anything there yet.
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
        let is_put_by = self.spare.as_ref().is_some_and(|spare| self.put_by(spare).is_ok());
        if !is_put_by {
            remove(&self.path);
        }
    }
}

/// Removes a folder. What cannot be removed stays; the folder around it is private.
fn remove(path: &Path) {
    if std::fs::remove_dir_all(path).is_err() {
        let _ = remove_level_by_level(path);
        let _ = std::fs::remove_dir(path);
    }
}

/// Removes what is in a folder: also folders that lie in each other deeper than a path can name, and those from which
/// programs took the right to write. Each folder that is found comes to the top first.
fn remove_level_by_level(path: &Path) -> io::Result<()> {
    let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
    let mut moved = 0_u64;
    loop {
        let found: Vec<PathBuf> = std::fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
        if found.is_empty() {
            return Ok(());
        }
        for entry in found {
            if !entry.symlink_metadata()?.is_dir() {
                std::fs::remove_file(&entry)?;
                continue;
            }
            std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o700))?;
            for inner in std::fs::read_dir(&entry)?.flatten() {
                if inner.file_type()?.is_dir() {
                    moved += 1;
                    let _ = std::fs::set_permissions(inner.path(), std::fs::Permissions::from_mode(0o700));
                    std::fs::rename(inner.path(), path.join(format!("haft-{moved}")))?;
                } else {
                    std::fs::remove_file(inner.path())?;
                }
            }
            std::fs::remove_dir(&entry)?;
        }
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
        // In a folder of its own: what other tests make meanwhile cleans up too.
        let above = tempfile::tempdir().unwrap();
        let living = PrivateFolder::of_session(above.path(), None).unwrap();
        let abandoned = above.path().join(format!("{PREFIX}{}", Mark::fresh()));
        std::fs::create_dir_all(abandoned.join("home/deep")).unwrap();

        let another = PrivateFolder::of_session(above.path(), None).unwrap();

        assert!(living.path().exists() && another.path().exists() && !abandoned.exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }

    #[test]
    fn the_next_session_gets_emptied_folders_and_those_that_are_not_as_new_go() {
        let home = tempfile::tempdir().unwrap();
        let (above, spare) = (home.path().join("places"), home.path().join(SPARE));
        std::fs::create_dir(&above).unwrap();
        let again = || PrivateFolder::again(&above, &spare, None);
        let put_by = |mut folder: PrivateFolder| {
            folder.spare = Some(spare.clone());
            drop(folder);
        };
        assert!(again().is_none());
        let folder = PrivateFolder::of_session(&above, None).unwrap();
        let number = folder.home().metadata().unwrap().ino();
        std::fs::create_dir_all(folder.path().join("caches/npm")).unwrap();
        std::fs::create_dir_all(folder.home().join("a/b")).unwrap();
        std::fs::write(folder.temporary().join("canary"), "").unwrap();
        std::fs::set_permissions(folder.home(), std::fs::Permissions::from_mode(0o500)).unwrap();
        put_by(folder);
        assert_eq!(std::fs::read_dir(&above).unwrap().count(), 0);

        let folder = again().expect("they are as new");
        assert_eq!(folder.home().metadata().unwrap().ino(), number);
        assert!(folder.is_as_new(None).unwrap() && again().is_none());
        put_by(folder);

        std::fs::write(spare.join("tmp/canary"), "").unwrap();
        assert!(again().is_none() && !spare.exists());
        assert_eq!(std::fs::read_dir(&above).unwrap().count(), 0);
        put_by(PrivateFolder::of_session(&above, None).unwrap());
        std::fs::set_permissions(spare.join("home"), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(again().is_none() && !spare.exists());
    }

    #[test]
    fn folders_deeper_than_a_path_can_name_are_removed() {
        let folder = PrivateFolder::make(&bare()).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut deep = rustix::fs::open(folder.home(), flags, Mode::empty()).unwrap();
        for _ in 0..5_000 {
            rustix::fs::mkdirat(&deep, "d", Mode::from_raw_mode(0o700)).unwrap();
            deep = rustix::fs::openat(&deep, "d", flags, Mode::empty()).unwrap();
        }
        let path = folder.path().to_owned();
        drop(folder);
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
