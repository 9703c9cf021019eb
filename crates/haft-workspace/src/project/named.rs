//! Finds the files of a workspace that a text names: scripts, programs, modules.
//!
//! Only the runner of a definition knows which of its words run, so every word that is the path of a file counts here. One
//! file too many costs a question when it changes; one too few would run what the user has not seen.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{FOLDER, Fingerprint};
use crate::files::read::open::open_within;
use crate::state::trust::FolderTrust;

/// Most different words of a text that is trusted.
const MOST_WORDS: usize = 20_000;
/// Longest path that is tried: the system opens none that is longer.
const LONGEST: usize = 4_095;
/// Most bytes of all paths that the words of a text may mean.
const MOST_PATH_BYTES: usize = 8 << 20;
/// Most bytes of all files that a text names.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// Returns a text that changes when one of the files changes that a text names, seen from a folder.
pub fn hash_of_named(text: &str, folder: &Path) -> String {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(root) = rustix::fs::open(folder, flags, Mode::empty()) else { return String::new() };
    let named = hashes(root.as_fd(), "", text).unwrap_or_default();
    named.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect()
}

/// Returns the files of a workspace that trusted code names, by their paths from its root, and where these lead by links;
/// and those that it would load if they existed. What lies in haft's own folder is protected by its name.
pub fn named_by_code(workspace: &Path, trusted: &FolderTrust) -> BTreeSet<PathBuf> {
    let reaches = || trusted.copy.iter().flat_map(|copy| copy.reaches.values());
    let modules = reaches().flat_map(|reach| &reach.absent_modules).flat_map(|(folder, modules)| {
        modules
            .iter()
            .flat_map(move |module| [".py", "/__init__.py"].map(|end| Path::new(folder).join(format!("{module}{end}"))))
    });
    let absent = reaches().flat_map(|reach| reach.absent.iter().chain(&reach.absent_files)).map(PathBuf::from);
    let named = trusted.code.values().flat_map(Fingerprint::keys).map(PathBuf::from);
    let names = named.chain(absent).chain(modules);
    let outside: BTreeSet<PathBuf> = names.filter(|name| !name.starts_with(FOLDER)).collect();
    let real = |name: &PathBuf| {
        let real = workspace.join(name).canonicalize().ok()?;
        real.strip_prefix(workspace).ok().map(Path::to_owned)
    };
    let real: Vec<PathBuf> = outside.iter().filter_map(real).collect();
    outside.into_iter().chain(real).collect()
}

/// Returns the hashes of all files of the workspace that a text names, by their paths. Fails where one leads out of it,
/// and where it names more than can be tried.
pub(super) fn hashes(root: BorrowedFd<'_>, own: &str, text: &str) -> Result<Fingerprint, String> {
    let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut paths = candidates(folder, text)?;
    paths.remove(own);
    hashes_of(root, &paths)
}

/// Returns the hashes of those of the paths that are files of the workspace. Fails as [`hashes`] does.
pub(super) fn hashes_of(root: BorrowedFd<'_>, paths: &BTreeSet<String>) -> Result<Fingerprint, String> {
    let mut found = Fingerprint::new();
    let mut left = MOST_BYTES;
    for path in paths {
        match open(root, path) {
            Ok(file) => {
                if let Some(hash) = hash(file, &mut left).map_err(|error| format!("it names {path}, and {error}"))? {
                    found.insert(path.clone(), hash);
                }
            }
            Err(Errno::XDEV) if is_file(root, path) => {
                return Err(format!("it names {path}, which leads out of the workspace"));
            }
            Err(Errno::AGAIN) => {
                return Err(format!("it names {path}, and what that leads to changes all the time; trust it again"));
            }
            // No file of the workspace, or none that anybody could run.
            Err(_) => {}
        }
    }
    Ok(found)
}

