//! Reads and replaces single files that belong to haft, in its state folder and in its configuration.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::private;

/// Returns the text of a file in haft's state folder; nothing where there is none, or another user could have written it.
pub fn read_state_file(path: &Path) -> Option<String> {
    let mut text = String::new();
    private::read_file(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// Writes a file of haft's own whole: a power cut leaves the old text or the new one. A link stays one, and what it leads
/// to keeps its mode.
pub fn replace_own_file(path: &Path, text: &str) -> io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private::create_folder(folder)?;
    let mode = real.metadata().ok().map(|facts| facts.permissions().mode() & 0o7777);
    let new = beside(&real);
    let written = write_new(&new, text, mode).and_then(|()| std::fs::rename(&new, &real));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written?;
    File::open(folder)?.sync_all()
}

/// Writes a file of haft's own with secrets whole, for the user alone, whatever the mode of one that is there.
pub fn replace_private_file(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private::create_folder(folder)?;
    let new = beside(path);
    let written = write_new(&new, text, None).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written?;
    File::open(folder)?.sync_all()
}

/// A lock that this process holds until the value is dropped.
#[derive(Debug)]
pub struct OwnFileLock(#[expect(dead_code, reason = "the open file is the lock")] File);

/// Waits until no other process of the user holds this lock.
pub fn lock_own_file(path: &Path) -> io::Result<OwnFileLock> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private::create_folder(folder)?;
    let file = private::append_file(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(OwnFileLock(file))
}

/// Makes a folder for the user alone, with those above it; one that is there stays as it is.
pub fn make_own_folder(path: &Path) -> io::Result<()> {
    private::create_folder(path)
}

fn write_new(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let mut file = private::create_file(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", uuid::Uuid::now_v7().simple()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_keeps_its_mode_and_the_link_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("config.toml"));
        std::fs::write(&real, "old").expect("it is written");
        std::fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("it has a mode");
        std::os::unix::fs::symlink(&real, &link).expect("a link");

        replace_own_file(&link, "new").expect("it is replaced");

        assert_eq!(std::fs::read_to_string(&real).expect("it is there"), "new");
        assert!(link.symlink_metadata().expect("it is there").is_symlink());
        assert_eq!(real.metadata().expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn a_file_with_secrets_is_for_the_user_alone_whatever_it_was_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("login.json");
        std::fs::write(&path, "old").expect("it is written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("it has a mode");

        replace_private_file(&path, "new").expect("it is replaced");

        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_lock_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.lock");
        let held = lock_own_file(&path).expect("it is free");
        let other = File::open(&path).expect("it is there");
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_err());
        drop(held);
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_ok());
    }
}
