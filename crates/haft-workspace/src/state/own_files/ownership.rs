//! Refuses files of haft that another user owns or can write.
//!
//! Settings, rules, trust and the journal decide what haft does for the user, and the user's hooks and tools run scripts for
//! the user. Another user must control none of these. So haft also refuses a file in a folder, however far above, that
//! another user owns or can write, and a file behind a link of another user. Root may own a file, because root can change
//! every file anyway.
//!
//! Not here: files of a workspace, which are trusted by their content.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most links from a path to its file.
const MOST_LINKS: usize = 40;

/// Fails where another user owns something or can write it.
pub(in crate::state) fn of_user(facts: &Metadata) -> io::Result<()> {
    refused(facts, rustix::process::geteuid().as_raw(), "it").map_or(Ok(()), denied)
}

/// Fails where another user can exchange what lies at a path, because of the folder that it lies in.
pub(in crate::state) fn folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let facts = folder.metadata()?;
    let is_shared = facts.mode() & 0o1000 != 0 && facts.uid() == 0;
    // In a folder like /tmp only the owner of a file can exchange it.
    if is_shared {
        return Ok(());
    }
    let what = format!("its folder {}", folder.display());
    refused(&facts, rustix::process::geteuid().as_raw(), &what).map_or(Ok(()), denied)
}

/// Fails where another user can change what a path leads to: by a folder or a link anywhere on the way. A path that does not
/// exist yet belongs to no user.
pub(in crate::state) fn way_to(path: &Path) -> io::Result<()> {
    let Some(end) = walked(path)? else { return Ok(()) };
    folder_of(path)?;
    folder_of(&end)
}

/// Fails where another user owns a script or can change what lies at its path. Which groups write to folders of the
/// system, such as those that hold programs, is for the system to say.
pub(in crate::state) fn of_script(path: &Path) -> io::Result<()> {
    of_user(&path.metadata()?)?;
    walked(path).map(drop)
}

/// Walks to the end of a path, past every folder and link; returns it where there is one.
fn walked(path: &Path) -> io::Result<Option<PathBuf>> {
    let user = rustix::process::geteuid().as_raw();
    let mut at = PathBuf::from("/");
    // The owner of the root of the file system can change every file anyway; that is not always the user 0.
    let system = at.metadata()?.uid();
    let is_owner = |facts: &Metadata| is_owner(facts, user) || facts.uid() == system;
    let from = if path.is_absolute() { PathBuf::new() } else { Path::new(".").canonicalize()? };
    let mut ahead = parts(&from.join(path));
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        let next = match part.to_str() {
            Some("/") => PathBuf::from("/"),
            Some("..") => at.parent().unwrap_or(Path::new("/")).to_owned(),
            _ => at.join(&part),
        };
        let facts = match next.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts?,
        };
        if facts.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                denied("too many links lead to it".to_owned())?;
            }
            if !is_owner(&facts) {
                denied(format!("the link {} belongs to another user (id {})", next.display(), facts.uid()))?;
            }
            ahead.extend(parts(&std::fs::read_link(&next)?));
            continue;
        }
        if facts.is_dir() {
            folder_on_the_way(&next, &facts, is_owner)?;
        }
        at = next;
    }
    Ok(Some(at))
}

