//! Tells whether a repository has an object: loose, in a pack, or in a store that it borrows from.
//!
//! Names are looked up in the indexes of packs, which are searched in place.
//!
//! Not here: what an object is (`object_kind`); adding objects, which is a change like any other (`needs`).

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How many stores may borrow from each other in a row, as in git.
const DEEPEST: usize = 5;
/// The largest list of other stores that is read, in bytes.
const LARGEST_LIST: usize = 1024 * 1024;

/// The objects of one repository.
pub(in crate::history) struct ObjectStore {
    pub(super) folders: Vec<PathBuf>,
    pub(super) packs: Vec<PackIndex>,
    /// Whether another machine has the rest: then missing objects are nothing unusual.
    is_partial: bool,
}

impl ObjectStore {
    /// Opens the store of a git directory, by its real path.
    pub(in crate::history) fn open(git_dir: &Path) -> Self {
        let mut folders = Vec::new();
        collect(&git_dir.join("objects"), DEEPEST, &mut folders);
        let mut store = Self { packs: Vec::new(), is_partial: false, folders };
        for folder in &store.folders {
            for entry in std::fs::read_dir(folder.join("pack")).into_iter().flatten().flatten() {
                let path = entry.path();
                match path.extension().and_then(|extension| extension.to_str()) {
                    // Without its pack an index is of no use.
                    Some("idx") if path.with_extension("pack").is_file() => {
                        store.packs.extend(PackIndex::open(&path).ok());
                    }
                    Some("promisor") => store.is_partial = true,
                    _ => {}
                }
            }
        }
        store
    }

    /// Returns whether there is such an object.
    pub(in crate::history) fn has(&self, oid: &str) -> bool {
        let (folder, name) = oid.split_at(2);
        self.folders.iter().any(|store| store.join(folder).join(name).is_file())
            || from_hex(oid).is_some_and(|oid| self.packs.iter().any(|pack| pack.has(&oid)))
    }

    /// Returns whether objects may be missing without harm.
    pub(in crate::history) fn is_partial(&self) -> bool {
        self.is_partial
    }
}

/// Collects a store and those that it borrows from.
fn collect(folder: &Path, depth: usize, folders: &mut Vec<PathBuf>) {
    if folders.iter().any(|known| known == folder) {
        return;
    }
    folders.push(folder.to_owned());
    let list = bounded_text(&folder.join("info/alternates")).unwrap_or_default();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if depth > 0 {
            collect(&folder.join(line), depth - 1, folders);
        }
    }
}

fn bounded_text(path: &Path) -> io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    open_file(path)?.take(LARGEST_LIST as u64).read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a regular file; a pipe in its place must not block.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// The index of a pack, version 2: a table by first byte, then the sorted names.
pub(in crate::history) struct PackIndex {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// How many objects come before each first byte ends.
    fanout: Vec<u32>,
    /// How many bytes a name has.
    pub(super) length: usize,
}

pub(super) const HEADER: usize = 8;
pub(super) const FANOUT: usize = 256 * 4;

