//! Refuses the changes of a command whose layer had no space left: what the command wrote may be cut off.
//!
//! The layer is usually on the disk of haft's state. If that disk is full, a write fails there that would succeed in the
//! workspace, and a program that has emptied its file before cannot restore it.
//!
//! Not here: the limit that the user sets for what a command writes (`haft-sandbox`), and the disk of the workspace.

use std::os::fd::AsFd;
use std::path::Path;

use haft_contract::doors::door::FileKind;
use haft_contract::files::path::one_line;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::StatVfs;

use super::settle::Settling;
use crate::files::layer::difference::{Comes, Difference, RootedPath};
use crate::files::layer::memory;
use crate::files::read::facts::kind_of;

/// With less free space a write may have failed: file systems keep a little for themselves.
const LEAST_FREE: u64 = 128 * 1024;

impl Settling<'_> {
    /// Refuses new contents from a layer on a full file system. A command that only removes loses nothing there.
    pub(super) fn check_space(&self, difference: &Difference) -> Result<(), ToolError> {
        let Some(folder) = &self.layer_folder else { return Ok(()) };
        let is_full = |upper| rustix::fs::fstatvfs(upper).is_ok_and(|facts| is_full(&facts));
        if self.brings_content(difference) && self.roots.iter().any(|root| is_full(root.upper.as_fd())) {
            return Err(full(folder));
        }
        Ok(())
    }

    fn brings_content(&self, difference: &Difference) -> bool {
        let is_new = |tree: &RootedPath| {
            let stat = self.roots[tree.root].stat_layered(&tree.path);
            stat.is_some_and(|stat| kind_of(&stat) == FileKind::Folder)
        };
        difference.found.iter().any(|found| matches!(found.comes, Comes::File(_)))
            || difference.trees.iter().any(is_new)
    }
}

fn is_full(facts: &StatVfs) -> bool {
    // The system keeps some blocks for root.
    let free = if rustix::process::geteuid().is_root() { facts.f_bfree } else { facts.f_bavail };
    let has_no_space = facts.f_blocks > 0 && free.saturating_mul(facts.f_frsize) < LEAST_FREE;
    let has_no_name = facts.f_files > 0 && facts.f_ffree == 0;
    has_no_space || has_no_name
}

fn full(folder: &Path) -> ToolError {
    let (disk, next) = if folder == memory::folder() {
        let next = "ask the user to make that file system larger (docker run --shm-size), or do it in smaller parts";
        ("file system in memory for the changes of commands", next)
    } else {
        let next =
            "ask the user to free some space there (\"haft gc\" shows what haft can free), and run the command again";
        ("disk of haft's state", next)
    };
    let what = format!(
        "The {disk} is full, so what the command wrote may be cut off. None of its changes were kept, and the workspace is \
         unchanged. The folder there: {}.",
        one_line(&folder.to_string_lossy())
    );
    ToolError::new(ErrorKind::Io, what, Next::AskUser(next.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_folder_and_what_helps_there() {
        let of_state = full(Path::new("/state/layers"));
        assert!(
            of_state.what.starts_with("The disk of haft's state is full") && of_state.what.contains("/state/layers")
        );
        assert!(format!("{:?}", of_state.next).contains("haft gc"));
        let in_memory = full(&memory::folder());
        assert!(in_memory.what.contains("in memory") && format!("{:?}", in_memory.next).contains("--shm-size"));
    }

    #[test]
    fn a_file_system_without_space_or_names_is_full_and_one_that_tells_no_numbers_is_not() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let facts = rustix::fs::statvfs(folder.path()).expect("it is there");
        let with = |blocks, free, names, free_names| StatVfs {
            f_frsize: 4096,
            f_blocks: blocks,
            f_bfree: free,
            f_bavail: free,
            f_files: names,
            f_ffree: free_names,
            ..facts
        };
        assert!(is_full(&with(1000, 0, 100, 50)));
        assert!(is_full(&with(1000, 31, 100, 50)));
        assert!(!is_full(&with(1000, 32, 100, 50)));
        assert!(is_full(&with(1000, 500, 100, 0)));
        assert!(!is_full(&with(0, 0, 0, 0)));
    }
}
