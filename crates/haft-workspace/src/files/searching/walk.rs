//! Walks a tree by descriptor, in the order of paths, without following links.
//!
//! Every folder is opened beneath its parent, and files are opened in the folder that listed their name. If another program
//! swaps a folder for a link meanwhile, the walk does not follow it. Walkers of paths (such as the one of the crate
//! `ignore`) would list the link's target. It is also cheaper: no path is resolved twice, and ignore files are opened only
//! if the folder lists them.
//!
//! One thread walks at a time. Threads that process the files take turns in asking for the next ones: the order is known,
//! and a walk that is not needed further costs nothing.
//!
//! Not here: reading files (`search`), what a glob fits (`names`).

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::search::{DotfilePolicy, IgnorePolicy, WalkOmissions};
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::list::open_folder;
use super::rules::{IgnoreRuleSource, IgnoreVerdict, Present, Rules};
use crate::files::read::facts::kind_of_type;
use crate::files::read::folder::{FolderNameList, OpenFolder, is_made_up, stat_name};
use crate::files::read::names::NameGlobs;
use crate::files::read::open::{WorkspaceRoot, open_name};
use crate::files::system_error;

/// Deepest folder that is entered: every level holds a descriptor.
const DEEPEST: usize = 128;
/// How many names are passed between two looks at the stop signal.
const STEPS_BETWEEN_LOOKS: u32 = 256;

/// What a walk passes by.
#[derive(Debug)]
pub(in crate::files) struct WalkOptions {
    /// How many levels are entered; 1 is the folder's own entries.
    pub(in crate::files) depth: usize,
    /// Whether names that begin with a dot are met.
    pub(in crate::files) hidden: DotfilePolicy,
    /// Whether names that ignore files name are met.
    pub(in crate::files) ignored: IgnorePolicy,
    /// Names and paths to leave out.
    pub(in crate::files) exclude: NameGlobs,
    /// Names to leave out where no ignore file was met.
    pub(in crate::files) usual_excludes: NameGlobs,
    /// Names that the first levels are limited to, from the top.
    pub(in crate::files) only: Vec<Vec<u8>>,
    /// Which files are looked for, if not all are: the walk does not report that it left out other files.
    pub(in crate::files) wanted: NameGlobs,
}

/// A walk of a tree in progress.
pub(in crate::files) struct TreeWalk<'a> {
    options: WalkOptions,
    stop: &'a CancellationToken,
    levels: Vec<WalkLevel>,
    rules: Rules,
    /// The path of the entry met last, below the root.
    path: Vec<u8>,
    /// How long the part of the path is that names the folder where the walk began.
    top: usize,
    /// Folders that belong to haft itself; they are not entered, wherever they lie.
    off_limits: Vec<PathBuf>,
    left_out: WalkOmissions,
    /// Whether the entry met last is a folder that is entered next.
    descend: bool,
    /// Whether git ignores the entry met last, but for what it tracks.
    in_ignored: bool,
    steps: u32,
    spare: Vec<FolderNameList>,
}

/// One folder on the way of a walk, held open.
struct WalkLevel {
    folder: OpenFolder,
    names: FolderNameList,
    next: usize,
    /// How long the path of the folder is, with the slash behind it.
    path_length: usize,
    /// How many folders had rules before this one was entered.
    rules_before: usize,
    /// Whether git ignores the folder: then only what it tracks is met in it.
    only_tracked: bool,
    device: u64,
}

/// An entry that a walk met.
#[derive(Clone, Copy, Debug)]
pub(in crate::files) struct Met {
    /// What it is.
    pub(in crate::files) kind: FileKind,
    /// How deep it lies, from 1.
    pub(in crate::files) depth: usize,
}

impl<'a> TreeWalk<'a> {
    /// Begins a walk in a folder.
    pub(in crate::files) fn new(
        root: &WorkspaceRoot,
        target: &Target,
        options: WalkOptions,
        stop: &'a CancellationToken,
    ) -> Result<Self, ToolError> {
        let folder = open_folder(root, target)?;
        let mut path = target.place().path().as_os_str().as_bytes().to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        let mut walk = Self {
            options,
            stop,
            levels: Vec::new(),
            rules: rules_above(root, target),
            top: path.len(),
            path,
            off_limits: root.off_limits_as_places(),
            left_out: WalkOmissions::default(),
            descend: false,
            in_ignored: false,
            steps: 0,
            spare: Vec::new(),
        };
        walk.enter(folder).map_err(|errno| system_error(errno.into(), &target.to_string(), FailedOperation::Read))?;
        Ok(walk)
    }

