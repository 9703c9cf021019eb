//! Covers files and folders that a command must not see inside a visible folder.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::mounts::{MountTree, NO_EXEC, PLAIN, READ_ONLY, find, make_file, make_folder};
use super::new_root::{inner, kind};
use crate::launcher::enter::{NotEntered, OrMissing};
use crate::running::orders::VisibleRoot;

/// Files and folders of the system that hold secrets; as root a command would own them. One per line, `*` only at the end.
const SECRET_FILES: &str = include_str!("secret_files.txt");

const FOLDER: &str = "empty-folder";
const FILE: &str = "empty-file";

/// An empty folder and an empty file that no process may open.
pub(in crate::launcher::enter) struct Covers {
    folder: OwnedFd,
    file: OwnedFd,
}

impl Covers {
    /// Makes the two.
    pub(in crate::launcher::enter) fn prepare(beside: BorrowedFd<'_>) -> Result<Self, NotEntered> {
        let missing = "A cover for hidden files";
        make_folder(beside, Path::new(FOLDER)).or_missing(missing)?;
        make_file(beside, Path::new(FILE)).or_missing(missing)?;
        for name in [FOLDER, FILE] {
            rustix::fs::chmodat(beside, name, Mode::empty(), AtFlags::empty()).or_missing(missing)?;
        }
        Self::found(beside).or_missing(missing)
    }

    /// Finds the two where they were made.
    pub(in crate::launcher::enter) fn found(beside: BorrowedFd<'_>) -> std::io::Result<Self> {
        Ok(Self { folder: find(beside, Path::new(FOLDER))?, file: find(beside, Path::new(FILE))? })
    }

    /// Covers these and the secrets of the system, as far as they can be seen.
    pub(in crate::launcher::enter) fn put(&self, root: BorrowedFd<'_>, hidden: &[&Path]) -> Result<(), NotEntered> {
        for path in hidden.iter().map(|path| inner(path).to_owned()).chain(secret_files(root)) {
            let Ok(place) = find(root, &path) else { continue };
            self.cover(place.as_fd()).or_missing(&format!("A cover over {:?}", Path::new("/").join(&path)))?;
        }
        Ok(())
    }

    /// Covers everything in a root that the command is not to read. Names stay visible, and links lead to what is covered.
    pub(in crate::launcher::enter) fn put_beside_shown(
        &self,
        root: &VisibleRoot,
        (base, place): (BorrowedFd<'_>, &Path),
    ) -> Result<(), NotEntered> {
        if !root.covers_rest || root.shown.iter().any(|shown| shown.as_os_str().is_empty()) {
            return Ok(());
        }
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let what = || format!("A cover over what is beside the files that the tool declares in {:?}", root.path);
            for name in names_in(base, &place.join(&folder)).or_missing(&what())? {
                let path = folder.join(name);
                if root.shown.iter().any(|shown| path.starts_with(shown)) {
                    continue;
                }
                let Ok(found) = find(base, &place.join(&path)) else { continue };
                match kind(found.as_fd()) {
                    Some(FileType::Symlink) | None => {}
                    Some(FileType::Directory) if root.shown.iter().any(|shown| shown.starts_with(&path)) => {
                        folders.push(path);
                    }
                    Some(_) => self.cover(found.as_fd()).or_missing(&what())?,
                }
            }
        }
        Ok(())
    }

    /// Returns the descriptors of the two.
    pub(in crate::launcher::enter) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.folder.as_fd(), self.file.as_fd()]
    }

    pub(in crate::launcher::enter) fn cover(&self, place: BorrowedFd<'_>) -> std::io::Result<()> {
        let cover = if kind(place) == Some(FileType::Directory) { &self.folder } else { &self.file };
        let tree = MountTree::of(cover.as_fd())?;
        tree.restrict(READ_ONLY | PLAIN | NO_EXEC)?;
        tree.attach_over(place)
    }
}

/// Returns the names of secret files, seen from the root.
pub(in crate::launcher::enter) fn secret_files(root: BorrowedFd<'_>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in SECRET_FILES.lines() {
        let path = inner(Path::new(line));
        match line.strip_suffix('*') {
            None => files.push(path.to_owned()),
            Some(_) => files.extend(with_prefix(root, path)),
        }
    }
    files
}

/// Returns the folders in which such files lie.
pub(crate) fn secret_folders() -> Vec<&'static Path> {
    let mut folders: Vec<&Path> = SECRET_FILES.lines().filter_map(|line| Path::new(line).parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    folders
}

/// Returns whether a path is one of those, or lies in one, as far as its name says.
pub(crate) fn is_secret(path: &Path) -> bool {
    SECRET_FILES.lines().any(|line| match line.strip_suffix('*') {
        None => path.starts_with(line),
        Some(prefix) => path.as_os_str().as_bytes().starts_with(prefix.as_bytes()),
    })
}

fn with_prefix(root: BorrowedFd<'_>, pattern: &Path) -> Vec<PathBuf> {
    let Some((folder, name)) = pattern.parent().zip(pattern.file_name()) else { return Vec::new() };
    let prefix = name.as_bytes().strip_suffix(b"*").unwrap_or(name.as_bytes());
    let names = names_in(root, folder).unwrap_or_default();
    names.into_iter().filter(|name| name.as_bytes().starts_with(prefix)).map(|name| folder.join(name)).collect()
}

pub(in crate::launcher::enter) fn names_in(root: BorrowedFd<'_>, folder: &Path) -> std::io::Result<Vec<OsString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let opened = rustix::fs::openat(find(root, folder)?, ".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if OsStr::from_bytes(&name) != "." && OsStr::from_bytes(&name) != ".." {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}