impl PackIndex {
    pub(in crate::history) fn open(path: &Path) -> io::Result<Self> {
        let file = open_file(path)?;
        let mut begin = [0; HEADER + FANOUT];
        file.read_exact_at(&mut begin, 0)?;
        if !begin.starts_with(b"\xfftOc\0\0\0\x02") {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let fanout: Vec<u32> = begin[HEADER..]
            .chunks_exact(4)
            .map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let count = u64::from(fanout.last().copied().unwrap_or_default());
        // Per object: its name, a checksum of 4 bytes and an offset of 4; at the end two hashes. 64-bit offsets are rare.
        let size = file.metadata()?.len().saturating_sub((HEADER + FANOUT) as u64);
        let length = if size >= count * (32 + 8) + 64 && is_sorted(&file, 32, count) { 32 } else { 20 };
        Ok(Self { path: path.to_owned(), file, fanout, length })
    }

    pub(in crate::history) fn has(&self, oid: &[u8]) -> bool {
        if oid.len() != self.length {
            return false;
        }
        self.name(self.first_from(oid)).is_some_and(|name| name == oid)
    }

    /// Returns the place of the first name that is not before these bytes.
    pub(super) fn first_from(&self, bytes: &[u8]) -> u32 {
        let Some(first) = bytes.first().copied().map(usize::from) else { return 0 };
        let mut low = if first == 0 { 0 } else { self.fanout[first - 1] };
        let mut high = self.fanout[first];
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle) {
                Some(name) if name.as_slice() < bytes => low = middle + 1,
                Some(_) => high = middle,
                None => return low,
            }
        }
        low
    }

    /// Returns how many objects the pack has.
    pub(super) fn count(&self) -> u32 {
        self.fanout.last().copied().unwrap_or_default()
    }

    pub(super) fn name(&self, index: u32) -> Option<Vec<u8>> {
        let mut name = vec![0; self.length];
        let at = (HEADER + FANOUT) as u64 + u64::from(index) * self.length as u64;
        self.file.read_exact_at(&mut name, at).ok().map(|()| name)
    }
}

/// Returns whether names of this length would be in order, which names of another length are not.
fn is_sorted(file: &File, length: usize, count: u64) -> bool {
    let name = |index: u64| {
        let mut name = vec![0; length];
        file.read_exact_at(&mut name, (HEADER + FANOUT) as u64 + index * length as u64).ok().map(|()| name)
    };
    (1..count.min(64)).all(|index| name(index - 1) < name(index))
}

/// Reads the digits of an object's name.
pub(in crate::history) fn from_hex(oid: &str) -> Option<Vec<u8>> {
    let pairs = oid.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).ok());
    pairs.map(|two| u8::from_str_radix(two?, 16).ok()).collect()
}

/// Writes an object's name in digits.
pub(in crate::history) fn to_hex(oid: &[u8]) -> String {
    use std::fmt::Write;
    oid.iter().fold(String::with_capacity(2 * oid.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with these names and nothing behind them but room.
    fn index(names: &[[u8; 20]]) -> Vec<u8> {
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=255_u8 {
            let count = names.iter().filter(|name| name[0] <= first).count();
            index.extend(u32::try_from(count).unwrap().to_be_bytes());
        }
        index.extend(names.iter().flatten());
        index.extend(vec![0; names.len() * 8 + 40]);
        index
    }

    #[test]
    fn objects_are_found_loose_packed_and_in_borrowed_stores() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        for path in
            [own.join("objects/pack"), own.join("objects/info"), own.join("objects/aa"), other.join("objects/bb")]
        {
            std::fs::create_dir_all(path).expect("it is new");
        }
        let rest = "1".repeat(38);
        std::fs::write(own.join("objects/aa").join(&rest), "x").expect("it is new");
        std::fs::write(other.join("objects/bb").join(&rest), "x").expect("it is new");
        std::fs::write(own.join("objects/info/alternates"), "# mine\n../../other/objects\n").expect("it is new");
        let names = [[0; 20], [7; 20], [0xff; 20]];
        std::fs::write(own.join("objects/pack/pack-1.idx"), index(&names)).expect("it is new");
        std::fs::write(own.join("objects/pack/pack-2.idx"), index(&[[8; 20]])).expect("it is new");
        std::fs::write(own.join("objects/pack/pack-1.pack"), "x").expect("it is new");
        let store = ObjectStore::open(&own);
        for there in [format!("aa{rest}"), format!("bb{rest}"), "00".repeat(20), "07".repeat(20), "ff".repeat(20)] {
            assert!(store.has(&there), "{there}");
        }
        // The last one is only in an index without its pack.
        for missing in [format!("cc{rest}"), "06".repeat(20), "08".repeat(20)] {
            assert!(!store.has(&missing), "{missing}");
        }
    }
}