    /// Goes on to the next entry; nothing when there is none or the call was stopped.
    pub(in crate::files) fn advance(&mut self) -> Option<Met> {
        if std::mem::take(&mut self.descend) {
            self.enter_met();
        }
        loop {
            self.steps += 1;
            if self.steps >= STEPS_BETWEEN_LOOKS {
                self.steps = 0;
                if self.stop.is_cancelled() {
                    return None;
                }
            }
            let depth = self.levels.len();
            let level = self.levels.last_mut()?;
            self.path.truncate(level.path_length);
            let Some((name, kind)) = level.names.at(level.next) else {
                self.leave();
                continue;
            };
            level.next += 1;
            if self.options.only.get(depth - 1).is_some_and(|only| only != name) {
                continue;
            }
            self.path.extend_from_slice(name);
            // Some file systems do not say it with the name.
            let kind = match kind {
                FileType::Unknown => match stat_name(&level.folder, name) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            if !self.admits(kind) {
                continue;
            }
            self.left_out.met += u64::from(kind != FileType::Directory);
            // Git's own folder is no part of the work, even where hidden names are shown.
            self.descend = kind == FileType::Directory && depth < self.options.depth && self.name() != b".git";
            return Some(Met { kind: kind_of_type(kind), depth });
        }
    }

    /// Returns the path of the entry met last, below the root of the workspace.
    pub(in crate::files) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the path of the entry met last, below the folder where the walk began.
    pub(in crate::files) fn path_below(&self) -> &[u8] {
        &self.path[self.top..]
    }

    /// Returns the name of the entry met last.
    pub(in crate::files) fn name(&self) -> &[u8] {
        &self.path[self.levels.last().map_or(0, |level| level.path_length)..]
    }

    /// Returns the folder of the entry met last.
    pub(in crate::files) fn folder(&self) -> Option<&OpenFolder> {
        self.levels.last().map(|level| &level.folder)
    }

    /// Returns the account of what was left out so far, to add to it.
    pub(in crate::files) fn left_out(&mut self) -> &mut WalkOmissions {
        &mut self.left_out
    }

    /// Ends the walk: what was left out, or that the call was stopped.
    pub(in crate::files) fn end(self) -> Result<WalkOmissions, ToolError> {
        if self.stop.is_cancelled() {
            return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped while walking the folders."));
        }
        Ok(self.left_out)
    }

    /// Judges the entry whose path stands in `self.path`.
    fn admits(&mut self, kind: FileType) -> bool {
        let verdict = self.verdict(kind);
        let end = if kind == FileType::Directory { "/" } else { "" };
        let is_ignored = matches!(verdict, IgnoreVerdict::Ignored(_));
        let is_hidden = verdict == IgnoreVerdict::Open
            && self.options.hidden == DotfilePolicy::Skip
            && self.name().starts_with(b".");
        if !is_ignored && !is_hidden {
            return !self.options.exclude.fit(self.path_below());
        }
        let is_file = kind != FileType::Directory;
        if is_file && !self.options.wanted.is_empty() && !self.options.wanted.fit(self.path_below()) {
            return false;
        }
        let path = &self.path;
        let omitted = match is_file && is_secret(Path::new(OsStr::from_bytes(path))) {
            // No option shows what is in it.
            true => &mut self.left_out.secret,
            false if is_ignored => &mut self.left_out.ignored,
            false => &mut self.left_out.hidden,
        };
        omitted.note(|| String::from_utf8_lossy(path).into_owned() + end);
        false
    }

    /// Says what becomes of the entry: what git tracks it does not ignore, and of an ignored folder it keeps nothing else.
    fn verdict(&mut self, kind: FileType) -> IgnoreVerdict {
        // No pattern of git concerns its own folder: it is hidden, and no option shows what is in it.
        if self.name() == b".git" {
            self.in_ignored = false;
            return IgnoreVerdict::Open;
        }
        let verdict = self.rules.verdict(&self.path, kind);
        let from_above = self.levels.last().is_some_and(|level| level.only_tracked);
        self.in_ignored = verdict == IgnoreVerdict::Ignored(IgnoreRuleSource::Git)
            || (from_above
                && !matches!(
                    verdict,
                    IgnoreVerdict::Ignored(IgnoreRuleSource::IgnoreFile)
                        | IgnoreVerdict::Kept(IgnoreRuleSource::IgnoreFile)
                ));
        match verdict {
            IgnoreVerdict::Ignored(_) if self.options.ignored == IgnorePolicy::Show => IgnoreVerdict::Open,
            IgnoreVerdict::Open if self.is_usually_left_out() => IgnoreVerdict::Ignored(IgnoreRuleSource::IgnoreFile),
            _ if self.options.ignored == IgnorePolicy::Show || !self.in_ignored => verdict,
            _ if self.rules.tracks(&self.path) => IgnoreVerdict::Open,
            _ => IgnoreVerdict::Ignored(IgnoreRuleSource::Git),
        }
    }

    /// Tells whether the entry is left out because no ignore file says what to leave out.
    fn is_usually_left_out(&self) -> bool {
        let usual = &self.options.usual_excludes;
        let counts = self.options.ignored == IgnorePolicy::Skip && !usual.is_empty() && !self.rules.has_ignore_file();
        counts && usual.fit(self.name())
    }

    /// Enters the folder met last.
    fn enter_met(&mut self) {
        if self.levels.len() >= DEEPEST {
            self.left_out.beyond += 1;
            return;
        }
        let here = Path::new(OsStr::from_bytes(&self.path));
        if self.off_limits.iter().any(|folder| folder == here) {
            self.left_out.beyond += 1;
            return;
        }
        let Some(parent) = self.levels.last() else { return };
        let opened = open_name(&parent.folder, self.name(), OFlags::DIRECTORY | OFlags::RDONLY);
        let length = self.path.len();
        self.path.push(b'/');
        if opened.and_then(|folder| self.enter(folder)).is_err() {
            self.path.truncate(length);
            let path = &self.path;
            self.left_out.unreadable.note(|| String::from_utf8_lossy(path).into_owned());
        }
    }

    fn enter(&mut self, folder: OwnedFd) -> Result<(), Errno> {
        let device = rustix::fs::fstat(&folder)?.st_dev;
        if self.levels.last().is_none_or(|parent| parent.device != device) && is_made_up(&folder) {
            self.left_out.beyond += 1;
            return Ok(());
        }
        let mut names = self.spare.pop().unwrap_or_default();
        let contents = names.read(&folder)?;
        self.left_out.beyond += contents.beyond;
        let rules_before = self.rules.len();
        let is_repository = self.rules.enter(folder.as_fd(), contents.present, &self.path);
        let (folder, path_length) = (OpenFolder::new(folder), self.path.len());
        // What a repository below ignores is its own matter.
        let only_tracked = self.in_ignored && !is_repository;
        self.levels.push(WalkLevel { folder, names, next: 0, path_length, rules_before, only_tracked, device });
        Ok(())
    }

    fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.rules.leave_to(level.rules_before);
            self.spare.push(level.names);
        }
    }
}

