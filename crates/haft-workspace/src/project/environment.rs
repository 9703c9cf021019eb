//! Checks the virtual environment of a project's Python tools, as far as it decides what runs.
//!
//! An environment is too large to copy. But every tool would run an environment that is made later, another interpreter in
//! it, or a file that Python runs at its start. So trust is bound to these.
//!
//! Not here: the packages that are installed in it, which are not covered (decision 0022).

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::named::open;

/// What environments are called.
const NAMES: [&str; 2] = [".venv", "venv"];
/// What decides which interpreter runs, and from where it takes its library.
const PARTS: [&str; 5] = ["pyvenv.cfg", "bin/python", "bin/python3", "lib64", "bin"];
/// Largest file that is compared by its content.
const LARGEST: u64 = 1 << 20;

/// Returns a text that changes when an environment of the project, or of the folder of a definition, decides otherwise
/// what runs; it is empty where there is none.
pub(super) fn of(root: BorrowedFd<'_>, own: &str) -> String {
    let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut facts = String::new();
    for name in NAMES {
        for place in [name.to_owned(), format!("{folder}/{name}")] {
            for part in PARTS {
                note(root, &format!("{place}/{part}"), &mut facts);
            }
            for version in names_in(root, &format!("{place}/lib")) {
                let packages = format!("{place}/lib/{version}/site-packages");
                note(root, &packages, &mut facts);
                let runs_at_start = |name: &&String| {
                    name.ends_with(".pth") || name.starts_with("sitecustomize") || name.starts_with("usercustomize")
                };
                for file in names_in(root, &packages).iter().filter(runs_at_start) {
                    note(root, &format!("{packages}/{file}"), &mut facts);
                }
            }
        }
    }
    if facts.is_empty() { facts } else { blake3::hash(facts.as_bytes()).to_hex().to_string() }
}

/// Notes what lies at a place: where a link leads, the content of a file, and that a folder is one.
fn note(root: BorrowedFd<'_>, place: &str, facts: &mut String) {
    let Ok(stat) = rustix::fs::statat(root, place, AtFlags::SYMLINK_NOFOLLOW) else { return };
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => rustix::fs::readlinkat(root, place, Vec::new())
            .map(|target| target.to_string_lossy().into_owned())
            .unwrap_or_default(),
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST) => {
            let mut bytes = Vec::new();
            let read = open(root, place).ok().map(|file| File::from(file).take(LARGEST).read_to_end(&mut bytes));
            read.map(|_| blake3::hash(&bytes).to_hex().to_string()).unwrap_or_default()
        }
        // No command can set the time at which facts changed.
        FileType::RegularFile => format!("{} {} {}.{}", stat.st_ino, stat.st_size, stat.st_ctime, stat.st_ctime_nsec),
        kind => format!("{kind:?}"),
    };
    facts.push_str(&format!("{place} {what}\n"));
}

fn names_in(root: BorrowedFd<'_>, folder: &str) -> Vec<String> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(root, folder, flags, rustix::fs::Mode::empty());
    let Ok(entries) = opened.and_then(|opened| Dir::read_from(opened.as_fd())) else { return Vec::new() };
    let name = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
    let mut names: Vec<String> =
        entries.flatten().filter_map(name).filter(|name| name != "." && name != "..").collect();
    names.sort();
    names
}
