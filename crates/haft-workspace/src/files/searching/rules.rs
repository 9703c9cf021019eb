//! Reads ignore files (`.gitignore`, `.ignore` and `.git/info/exclude`) as git and ripgrep read them.
//!
//! The rules of a folder take precedence over those of the folders above it, and `.ignore` over the other two. The other two
//! belong to git: they count only inside a repository, do not reach into a repository below, and never count for files that
//! git tracks. `.ignore` always counts, also for tracked files: it says what programs that search leave out.
//!
//! haft reads the index of a repository once, and only when a rule would leave something out.
//!
//! Not here: rules of the user or the machine, which would make the same call answer differently elsewhere, and rules above
//! the root of the workspace: haft only notes that a folder above it is a repository.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, OFlags};

use super::tracked::GitTracking;
use crate::files::read::folder::stat_name;
use crate::files::read::open::open_name;

/// Most of an ignore file that is read, in bytes.
const LONGEST_FILE: u64 = 1 << 20;

/// The rules of the folder that the walk is in, and of all folders above it.
#[derive(Debug)]
pub(in crate::files) struct Rules {
    folders: Vec<FolderRules>,
    /// The folder that relative paths are below.
    base: PathBuf,
    /// The repository that the root lies in, where the root is not its top.
    above: Option<RepositoryScope>,
}

/// The verdict of the ignore rules on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum IgnoreVerdict {
    /// Nothing.
    Open,
    /// To leave it out.
    Ignored(IgnoreRuleSource),
    /// To keep it, even if its name begins with a dot.
    Kept(IgnoreRuleSource),
}

/// The kind of file that an ignore rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum IgnoreRuleSource {
    /// One of git, which does not count for what is tracked.
    Git,
    /// One of an `.ignore` file.
    IgnoreFile,
}

/// Which ignore files a folder has.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::files) struct Present {
    gitignore: bool,
    ignore: bool,
    git: bool,
}

impl Present {
    /// Every one may be there; each is tried.
    pub(in crate::files) const PERHAPS: Present = Present { gitignore: true, ignore: true, git: true };

    /// Notes a name of the folder.
    pub(in crate::files) fn note(&mut self, name: &[u8]) {
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
    repository: Option<RepositoryScope>,
}

/// A repository of git, and the relation of its paths to those beneath the root.
#[derive(Debug)]
struct RepositoryScope {
    top: PathBuf,
    /// Where in a path the part below the root, or below this repository, begins.
    below: usize,
    /// What leads from the top of the repository to there.
    prefix: Vec<u8>,
    tracked: OnceCell<GitTracking>,
}

impl RepositoryScope {
    fn tracks(&self, path: &[u8]) -> bool {
        let path = [&self.prefix, &path[self.below.min(path.len())..]].concat();
        let tracked = self.tracked.get_or_init(|| GitTracking::by(&self.top));
        // Where its index is not understood, the rules alone decide.
        tracked.holds(&path).unwrap_or(false)
    }
}

impl Rules {
    /// Begins at a root; `top` is the part of every path that names it, with a slash, and empty where paths are below `base`.
    pub(in crate::files) fn beneath(base: &Path, top: &[u8]) -> Self {
        let root = base.join(OsStr::from_bytes(top.strip_suffix(b"/").unwrap_or(top)));
        let is_repository = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let above = root.ancestors().skip(1).find(is_repository).map(|repository| {
            let mut prefix = root.strip_prefix(repository).unwrap_or(&root).as_os_str().as_bytes().to_vec();
            prefix.push(b'/');
            RepositoryScope { top: repository.to_owned(), below: top.len(), prefix, tracked: OnceCell::new() }
        });
        Self { folders: Vec::new(), base: base.to_owned(), above }
    }

