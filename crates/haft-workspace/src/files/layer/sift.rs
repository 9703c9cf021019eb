//! Takes out of new folders that come in as a whole what would not come in file by file.
//!
//! Nothing else looks at what is in them, and packages bring the settings of editors and agents along. What is refused is
//! removed from the layer before the folder comes in, and named. Where that fails, nothing of the folder comes.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, OFlags};

use super::super::folder::{Names, stat_name};
use super::super::open::open_beneath;
use super::difference::{Comes, Found, LeftOut, NewFile, Spot};
use super::folder::{open_anyway, remove_name};
use super::judge::Judge;
use super::read::FOLDER_MODE;

/// Deepest folder that is entered.
const DEEPEST: usize = 200;

impl Judge<'_> {
    /// Judges a new folder that comes in as a whole.
    pub(super) fn tree(&mut self, tree: Spot) {
        if !self.is_kept(&tree) {
            self.judged.left_out.push((tree, LeftOut::NotSaid));
            return;
        }
        let mut sift = Sift { root: tree.root, refused: Vec::new() };
        let sifted = self.sift(&tree, &mut sift);
        match sifted {
            Ok(()) => self.judged.trees.push(tree),
            Err(_) => self.judged.left_out.push((tree, LeftOut::NotAllowed)),
        }
        self.judged.left_out.extend(sift.refused);
    }

    fn sift(&mut self, tree: &Spot, sift: &mut Sift) -> io::Result<()> {
        let root = &self.roots[tree.root];
        let (parent, name) = in_folder(&tree.path)?;
        let parent = open_beneath(root.upper.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
        self.sift_folder(parent.as_fd(), (name, &tree.path), sift, 0)?;
        // Only when all are known: what is refused may be so because of its neighbours.
        for (spot, _) in &sift.refused {
            let (parent, name) = in_folder(&spot.path)?;
            let parent = open_beneath(root.upper.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
            remove_name(parent.as_fd(), name, 0)?;
        }
        Ok(())
    }

    fn sift_folder(
        &mut self,
        above: BorrowedFd<'_>,
        (name, path): (&[u8], &Path),
        sift: &mut Sift,
        depth: usize,
    ) -> io::Result<()> {
        if depth >= DEEPEST {
            return Err(io::Error::other("it is more than 200 folders deep"));
        }
        let opened = open_anyway(above, name)?;
        let mut names = Names::default();
        let contents = names.read(&opened)?;
        if contents.beyond > 0 {
            return Err(io::Error::other("it has too many names"));
        }
        let mut index = 0;
        while let Some((inner, _)) = names.at(index) {
            index += 1;
            let stat = stat_name(&opened, inner)?;
            let path = path.join(OsStr::from_bytes(inner));
            let kind = FileType::from_raw_mode(stat.st_mode);
            let comes = match kind {
                FileType::Directory => Comes::Folder { mode: stat.st_mode & FOLDER_MODE },
                FileType::Symlink => Comes::Link,
                _ => Comes::File(NewFile { size: u64::try_from(stat.st_size).unwrap_or(0), shared: None }),
            };
            let spot = Spot { root: sift.root, path: path.clone() };
            let found = Found { spot, source: None, below: None, comes, clash: None };
            if let Some(why) = self.left_out(&found) {
                sift.refused.push((found.spot, why));
            } else if kind == FileType::Directory {
                self.sift_folder(opened.as_fd(), (inner, &path), sift, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// What was found in one folder.
struct Sift {
    root: usize,
    refused: Vec<(Spot, LeftOut)>,
}

fn in_folder(path: &Path) -> io::Result<(&[u8], &[u8])> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = parent.as_os_str().as_bytes();
    Ok((if parent.is_empty() { b"." } else { parent }, name.as_bytes()))
}