/// Returns the files that the words of a command name by where they lie: `/…`, `~/…`, `$HOME/…`.
pub fn files_named(command: &str, home: &Path) -> Vec<PathBuf> {
    let whole = |word: &str| {
        let below = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| word.strip_prefix(start));
        below.map_or_else(|| PathBuf::from(word), |below| home.join(below))
    };
    let ends = |c: char| c.is_whitespace() || "\"'`;|&()<>=".contains(c);
    let paths = command.split(ends).map(whole).filter(|path| path.is_absolute() && path.is_file());
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the files that the words of a text name in a folder, and by where they lie.
pub fn scripts_named(text: &str, folder: &Path) -> Vec<PathBuf> {
    let below = candidates("", text).unwrap_or_default().into_iter().map(|name| folder.join(name));
    let whole = files_named(text, folder);
    below.filter(|path| path.is_file()).chain(whole).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Opens a path; follows links in it like a program that runs it, but never out of the workspace.
pub(super) fn open(root: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    open_within(root, path, (flags, resolve))
}

/// Says whether a path leads to a file, inside or outside. Links to folders elsewhere are common, and a folder cannot run.
fn is_file(root: BorrowedFd<'_>, path: &str) -> bool {
    let found = rustix::fs::statat(root, path, AtFlags::empty());
    found.is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) != FileType::Directory)
}

pub(super) fn hash(file: OwnedFd, left: &mut u64) -> io::Result<Option<String>> {
    let file = File::from(file);
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    let mut limited = file.take(*left + 1);
    io::copy(&mut limited, &mut hasher)?;
    *left = (*left + 1).checked_sub(hasher.count() + 1).ok_or_else(|| {
        io::Error::new(io::ErrorKind::FileTooLarge, "the files that it names are larger than 256 MiB")
    })?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

/// Every path that a word of the text may mean: from the root of the workspace, and from the file's own folder.
///
/// A word may begin with where the workspace lies (`/home/…`, `~/…`, `$DIR/…`), so its ends are tried as well.
pub(super) fn candidates(folder: &str, text: &str) -> Result<BTreeSet<String>, String> {
    let too_much = || "it names too much to be trusted".to_owned();
    let words = words(text);
    if words.len() > MOST_WORDS {
        return Err(too_much());
    }
    let (mut paths, mut left) = (BTreeSet::new(), MOST_PATH_BYTES);
    for word in words {
        let ends = word.match_indices('/').map(|(at, _)| &word[at + 1..]);
        let ends = ends.chain([word]).filter(|end| end.len() <= LONGEST);
        for path in ends.flat_map(|end| modules(end).into_iter().chain([end.to_owned()])) {
            left = left.checked_sub(path.len()).ok_or_else(too_much)?;
            let beside = format!("{folder}/{path}");
            paths.extend([path, beside].into_iter().filter_map(|path| straight(&path)));
        }
    }
    Ok(paths)
}

/// A path without `.` and `..`; none when it leads out of the workspace.
pub(super) fn straight(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The files of a module as Python names it: `package.module:function`.
fn modules(word: &str) -> Vec<String> {
    let module = word.split(':').next().unwrap_or_default();
    let parts: Vec<&str> = module.split('.').collect();
    let is_name = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !parts.iter().all(is_name) {
        return Vec::new();
    }
    let packages = (1..=parts.len()).map(|count| format!("{}/__init__.py", parts[..count].join("/")));
    packages.chain([format!("{}.py", parts.join("/"))]).collect()
}

/// The words of a text: between blanks and signs, and whole between quotes, for names with blanks in them.
pub(super) fn words(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || "_./-+@:~%,".contains(c);
    let bare = text.split(|c| !is_part(c));
    let ends = text.split(|c| !is_part(c)).flat_map(|word| word.split([':', ',']));
    let quoted = text.lines().flat_map(|line| line.split(['"', '\'']));
    bare.chain(ends).chain(quoted.map(str::trim)).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_file_behind_a_link_is_found_while_others_rename_their_files() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::create_dir_all(folder.path().join("ws/scripts/deep")).expect("a folder can be made");
        std::fs::write(folder.path().join("ws/real.sh"), "echo\n").expect("a file can be written");
        let link = folder.path().join("ws/scripts/deep/run.sh");
        std::os::unix::fs::symlink("../../scripts/../scripts/deep/../../real.sh", link).expect("a link can be made");
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder.path().join("ws"), flags, Mode::empty()).expect("it is there");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for number in 0..2 {
                let (is_over, one) = (&is_over, folder.path().join(format!("{number}")));
                scope.spawn(move || {
                    std::fs::write(&one, "").expect("a file can be written");
                    let other = one.with_extension("renamed");
                    while !is_over.load(Ordering::Relaxed) {
                        std::fs::rename(&one, &other).and_then(|()| std::fs::rename(&other, &one)).expect("ours");
                    }
                });
            }
            let missed = (0..200_000).filter(|_| open(root.as_fd(), "scripts/deep/run.sh").is_err()).count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(missed, 0);
        });
    }
}
