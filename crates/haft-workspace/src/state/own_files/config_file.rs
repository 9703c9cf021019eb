//! Reads haft's configuration files and folders, and other files that a person names.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use haft_contract::files::stamp::FileStamp;
use rustix::fs::OFlags;

use super::ownership;

/// No configuration of a person is larger; anything else is a mistake or an attack.
const LARGEST: u64 = 1024 * 1024;
/// Most names in a folder of configuration.
const MOST_NAMES: usize = 1_000;

/// Returns the text of a configuration file, or nothing when there is no such file.
///
/// A link to nothing, in its place or in that of a folder above it, is an error: the user meant to configure something. So
/// is a file that another user owns or can write, also behind a link.
pub fn read_config_file(path: &Path) -> io::Result<Option<String>> {
    let Some(file) = opened(path)? else { return Ok(None) };
    ownership::of_user(&file.metadata()?)?;
    ownership::way_to(path)?;
    text_of(file).map(Some)
}

/// Fails where another user owns a script or can change it, also by a folder or a link on the way to it.
pub fn check_script(path: &Path) -> io::Result<()> {
    ownership::of_script(path)
}

/// Returns the text of a file that is not haft's own, or nothing when there is no such file: of a workspace, where trust
/// is by content, or of another program.
pub fn read_project_file(path: &Path) -> io::Result<Option<String>> {
    opened(path)?.map(text_of).transpose()
}

/// Returns the text of a file that holds secrets, or nothing when there is no such file.
///
/// One that belongs to another user, or that others may read or change, is an error.
pub fn read_secret_file(path: &Path) -> io::Result<Option<String>> {
    let Some(file) = opened(path)? else { return Ok(None) };
    let facts = file.metadata()?;
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if facts.mode() & 0o077 != 0 {
        let problem = format!("others may read it: its mode is {:03o}", facts.mode() & 0o777);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    text_of(file).map(Some)
}

/// Returns the text of a file that a person named for this run. It may be a pipe, which is read to its end.
pub fn read_named_file(path: &Path) -> io::Result<String> {
    text_of(File::open(path)?)
}

fn opened(path: &Path) -> io::Result<Option<File>> {
    // A person may link to the file; a pipe in its place answers immediately instead of waiting for a writer.
    match OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => no_dangling_link(path).map(|()| None),
        file => super::private::regular(file?).map(Some),
    }
}

/// Says that a file is not text, and from which line on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not text in UTF-8")]
pub struct NotUtf8 {
    /// The line, from 1.
    pub line: usize,
}

fn text_of(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', valid).count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, NotUtf8 { line })
    })
}

/// Returns where a file really is, from `/` and without links; as it was named where that cannot be said.
pub fn real_path_of(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the paths of what is in a folder, sorted by their names; nothing when there is no such folder.
pub fn list_config_folder(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let entries = match std::fs::read_dir(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry?.path());
        if paths.len() > MOST_NAMES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 1,000 names"));
        }
    }
    paths.sort_unstable();
    Ok(Some(paths))
}

/// Returns how files look, and what lies right in folders, so that a later look tells whether anything changed.
///
/// What is not there has no stamp. Of a folder with more than 1,000 names only the folder itself is looked at.
pub fn stamps_of(places: &[PathBuf]) -> BTreeMap<PathBuf, Option<FileStamp>> {
    let mut stamps = BTreeMap::new();
    for place in places {
        for inside in list_config_folder(place).ok().flatten().unwrap_or_default() {
            let stamp = stamp_of(&inside);
            stamps.insert(inside, stamp);
        }
        stamps.insert(place.clone(), stamp_of(place));
    }
    stamps
}

fn stamp_of(path: &Path) -> Option<FileStamp> {
    let facts = path.metadata().ok()?;
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Some(FileStamp {
        size: facts.len(),
        modified_ns: nanoseconds(facts.mtime(), facts.mtime_nsec()),
        changed_ns: nanoseconds(facts.ctime(), facts.ctime_nsec()),
        inode: facts.ino(),
    })
}

/// Fails where a path leads nowhere because of a link.
fn no_dangling_link(path: &Path) -> io::Result<()> {
    let nearest = path.ancestors().find(|place| place.symlink_metadata().is_ok());
    match nearest {
        Some(place) if place.metadata().is_err() => {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is a link to nothing", place.display())))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_listed_by_name_and_a_file_is_none() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for name in ["b", "a"] {
            std::fs::write(folder.path().join(name), "").expect("a file can be written");
        }
        let listed = list_config_folder(folder.path()).expect("it can be listed");
        assert_eq!(listed, Some(vec![folder.path().join("a"), folder.path().join("b")]));
        for path in ["a", "gone", "a/b"] {
            assert_eq!(list_config_folder(&folder.path().join(path)).expect("it is no folder"), None);
        }
        for number in 0..1_000 {
            std::fs::write(folder.path().join(number.to_string()), "").expect("a file can be written");
        }
        let told = list_config_folder(folder.path()).expect_err("they are too many").to_string();
        assert_eq!(told, "it has more than 1,000 names");
    }

    #[test]
    fn a_file_with_secrets_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("keys.toml");
        assert_eq!(read_secret_file(&path).expect("it is not there"), None);
        std::fs::write(&path, "text").expect("a file can be written");
        for (mode, is_read) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(read_secret_file(&path).is_ok(), is_read, "{mode:o}");
        }
    }

    #[test]
    fn a_link_to_nothing_is_an_error_and_not_an_absent_file() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = |name: &str| folder.path().join(name);
        assert_eq!(read_config_file(&path("haft/rules.toml")).expect("it is not there"), None);
        symlink("gone", path("rules.toml")).expect("a link can be made");
        symlink("gone", path("haft")).expect("a link can be made");
        for (file, link) in [("rules.toml", "rules.toml"), ("haft/rules.toml", "haft"), ("haft/deep/a.toml", "haft")] {
            let told = read_config_file(&path(file)).expect_err("it is a link to nothing").to_string();
            assert_eq!(told, format!("{} is a link to nothing", path(link).display()));
        }
        std::fs::write(path("gone"), "text").expect("a file can be written");
        assert_eq!(read_config_file(&path("rules.toml")).expect("it can be read"), Some("text".to_owned()));
    }
}
