//! Ignore files: `.gitignore`, `.ignore` and `.git/info/exclude`, as git and ripgrep read them.
//!
//! The rules of a folder come before those of the folders above it, `.ignore` comes before the other two, and the
//! `.gitignore` files above a folder that is a repository of its own do not reach into it. The workspace need not be a
//! repository. What an ignored folder holds is never looked at, so nothing in it can be taken back.
//!
//! Not here: rules of the user or the machine, which would make the same call answer differently elsewhere, and
//! anything above the root of the workspace.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, OFlags};

use super::folder::stat_name;
use super::open::open_name;

/// Most of an ignore file that is read, in bytes.
const LONGEST_FILE: u64 = 1 << 20;

/// The rules of the folder that the walk is in, and of all folders above it.
#[derive(Debug, Default)]
pub(super) struct Rules {
    folders: Vec<FolderRules>,
}

/// What the rules say of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Open,
    /// To leave it out.
    Ignored,
    /// To keep it, even if its name begins with a dot.
    Kept,
}

/// Which ignore files a folder has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Present {
    gitignore: bool,
    ignore: bool,
    git: bool,
}

impl Present {
    /// Every one may be there; each is tried.
    pub(super) const PERHAPS: Present = Present { gitignore: true, ignore: true, git: true };

    /// Notes a name of the folder.
    pub(super) fn note(&mut self, name: &[u8]) {
        match name {
            b".gitignore" => self.gitignore = true,
            b".ignore" => self.ignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }
}

#[derive(Debug)]
struct FolderRules {
    /// Where in a path the part below this folder begins.
    below: usize,
    gitignore: Option<Gitignore>,
    ignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    is_repository: bool,
}

impl Rules {
    /// Reads the rules of a folder, whose part of a path is `below` bytes long.
    pub(super) fn enter(&mut self, folder: BorrowedFd<'_>, present: Present, below: usize) {
        let read = |wanted: bool, name: &[u8]| if wanted { rules_in(folder, name) } else { None };
        let git = if present.git { open_name(folder, b".git", OFlags::DIRECTORY | OFlags::PATH).ok() } else { None };
        let info = git.as_ref().and_then(|git| open_name(git, b"info", OFlags::DIRECTORY | OFlags::PATH).ok());
        let rules = FolderRules {
            below,
            gitignore: read(present.gitignore, b".gitignore"),
            ignore: read(present.ignore, b".ignore"),
            exclude: info.and_then(|info| rules_in(info.as_fd(), b"exclude")),
            // Of a submodule it is a file.
            is_repository: present.git && stat_name(folder, b".git").is_ok(),
        };
        if rules.gitignore.is_some() || rules.ignore.is_some() || rules.exclude.is_some() || rules.is_repository {
            self.folders.push(rules);
        }
    }

    /// Returns how many folders have rules, for [`Rules::leave_to`].
    pub(super) fn len(&self) -> usize {
        self.folders.len()
    }

    /// Forgets the rules of the folders that were entered since.
    pub(super) fn leave_to(&mut self, length: usize) {
        self.folders.truncate(length);
    }

    /// Says what the rules say of a path below the root.
    pub(super) fn verdict(&self, path: &[u8], kind: FileType) -> Verdict {
        let is_folder = kind == FileType::Directory;
        let mut from_git = Verdict::Open;
        let mut from_exclude = Verdict::Open;
        let mut in_repository = false;
        for rules in self.folders.iter().rev() {
            let below = Path::new(OsStr::from_bytes(&path[rules.below.min(path.len())..]));
            let says = |file: &Option<Gitignore>| match file.as_ref().map(|file| file.matched(below, is_folder)) {
                None | Some(Match::None) => Verdict::Open,
                Some(Match::Ignore(_)) => Verdict::Ignored,
                Some(Match::Whitelist(_)) => Verdict::Kept,
            };
            let from_ignore = says(&rules.ignore);
            if from_ignore != Verdict::Open {
                return from_ignore;
            }
            if !in_repository && from_git == Verdict::Open {
                from_git = says(&rules.gitignore);
            }
            if !in_repository && from_exclude == Verdict::Open {
                from_exclude = says(&rules.exclude);
            }
            in_repository |= rules.is_repository;
        }
        if from_git == Verdict::Open { from_exclude } else { from_git }
    }
}

/// Reads one ignore file. What cannot be read or is no rule ignores nothing.
fn rules_in(folder: BorrowedFd<'_>, name: &[u8]) -> Option<Gitignore> {
    let opened = open_name(folder, name, OFlags::RDONLY).ok()?;
    let stat = rustix::fs::fstat(&opened).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(opened).take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes));
    let mut builder = GitignoreBuilder::new(".");
    for line in text.lines() {
        // A line that is no glob is left out, the others hold.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