/// The rules of the folders above the target. A call that names an ignored folder wants it: then they do not count.
fn rules_above(root: &WorkspaceRoot, target: &Target) -> Rules {
    let path = target.place().path();
    // The rules of the workspace do not reach into folders that were added.
    let mut above = root.root_of(path).to_owned();
    let below = path.strip_prefix(&above).unwrap_or(path).to_owned();
    let with_slash = |path: &Path| {
        let end: &[u8] = if path.as_os_str().is_empty() { b"" } else { b"/" };
        [path.as_os_str().as_bytes(), end].concat()
    };
    let mut rules = Rules::beneath(root.path(), &with_slash(&above));
    let mut in_ignored = false;
    for part in &below {
        let place = Target::Inside(FileLocation::new(&above, Extent::Tree));
        if let Ok(folder) = root.open_target(&place, OFlags::DIRECTORY | OFlags::RDONLY) {
            in_ignored &= !rules.enter(folder.as_fd(), Present::PERHAPS, &with_slash(&above));
        }
        above.push(part);
        let path = above.as_os_str().as_bytes();
        let verdict = rules.verdict(path, FileType::Directory);
        in_ignored |= verdict == IgnoreVerdict::Ignored(IgnoreRuleSource::Git);
        if verdict == IgnoreVerdict::Ignored(IgnoreRuleSource::IgnoreFile) || (in_ignored && !rules.tracks(path)) {
            rules.forget();
            in_ignored = false;
        }
    }
    rules
}
