//! Measures how much disk a command takes: its changes, and the home and the temporary files of its session.
//!
//! A user cannot set a quota, so haft measures while the command runs: the more there is, the less often.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use haft_contract::doors::process::Staging;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

/// How long a command runs before it is measured first, and how often at most.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);
/// The part of the time that measuring may take.
const PART: u32 = 20;
/// Bytes of a block, as the kernel counts them for every file system.
const BLOCK: u64 = 512;
/// How deep folders are measured.
const DEEPEST: usize = 200;

/// What a command may take.
pub(crate) struct DiskBound {
    most: u64,
    /// The folders that take its changes.
    layers: Vec<OwnedFd>,
    /// Those of the session.
    folders: Vec<PathBuf>,
    next: Instant,
}

impl DiskBound {
    /// Bounds what a command on this ground takes, with these folders of its session.
    pub(crate) fn new(most: u64, ground: &dyn Staging, folders: &[(PathBuf, PathBuf)]) -> Self {
        let layers = ground.roots().iter().filter_map(|root| root.layer.as_ref()?.upper.try_clone().ok());
        let folders = folders.iter().map(|(_, outside)| outside.clone()).collect();
        Self { most, layers: layers.collect(), folders, next: Instant::now() + AT_MOST_EVERY }
    }

    /// Returns when it is to be measured next.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Measures, if it is time; says so when it is too much.
    pub(crate) fn exceeded(&mut self) -> Option<String> {
        let began = Instant::now();
        if began < self.next {
            return None;
        }
        let layers = self.layers.iter().map(|layer| size(layer, c".", DEEPEST));
        let folders = self.folders.iter().filter_map(|path| {
            let folder = rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
            Some(size(&folder, c".", DEEPEST))
        });
        let taken: u64 = layers.chain(folders).sum();
        let now = Instant::now();
        self.next = now + AT_MOST_EVERY.max((now - began) * PART);
        (taken > self.most).then(|| {
            format!(
                "haft ended the command: its changes, the home and /tmp of the session take {}, and the setting [sandbox] \
                 disk allows {}",
                shown(taken),
                shown(self.most)
            )
        })
    }
}

/// Returns a number of bytes as people read it.
pub(crate) fn shown(bytes: u64) -> String {
    let megabytes = bytes.div_ceil(1024 * 1024);
    if megabytes < 10 * 1024 { format!("{megabytes} MiB") } else { format!("{} GiB", megabytes.div_ceil(1024)) }
}

/// Returns the room that a folder takes with everything below. What changes meanwhile is measured or not.
fn size(parent: &impl AsFd, name: &CStr, deeper: usize) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(parent, name, flags, Mode::empty()) else { return 0 };
    let Ok(entries) = Dir::read_from(&folder) else { return 0 };
    let mut taken = 0;
    for entry in entries.flatten().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b"..")) {
        let Ok(facts) = rustix::fs::statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let blocks = u64::try_from(facts.st_blocks).unwrap_or(0);
        // A file of several names takes its room once.
        taken += BLOCK * blocks / u64::from(facts.st_nlink.max(1) as u32).max(1);
        if deeper > 0 && FileType::from_raw_mode(facts.st_mode) == FileType::Directory {
            taken += size(&folder, entry.file_name(), deeper - 1);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_is_measured_and_a_file_of_two_names_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b/one"), vec![1; 300_000]).unwrap();
        std::fs::write(folder.path().join("two"), vec![1; 300_000]).unwrap();
        std::fs::hard_link(folder.path().join("two"), folder.path().join("a/two")).unwrap();
        let opened = rustix::fs::open(folder.path(), OFlags::PATH, Mode::empty()).unwrap();
        let taken = size(&opened, c".", DEEPEST);
        assert!((600_000..700_000).contains(&taken), "{taken}");
    }

    #[test]
    fn sizes_are_shown_in_usual_units() {
        assert_eq!([shown(1), shown(3 << 20), shown(20 << 30)], ["1 MiB", "3 MiB", "20 GiB"]);
    }
}