    /// Reads the rules of a folder, by its path with a slash; returns whether it is the top of a repository.
    pub(in crate::files) fn enter(&mut self, folder: BorrowedFd<'_>, present: Present, path: &[u8]) -> bool {
        let read = |wanted: bool, name: &[u8]| if wanted { rules_in(folder, name) } else { None };
        let git = if present.git { open_name(folder, b".git", OFlags::DIRECTORY | OFlags::PATH).ok() } else { None };
        let info = git.as_ref().and_then(|git| open_name(git, b"info", OFlags::DIRECTORY | OFlags::PATH).ok());
        // Of a submodule it is a file.
        let is_repository = present.git && stat_name(folder, b".git").is_ok();
        let rules = FolderRules {
            below: path.len(),
            gitignore: read(present.gitignore, b".gitignore"),
            ignore: read(present.ignore, b".ignore"),
            exclude: info.and_then(|info| rules_in(info.as_fd(), b"exclude")),
            repository: is_repository.then(|| RepositoryScope {
                top: self.base.join(OsStr::from_bytes(path)),
                below: path.len(),
                prefix: Vec::new(),
                tracked: OnceCell::new(),
            }),
        };
        if rules.gitignore.is_some() || rules.ignore.is_some() || is_repository {
            self.folders.push(rules);
        }
        is_repository
    }

    /// Returns how many folders have rules, for [`Rules::leave_to`].
    pub(in crate::files) fn len(&self) -> usize {
        self.folders.len()
    }

    /// Tells whether a folder that was entered has a `.gitignore` or an `.ignore`.
    pub(in crate::files) fn has_ignore_file(&self) -> bool {
        self.folders.iter().any(|rules| rules.gitignore.is_some() || rules.ignore.is_some())
    }

    /// Forgets the rules of the folders that were entered since.
    pub(in crate::files) fn leave_to(&mut self, length: usize) {
        self.folders.truncate(length);
    }

    /// Forgets what the rules read so far say, and not where repositories are.
    pub(in crate::files) fn forget(&mut self) {
        for rules in &mut self.folders {
            (rules.gitignore, rules.ignore, rules.exclude) = (None, None, None);
        }
    }

    /// Says what the rules say of a path below the root.
    pub(in crate::files) fn verdict(&self, path: &[u8], kind: FileType) -> IgnoreVerdict {
        let is_folder = kind == FileType::Directory;
        let mut from_git = IgnoreVerdict::Open;
        let mut from_exclude = IgnoreVerdict::Open;
        let mut in_repository = false;
        for rules in self.folders.iter().rev() {
            let below = Path::new(OsStr::from_bytes(&path[rules.below.min(path.len())..]));
            let says = |file: &Option<Gitignore>, by| match file.as_ref().map(|file| file.matched(below, is_folder)) {
                None | Some(Match::None) => IgnoreVerdict::Open,
                Some(Match::Ignore(_)) => IgnoreVerdict::Ignored(by),
                Some(Match::Whitelist(_)) => IgnoreVerdict::Kept(by),
            };
            let from_ignore = says(&rules.ignore, IgnoreRuleSource::IgnoreFile);
            if from_ignore != IgnoreVerdict::Open {
                return from_ignore;
            }
            if !in_repository && from_git == IgnoreVerdict::Open {
                from_git = says(&rules.gitignore, IgnoreRuleSource::Git);
            }
            if !in_repository && from_exclude == IgnoreVerdict::Open {
                from_exclude = says(&rules.exclude, IgnoreRuleSource::Git);
            }
            in_repository |= rules.repository.is_some();
        }
        match from_git {
            _ if !in_repository && self.above.is_none() => IgnoreVerdict::Open,
            IgnoreVerdict::Open => from_exclude,
            from_git => from_git,
        }
    }

    /// Returns whether git tracks a path below the root, or something in it.
    pub(in crate::files) fn tracks(&self, path: &[u8]) -> bool {
        let below = self.folders.iter().rev().find_map(|rules| rules.repository.as_ref());
        below.or(self.above.as_ref()).is_some_and(|repository| repository.tracks(path))
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
