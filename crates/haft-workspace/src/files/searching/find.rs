//! Finds names by a glob, in the order of paths, age, size or depth.
//!
//! The walk continues after the limit, to count exactly. It begins in the folder that the glob names: only that can match.
//! If nothing matches, a second, shorter walk looks for what the caller probably meant.

use std::collections::BinaryHeap;
use std::path::PathBuf;

use haft_contract::doors::door::FileKind;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::search::{Case, DotfilePolicy, FindOrder, FindRequest, FindResult, IgnorePolicy};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use tokio_util::sync::CancellationToken;

use super::walk::{Met, TreeWalk, WalkOptions};
use crate::files::read::folder::stat_name;
use crate::files::read::names::{Letters, NameGlobs};
use crate::files::read::open::WorkspaceRoot;

/// Most names compared when nothing fits and near ones are looked for.
const MOST_NEAR_COMPARED: usize = 50_000;
/// Most near names told.
const MOST_NEAR: usize = 5;

/// Finds what fits the glob below a folder.
pub(in crate::files) fn find(
    root: &WorkspaceRoot,
    target: &Target,
    request: &FindRequest,
    stop: &CancellationToken,
) -> Result<FindResult, ToolError> {
    let pattern = relative(&request.pattern)?;
    let letters = letters(pattern, request.case);
    let globs = NameGlobs::new(&[pattern.to_owned()], ("pattern", letters))?;
    let exclude = NameGlobs::new(&request.exclude, ("exclude", Letters::Exact))?;
    let (options, depth) = (options(pattern, letters, request.ignored), request.depth);
    let hidden = if request.hidden == DotfilePolicy::Show { DotfilePolicy::Show } else { options.hidden };
    let usual_excludes = NameGlobs::of_known(&request.usual_excludes, Letters::Exact);
    let options = WalkOptions { wanted: globs.clone(), exclude, usual_excludes, depth, hidden, ..options };
    let names_folder = !options.only.is_empty();
    let mut walk = TreeWalk::new(root, target, options, stop)?;
    let mut page = FindPage::of(request);
    let wanted = if pattern.ends_with('/') { FileKind::Folder } else { FileKind::File };
    let (mut matched, mut compared) = (0, 0);
    while let Some(met) = walk.advance() {
        if (met.kind == FileKind::Folder) != (wanted == FileKind::Folder) {
            continue;
        }
        compared += 1;
        if globs.fit(walk.path_below()) {
            page.take((&walk, met), matched);
            matched += 1;
        }
    }
    let left_out = walk.end()?;
    // A glob that names an ignored folder wants it.
    if compared == 0 && names_folder && request.ignored == IgnorePolicy::Skip && left_out.ignored.count > 0 {
        return find(root, target, &FindRequest { ignored: IgnorePolicy::Show, ..request.clone() }, stop);
    }
    let near = if matched == 0 { near(root, target, request, stop)? } else { Vec::new() };
    Ok(FindResult { paths: page.into_paths(wanted), matched, compared, near, left_out })
}

/// Returns the files that are neither hidden nor ignored, at most so many.
pub(in crate::files) fn file_names(root: &WorkspaceRoot, most: usize) -> Vec<String> {
    let request = FindRequest {
        pattern: "*".to_owned(),
        case: Case::Sensitive,
        exclude: Vec::new(),
        usual_excludes: Vec::new(),
        depth: usize::MAX,
        hidden: DotfilePolicy::Skip,
        order: FindOrder::Name,
        ignored: IgnorePolicy::Skip,
        skip: 0,
        paths: most,
    };
    let here = Target::Inside(FileLocation::new(PathBuf::new(), Extent::Tree));
    find(root, &here, &request, &CancellationToken::new()).map(|found| found.paths).unwrap_or_default()
}

fn letters(pattern: &str, case: Case) -> Letters {
    match case {
        Case::Sensitive => Letters::Exact,
        Case::Smart if pattern.contains(char::is_uppercase) => Letters::Exact,
        Case::Smart | Case::Insensitive => Letters::AnyCase,
    }
}

