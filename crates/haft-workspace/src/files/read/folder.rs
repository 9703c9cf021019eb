//! One folder of a walk: kept open, with its names read once and sorted.
//!
//! All names share one piece of memory, and finished folders give theirs back: a walk over a hundred thousand files
//! allocates only a few times.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, RawDir, Stat};
use rustix::io::Errno;

use crate::files::searching::rules::Present;

/// Most names of one folder that are looked at.
const MOST_NAMES: usize = 1_000_000;
/// How many bytes of names the kernel is asked for in one call.
const STEP: usize = 32 * 1024;

/// The names of a folder, in order.
#[derive(Debug, Default)]
pub(in crate::files) struct FolderNameList {
    bytes: Vec<u8>,
    entries: Vec<NameEntry>,
}

#[derive(Clone, Copy, Debug)]
struct NameEntry {
    start: u32,
    end: u32,
    kind: FileType,
}

/// What else reading a folder showed.
#[derive(Debug, Default)]
pub(in crate::files) struct Contents {
    /// Which ignore files it has.
    pub(in crate::files) present: Present,
    /// How many names were not looked at.
    pub(in crate::files) beyond: u64,
}

impl FolderNameList {
    /// Reads all names of a folder in place of the old ones.
    pub(in crate::files) fn read(&mut self, folder: &OwnedFd) -> Result<Contents, Errno> {
        self.bytes.clear();
        self.entries.clear();
        let mut contents = Contents::default();
        let mut buffer = [const { MaybeUninit::uninit() }; STEP];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.entries.len() >= MOST_NAMES {
                contents.beyond += 1;
                continue;
            }
            if name.starts_with(b".") {
                contents.present.note(name);
            }
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(name);
            self.entries.push(NameEntry { start, end: self.bytes.len() as u32, kind: entry.file_type() });
        }
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| a.of(bytes).cmp(b.of(bytes)));
        Ok(contents)
    }

    /// Returns the name at a place in the order.
    pub(in crate::files) fn at(&self, index: usize) -> Option<(&[u8], FileType)> {
        self.entries.get(index).map(|entry| (entry.of(&self.bytes), entry.kind))
    }
}

impl NameEntry {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// A folder that was opened beneath the root, shared by those who open files in it.
pub(in crate::files) type OpenFolder = Arc<OwnedFd>;

/// Describes a name in a folder without following it.
pub(in crate::files) fn stat_name(folder: impl AsFd, name: &[u8]) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns whether the kernel makes up what a folder holds as it is read: there, files have no end and no size.
pub(in crate::files) fn is_made_up(folder: &OwnedFd) -> bool {
    // proc, sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs, bpf, configfs, pstore, selinuxfs, binfmt_misc.
    const MADE_UP: [u32; 12] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x0027_e0eb,
        0x6367_7270,
        0x7363_6673,
        0xcafe_4a11,
        0x6265_6570,
        0x6165_676c,
        0xf97c_ff8c,
        0x4249_4e4d,
    ];
    // The kernel's numbers have 32 bits, however wide the field is.
    rustix::fs::fstatfs(folder).is_ok_and(|system| MADE_UP.contains(&(system.f_type as u32)))
}
