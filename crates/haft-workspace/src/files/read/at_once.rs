//! Reads a small file whose bytes are in memory already, without waiting for anything.
//!
//! Handing work to a waiting thread, and its outcome back, costs more than reading a small file. The system can be asked to
//! read only if it need not wait (`RWF_NOWAIT`). If it cannot promise that, or if the file is unusual, this module returns
//! nothing and the file is read in the usual way.

use std::io::IoSliceMut;

use haft_contract::doors::door::FileKind;
use haft_contract::files::path::Target;
use haft_contract::files::stamp::FileStamp;
use rustix::fs::OFlags;
use rustix::io::ReadWriteFlags;

use super::facts::{kind_of, stamp_of};
use super::open::WorkspaceRoot;

/// Largest file that is read so, in bytes.
const SMALL: u64 = 64 * 1024;

/// Returns all bytes of a small file, with their version, if the read does not have to wait for them.
pub(in crate::files) fn read(root: &WorkspaceRoot, target: &Target) -> Option<(Vec<u8>, FileStamp)> {
    let opened = root.open_target(target, OFlags::RDONLY).ok()?;
    let stat = rustix::fs::fstat(&opened).ok()?;
    let stamp = stamp_of(&stat);
    // A file that says it is empty may be a pseudo file that is not.
    if kind_of(&stat) != FileKind::File || !(1..=SMALL).contains(&stamp.size) {
        return None;
    }
    // One byte more: what has grown is noticed.
    let mut bytes = vec![0; usize::try_from(stamp.size).ok()? + 1];
    let read = rustix::io::preadv2(&opened, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).ok()?;
    let after = rustix::fs::fstat(&opened).ok()?;
    if read as u64 != stamp.size || stamp_of(&after) != stamp {
        return None;
    }
    bytes.truncate(read);
    Some((bytes, stamp))
}

#[cfg(test)]
mod tests {
    use haft_contract::files::path::{Extent, FileLocation};

    use super::*;

    #[test]
    fn only_small_files_with_something_in_them_are_read_so() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("small"), "some words").expect("it can be written");
        std::fs::write(at("limit"), vec![b'x'; SMALL as usize]).expect("it can be written");
        std::fs::write(at("large"), vec![b'x'; SMALL as usize + 1]).expect("it can be written");
        std::fs::write(at("empty"), "").expect("it can be written");
        std::fs::create_dir(at("folder")).expect("it can be made");
        let root = WorkspaceRoot::open(folder.path()).expect("it is there");
        let read = |name: &str| read(&root, &Target::Inside(FileLocation::new(name, Extent::Entry)));

        for name in ["large", "empty", "folder", "missing"] {
            assert_eq!(read(name), None, "{name}");
        }
        // What was just written is in memory; a file system that does not promise anything is read otherwise.
        if let Some((bytes, stamp)) = read("small") {
            assert_eq!((bytes.as_slice(), stamp.size), (b"some words".as_slice(), 10));
            assert_eq!(read("limit").map(|(bytes, _)| bytes.len() as u64), Some(SMALL));
        }
    }
}