/// A glob is below the folder: what is above or at the root of the disk cannot fit.
fn relative(pattern: &str) -> Result<&str, ToolError> {
    let bad = |what: String, next: &str| ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into()));
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    if plain.is_empty() {
        return Err(bad("The pattern is empty.".into(), "write a glob such as \"*.rs\"; for all files, \"*\""));
    }
    if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
        let what = format!("The pattern \"{pattern}\" leads out of the folder that is searched.");
        return Err(bad(what, "give the folder as \"path\", and the pattern relative to it"));
    }
    Ok(plain)
}

/// Names with a dot are met where the glob asks for one; the first plain names of the glob limit where the walk goes.
fn options(pattern: &str, letters: Letters, ignored: IgnorePolicy) -> WalkOptions {
    let parts: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let asks_for_dot = parts.iter().any(|part| part.starts_with('.') || part.contains("{."));
    let folders = &parts[..parts.len() - 1];
    let plain = folders.iter().take_while(|part| !part.is_empty() && !part.contains(['*', '?', '[', '{', '}', '\\']));
    let only =
        if letters == Letters::Exact { plain.map(|part| part.as_bytes().to_vec()).collect() } else { Vec::new() };
    let hidden = if asks_for_dot { DotfilePolicy::Show } else { DotfilePolicy::Skip };
    let exclude = NameGlobs::of_known(&[], Letters::Exact);
    let (wanted, usual_excludes) = (exclude.clone(), exclude.clone());
    WalkOptions { depth: usize::MAX, hidden, ignored, wanted, exclude, usual_excludes, only }
}

/// What fits in another case, or in another folder.
fn near(
    root: &WorkspaceRoot,
    target: &Target,
    request: &FindRequest,
    stop: &CancellationToken,
) -> Result<Vec<String>, ToolError> {
    let pattern = relative(&request.pattern)?;
    let elsewhere = format!("**/{pattern}");
    let globs = NameGlobs::of_known(&[pattern.to_owned(), elsewhere], Letters::AnyCase);
    let options = options(pattern, Letters::AnyCase, request.ignored);
    let mut walk = TreeWalk::new(root, target, options, stop)?;
    let mut near = Vec::new();
    for _ in 0..MOST_NEAR_COMPARED {
        if walk.advance().is_none() || near.len() >= MOST_NEAR {
            break;
        }
        if globs.fit(walk.path_below()) {
            near.push(String::from_utf8_lossy(walk.path()).into_owned());
        }
    }
    walk.end()?;
    Ok(near)
}

/// The paths that are returned.
struct FindPage {
    order: FindOrder,
    skip: usize,
    most: usize,
    first: Vec<Vec<u8>>,
    /// By rank, the last on top, to go when there are too many; of the same rank, the last by path.
    ranked: BinaryHeap<(i128, Vec<u8>)>,
}

impl FindPage {
    fn of(request: &FindRequest) -> Self {
        let FindRequest { order, skip, paths: most, .. } = *request;
        Self { order, skip, most, first: Vec::new(), ranked: BinaryHeap::new() }
    }

    /// Takes what fits; so many came before it.
    fn take(&mut self, (walk, met): (&TreeWalk<'_>, Met), before: u64) {
        let stamp = || {
            let stat = walk.folder().and_then(|folder| stat_name(folder, walk.name()).ok());
            stat.map(|stat| crate::files::read::facts::stamp_of(&stat))
        };
        let rank = match self.order {
            FindOrder::Name => {
                if before >= self.skip as u64 && self.first.len() < self.most {
                    self.first.push(walk.path().to_vec());
                }
                return;
            }
            FindOrder::Newest => stamp().map_or(i128::MAX, |stamp| -stamp.modified_ns),
            FindOrder::Largest => stamp().map_or(i128::MAX, |stamp| -i128::from(stamp.size)),
            FindOrder::Shallow => met.depth as i128,
        };
        self.ranked.push((rank, walk.path().to_vec()));
        if self.ranked.len() > self.most.saturating_add(self.skip) {
            self.ranked.pop();
        }
    }

    fn into_paths(self, wanted: FileKind) -> Vec<String> {
        let ranked = self.ranked.into_sorted_vec().into_iter().map(|(_, path)| path).skip(self.skip);
        let shown = |path: Vec<u8>| {
            let path = String::from_utf8_lossy(&path).into_owned();
            if wanted == FileKind::Folder { format!("{path}/") } else { path }
        };
        self.first.into_iter().chain(ranked).map(shown).collect()
    }
}