/// Fails where another user can exchange what lies in a folder on the way to a file.
fn folder_on_the_way(folder: &Path, facts: &Metadata, is_owner: impl Fn(&Metadata) -> bool) -> io::Result<()> {
    let is_owner = is_owner(facts);
    let user = rustix::process::geteuid().as_raw();
    let (is_of_user, mode) = (facts.uid() == user && user != 0, facts.mode());
    // In a folder like /tmp only the owner of a file can exchange it; which groups write to a folder of the system is
    // for the system to say.
    let is_shared = mode & 0o1000 != 0 && is_owner && !is_of_user;
    let is_of_system = is_owner && !is_of_user && mode & 0o002 == 0;
    if is_shared || is_of_system {
        return Ok(());
    }
    let what = format!("the folder {} on the way to it", folder.display());
    refused(facts, user, &what).map_or(Ok(()), denied)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Says why something is not the user's alone.
fn refused(facts: &Metadata, user: u32, what: &str) -> Option<String> {
    let mode = facts.mode() & 0o777;
    // Many systems give each user a group with the number of the user, and let that group write.
    let is_own_group = facts.gid() == user;
    let writable = mode & 0o002 != 0 || (mode & 0o020 != 0 && !is_own_group);
    match () {
        () if !is_owner(facts, user) => Some(format!(
            "{what} belongs to another user (id {}), who could change it; copy it to a file of your own, or run chown",
            facts.uid()
        )),
        () if writable => {
            Some(format!("others can write {what}: the mode is {mode:03o}; run chmod go-w, then look at the content"))
        }
        () => None,
    }
}

fn is_owner(facts: &Metadata, user: u32) -> bool {
    facts.uid() == user || facts.uid() == 0
}

fn denied(problem: String) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

#[cfg(test)]
mod tests {
    use crate::require::Need;
    use crate::state::read_config_file;
    use crate::state::trust::{FolderTrust, TrustStore};
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::path::Path;

    /// Another user than the one who runs the tests.
    const OTHER: u32 = 54_321;

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn settings_and_trust_that_others_can_write_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (config, store) = (folder.path().join("config.toml"), TrustStore::new(folder.path()));
        std::fs::write(&config, "text").expect("a file can be written");
        store.put(Path::new("/one"), FolderTrust::default()).expect("it can be kept");
        let told = || {
            let config = read_config_file(&config).err().map(|error| error.to_string());
            (config, store.of(Path::new("/one")).err().map(|error| error.to_string()))
        };
        for (mode, is_read) in [(0o600, true), (0o644, true), (0o400, true), (0o602, false), (0o666, false)] {
            [&*config, store.path()].into_iter().for_each(|path| set_mode(path, mode));
            let (of_config, of_trust) = told();
            assert_eq!((of_config.is_none(), of_trust.is_none()), (is_read, is_read), "{mode:o}");
            let words = format!("others can write it: the mode is {mode:03o}; run chmod go-w");
            assert!(is_read || of_config.is_some_and(|told| told.starts_with(&words)), "{mode:o}");
        }
        [&*config, store.path()].into_iter().for_each(|path| set_mode(path, 0o600));
        for (mode, is_read) in [(0o700, true), (0o755, true), (0o777, false), (0o703, false)] {
            set_mode(folder.path(), mode);
            let (of_config, of_trust) = told();
            assert_eq!((of_config.is_none(), of_trust.is_none()), (is_read, is_read), "the folder, {mode:o}");
        }
    }

    #[test]
    fn what_another_user_owns_is_refused_also_behind_links() {
        // Only root can give a file away.
        if !Need::Users.met(is_root()) {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = |name: &str| folder.path().join(name);
        for place in ["own", "foreign"] {
            std::fs::create_dir(path(place)).expect("a folder can be made");
        }
        for file in ["own/mine", "own/theirs", "foreign/mine"] {
            std::fs::write(path(file), "text").expect("a file can be written");
        }
        for (link, target) in [
            ("own/to-mine", "mine"),
            ("own/to-theirs", "theirs"),
            ("own/away", "../foreign/mine"),
            ("own/link", "mine"),
        ] {
            symlink(target, path(link)).expect("a link can be made");
        }
        symlink("to-theirs", path("own/twice")).expect("a link can be made");
        for foreign in ["own/theirs", "foreign"] {
            chown(path(foreign), Some(OTHER), None).expect("root may");
        }
        lchown(path("own/link"), Some(OTHER), None).expect("root may");
        // Folders further above, and links of whole folders.
        for deep in ["foreign/deep/er", "own/deep/er"] {
            std::fs::create_dir_all(path(deep)).expect("a folder can be made");
            std::fs::write(path(deep).join("mine"), "text").expect("a file can be written");
        }
        for (link, target) in [
            ("own/whole", "../foreign/deep"),
            ("own/plain", "deep"),
            ("own/taken", "deep"),
            ("own/far", "whole/er/mine"),
        ] {
            symlink(target, path(link)).expect("a link can be made");
        }
        lchown(path("own/taken"), Some(OTHER), None).expect("root may");
        for (file, is_read) in [
            ("own/mine", true),
            ("own/to-mine", true),
            ("own/theirs", false),
            ("own/to-theirs", false),
            ("own/twice", false),
            ("own/away", false),
            ("own/link", false),
            ("foreign/mine", false),
            ("own/deep/er/mine", true),
            ("own/plain/er/mine", true),
            ("own/../own/deep/../deep/er/mine", true),
            ("foreign/deep/er/mine", false),
            ("own/whole/er/mine", false),
            ("own/taken/er/mine", false),
            ("own/far", false),
        ] {
            let told = read_config_file(&path(file)).map_err(|error| error.to_string());
            assert_eq!(told.is_ok(), is_read, "{file}: {told:?}");
            assert!(told.err().is_none_or(|told| told.contains("belongs to another user")), "{file}");
        }
    }

    #[test]
    fn a_folder_anywhere_above_that_others_can_write_is_refused_unless_it_is_shared_as_tmp_is() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let above = folder.path().join("above");
        let state = above.join("state/haft");
        let config = above.join("config/haft/config.toml");
        for place in [&*state, config.parent().expect("it has one")] {
            std::fs::create_dir_all(place).expect("a folder can be made");
        }
        std::fs::write(&config, "text").expect("a file can be written");
        for (mode, is_fine) in [(0o755, true), (0o777, false), (0o1777, is_root()), (0o755, true)] {
            set_mode(&above, mode);
            let told = read_config_file(&config).map(drop).map_err(|error| error.to_string());
            assert_eq!(told.is_ok(), is_fine, "{mode:o}: {told:?}");
            let made = super::super::private::create_folder(&state).map_err(|error| error.to_string());
            assert_eq!(made.is_ok(), is_fine, "{mode:o}: {made:?}");
            let new = super::super::private::create_folder(&above.join(format!("new-{mode:o}/haft")));
            assert_eq!(new.is_ok(), is_fine, "{mode:o}, where nothing was yet: {new:?}");
            let trust = TrustStore::new(&state).put(Path::new("/one"), FolderTrust::default());
            assert_eq!(trust.is_ok(), is_fine, "{mode:o}");
            let words = format!("others can write the folder {} on the way to it", above.display());
            assert!(is_fine || told.is_err_and(|told| told.starts_with(&words)), "{mode:o}");
        }
    }
}
