//! Removes what a command left in an ignored tree and what would be refused file by file.
//!
//! Packages contain settings of editors and agents. haft removes the refused files from the layer before it commits the
//! tree, and names them. If that fails, haft commits nothing of the tree. What the command removed in such a tree may go.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use haft_contract::doors::door::FileKind;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::judge::DifferenceJudge;
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::layer::difference::{Below, Comes, LayerChange, LayerExclusion, NewFile, RootedPath};
use crate::files::layer::folder::{open_anyway, remove_name};
use crate::files::layer::read::FOLDER_MODE;
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::{open_beneath, open_name};

/// Deepest folder that is entered.
const DEEPEST: usize = 200;

impl DifferenceJudge<'_> {
    /// Judges an ignored tree.
    pub(in crate::files::layer) fn tree(&mut self, tree: RootedPath) {
        if !self.is_kept(&tree) {
            self.judged.left_out.push((tree, LayerExclusion::NotSaid));
            return;
        }
        let mut sift = Sift { root: tree.root, refused: Vec::new() };
        let sifted = self.sift(&tree, &mut sift);
        match sifted {
            Ok(()) => self.judged.trees.push(tree),
            Err(_) => self.judged.left_out.push((tree, LayerExclusion::NotAllowed)),
        }
        let in_tree =
            |why| if let LayerExclusion::Protected(why) = why { LayerExclusion::ProtectedInTree(why) } else { why };
        self.judged.left_out.extend(sift.refused.into_iter().map(|(spot, why)| (spot, in_tree(why))));
    }

    fn sift(&mut self, tree: &RootedPath, sift: &mut Sift) -> io::Result<()> {
        let root = &self.roots[tree.root];
        let Some(stat) = root.stat_layered(&tree.path) else { return Ok(()) };
        let (parent, name) = in_folder(&tree.path)?;
        let parent = open_beneath(root.upper.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.sift_folder(&open_folder(parent.as_fd(), name)?, &tree.path, sift, 0)?,
            FileType::Symlink => {
                let found =
                    LayerChange { spot: tree.clone(), source: None, below: None, comes: Comes::Link, clash: None };
                let refused = self.left_out(&found).map(|why| (tree.clone(), why));
                sift.refused.extend(refused);
            }
            _ => {}
        }
        let root = &self.roots[tree.root];
        // Only when all are known: what is refused may be so because of its neighbours.
        for (spot, _) in &sift.refused {
            let (parent, name) = in_folder(&spot.path)?;
            let parent = open_beneath(root.upper.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
            remove_name(parent.as_fd(), name, 0)?;
        }
        Ok(())
    }

    fn sift_folder(&mut self, opened: &OwnedFd, path: &Path, sift: &mut Sift, depth: usize) -> io::Result<()> {
        if depth >= DEEPEST {
            return Err(io::Error::other("it is more than 200 folders deep"));
        }
        let mut names = FolderNameList::default();
        let contents = names.read(opened)?;
        if contents.beyond > 0 {
            return Err(io::Error::other("it has too many names"));
        }
        let mut index = 0;
        while let Some((inner, _)) = names.at(index) {
            index += 1;
            let stat = stat_name(opened, inner)?;
            let path = path.join(OsStr::from_bytes(inner));
            let kind = FileType::from_raw_mode(stat.st_mode);
            let comes = match kind {
                kind if kind == FileType::CharacterDevice || is_removal_mark(&stat) => continue,
                FileType::Directory => Comes::Folder { mode: stat.st_mode & FOLDER_MODE },
                FileType::Symlink => Comes::Link,
                _ => Comes::File(NewFile { size: u64::try_from(stat.st_size).unwrap_or(0), shared: None }),
            };
            let spot = RootedPath { root: sift.root, path: path.clone() };
            let below = self.roots[sift.root].stat_below(&path).map(|stat| Below::from(&stat));
            // A folder that is there already stays; what comes into it is judged.
            let is_there = kind == FileType::Directory && below.is_some_and(|below| below.kind == FileKind::Folder);
            let found = LayerChange { spot, source: None, below, comes, clash: None };
            if is_there {
                self.sift_folder(&open_folder(opened.as_fd(), inner)?, &path, sift, depth + 1)?;
            } else if let Some(why) = self.left_out(&found) {
                sift.refused.push((found.spot, why));
            } else if kind == FileType::Directory {
                self.sift_folder(&open_folder(opened.as_fd(), inner)?, &path, sift, depth + 1)?;
            }
        }
        Ok(())
    }
}

fn open_folder(above: BorrowedFd<'_>, name: &[u8]) -> io::Result<OwnedFd> {
    match open_name(above, name, OFlags::DIRECTORY | OFlags::RDONLY) {
        Err(Errno::ACCESS) => Ok(open_anyway(above, name)?),
        opened => Ok(opened?),
    }
}

/// What was found in one folder.
struct Sift {
    root: usize,
    refused: Vec<(RootedPath, LayerExclusion)>,
}

fn in_folder(path: &Path) -> io::Result<(&[u8], &[u8])> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = parent.as_os_str().as_bytes();
    Ok((if parent.is_empty() { b"." } else { parent }, name.as_bytes()))
}
