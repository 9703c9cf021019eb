//! Searches the content of files: one walk, several searchers, one order.
//!
//! Searchers take turns in asking the walk for the next few files, so they always hold the first files that are left. They
//! always search the first thousand files, and all that they reach within a second: most totals are exact. After that they
//! stop asking once enough matches are found, and finish the files they hold. The answer is the first matches in the order
//! of paths, whichever thread found them, and a lower bound of the total.
//!
//! Not here: what is matched (`pattern`), how one file is read (`file`) and decoded (`searchers`).

mod file;
mod pattern;
mod possible;
mod searchers;

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::{Extent, Target};
use haft_contract::files::search::{
    DotfilePolicy, LineKind, MatchedFile, SearchOutputMode, SearchRequest, SearchResult, SearchedSoFar, WalkCoverage,
    WalkOmissions,
};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use self::file::{FileSearchOutcome, FileSearcher};
use super::walk::{TreeWalk, WalkOptions};
use crate::files::read::folder::OpenFolder;
use crate::files::read::missing;
use crate::files::read::names::{Letters, NameGlobs};
use crate::files::read::open::{WorkspaceRoot, open_name};

/// How many files a searcher asks for in one step.
const BATCH: usize = 32;
/// How many batches are searched even when enough was found.
const COUNTED_BATCHES: u64 = 32;
/// For how long batches are searched even when enough was found.
const COUNTING: Duration = Duration::from_secs(1);
/// Most threads that search.
const MOST_THREADS: usize = 8;

/// Searches a file, or everything below a folder.
pub(in crate::files) fn search(
    root: &WorkspaceRoot,
    target: &Target,
    request: &SearchRequest,
    watch: &Watch,
) -> Result<SearchResult, ToolError> {
    let matcher = pattern::compiled(request)?;
    let include = NameGlobs::new(&request.include, ("include", Letters::Exact))?;
    let exclude = NameGlobs::new(&request.exclude, ("exclude", Letters::Exact))?;
    let searcher = FileSearcher::new(matcher, request, &watch.stop);
    if target.place().extent() == Extent::Entry {
        return search_file(root, target, searcher, watch);
    }
    let asks_for_dot = request.include.iter().any(|glob| glob.starts_with('.') || glob.contains("/."));
    let hidden = if asks_for_dot { DotfilePolicy::Show } else { DotfilePolicy::Skip };
    let (ignored, wanted) = (request.ignored, include.clone());
    let usual_excludes = NameGlobs::of_known(&request.usual_excludes, Letters::Exact);
    let depth = usize::MAX;
    let options = WalkOptions { depth, hidden, ignored, exclude, usual_excludes, only: Vec::new(), wanted };
    let walk = TreeWalk::new(root, target, options, &watch.stop)?;
    let hunt = Hunt {
        request,
        include,
        watch,
        turn: Mutex::new(SearchWalk {
            walk,
            batches: 0,
            counts_until: Instant::now() + watch.counting,
            is_counted: false,
        }),
        gathered: Mutex::new(SearchAccumulator::default()),
    };
    hunt.all(searcher)
}

/// Searches one file that was named: whatever ignores or hides it, it is wanted.
fn search_file(
    root: &WorkspaceRoot,
    target: &Target,
    mut searcher: FileSearcher<'_>,
    watch: &Watch,
) -> Result<SearchResult, ToolError> {
    let opened = match root.open_target(target, OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let request = searcher.request();
    let mut gathered = SearchAccumulator::default();
    let mut haul = Haul::default();
    match searcher.search(&opened) {
        FileSearchOutcome::Special => return Err(crate::files::read::facts::special(&target.to_string())),
        answer => haul.note(answer, || target.to_string(), (watch, request)),
    }
    gathered.count(&haul);
    gathered.take(0, haul);
    stopped(watch)?;
    Ok(gathered.into_searched(request, watch))
}

/// What can be seen of a search while it runs, and the signal that ends it.
pub(in crate::files) struct Watch {
    stop: CancellationToken,
    /// For how long matches are counted after enough were found.
    counting: Duration,
    files: AtomicU64,
    matches: AtomicU64,
    matched_files: AtomicU64,
}

impl Watch {
    pub(in crate::files) fn new(stop: CancellationToken) -> Self {
        let [files, matches, matched_files] = [0; 3].map(AtomicU64::new);
        Self { stop, counting: COUNTING, files, matches, matched_files }
    }

    /// Returns how far the search has come.
    pub(in crate::files) fn so_far(&self) -> SearchedSoFar {
        SearchedSoFar { files: self.files.load(Ordering::Relaxed), matches: self.matches.load(Ordering::Relaxed) }
    }

    /// Returns whether more was found than is passed over and returned.
    fn has_enough(&self, request: &SearchRequest) -> bool {
        match request.wanted {
            SearchOutputMode::Lines => self.matches.load(Ordering::Relaxed) > through(request),
            SearchOutputMode::Files => self.matched_files.load(Ordering::Relaxed) > through(request),
            SearchOutputMode::Counts => false,
        }
    }
}

/// How many matches, or files, there are up to the last that is returned.
fn through(request: &SearchRequest) -> u64 {
    request.skip.saturating_add(request.most) as u64
}

/// A search over a tree, shared by its searchers.
struct Hunt<'a> {
    request: &'a SearchRequest,
    include: NameGlobs,
    watch: &'a Watch,
    turn: Mutex<SearchWalk<'a>>,
    gathered: Mutex<SearchAccumulator>,
}

/// The walk that all searchers share, and the number of batches taken from it.
struct SearchWalk<'a> {
    walk: TreeWalk<'a>,
    batches: u64,
    counts_until: Instant,
    /// Whether the batches that are searched in any case are all there are.
    is_counted: bool,
}

/// The next few files of the walk.
#[derive(Default)]
struct Batch {
    number: u64,
    /// Whether its matches count even when enough was found.
    is_counted: bool,
    files: Vec<BatchFile>,
    paths: Vec<u8>,
}

struct BatchFile {
    folder: OpenFolder,
    path: Range<usize>,
    /// Where in the path the name begins.
    name: usize,
}

impl Hunt<'_> {
    fn all(self, searcher: FileSearcher<'_>) -> Result<SearchResult, ToolError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let mut batch = Batch::default();
        std::thread::scope(|scope| {
            // A tree of one batch is done before a second thread has begun.
            if self.next_batch(&mut batch) && batch.files.len() == BATCH {
                for _ in 1..threads {
                    let searcher = searcher.fresh();
                    // Where the system gives no more threads, those there are do the work.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, || self.work(searcher, Batch::default()));
                }
            }
            self.work(searcher, batch);
        });
        stopped(self.watch)?;
        let turn = self.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut gathered = self.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        gathered.left_out.add(turn.walk.end()?);
        gathered.cut |= !turn.is_counted;
        Ok(gathered.into_searched(self.request, self.watch))
    }

    fn work(&self, mut searcher: FileSearcher<'_>, mut batch: Batch) {
        while !batch.files.is_empty() || self.next_batch(&mut batch) {
            let mut haul = Haul::default();
            for file in &batch.files {
                if self.watch.stop.is_cancelled() || (!batch.is_counted && haul.has_enough(self.request)) {
                    break;
                }
                let path = || String::from_utf8_lossy(&batch.paths[file.path.clone()]).into_owned();
                let answer = match open_name(&file.folder, &batch.paths[file.name..file.path.end], OFlags::RDONLY) {
                    Ok(opened) => searcher.search(&opened),
                    // It is gone, or something else has taken its place, since the walk met it.
                    Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => continue,
                    Err(_) => FileSearchOutcome::Unreadable,
                };
                haul.note(answer, path, (self.watch, self.request));
            }
            let mut gathered = lock(&self.gathered);
            if batch.is_counted {
                gathered.count(&haul);
            }
            gathered.take(batch.number, haul);
            gathered.forget_beyond(self.request.skip.saturating_add(self.request.most));
            drop(gathered);
            batch.files.clear();
        }
    }

    /// Takes a turn at the walk; returns whether there is anything left to search.
    fn next_batch(&self, batch: &mut Batch) -> bool {
        batch.files.clear();
        batch.paths.clear();
        let mut turn = lock(&self.turn);
        let is_counted = turn.batches < COUNTED_BATCHES || Instant::now() < turn.counts_until;
        if !is_counted && self.watch.has_enough(self.request) {
            return false;
        }
        batch.is_counted = is_counted;
        let SearchWalk { walk, is_counted: is_all_counted, .. } = &mut *turn;
        while batch.files.len() < BATCH {
            let Some(met) = walk.advance() else {
                *is_all_counted |= is_counted;
                break;
            };
            if met.kind != FileKind::File || !(self.include.is_empty() || self.include.fit(walk.path_below())) {
                continue;
            }
            if is_secret(Path::new(OsStr::from_bytes(walk.path()))) {
                let path = String::from_utf8_lossy(walk.path()).into_owned();
                walk.left_out().secret.note(|| path);
                continue;
            }
            let Some(folder) = walk.folder() else { break };
            let start = batch.paths.len();
            batch.paths.extend_from_slice(walk.path());
            let path = start..batch.paths.len();
            batch.files.push(BatchFile { folder: folder.clone(), name: path.end - walk.name().len(), path });
        }
        if batch.files.is_empty() {
            return false;
        }
        batch.number = turn.batches;
        turn.batches += 1;
        true
    }
}

/// What came of the files of one batch.
#[derive(Default)]
struct Haul {
    found: Vec<MatchedFile>,
    left_out: WalkOmissions,
    /// Whether a file has more matches than were counted.
    cut: bool,
}

impl Haul {
    fn matches(&self) -> u64 {
        self.found.iter().map(|file| file.matches).sum()
    }

    /// Returns whether what stands behind cannot be among the first matches.
    fn has_enough(&self, request: &SearchRequest) -> bool {
        request.wanted == SearchOutputMode::Lines && self.matches() > through(request)
    }

    /// Notes what came of a file.
    fn note(
        &mut self,
        answer: FileSearchOutcome,
        path: impl FnOnce() -> String,
        (watch, request): (&Watch, &SearchRequest),
    ) {
        match answer {
            FileSearchOutcome::Searched(mut matched) => {
                if self.has_enough(request) {
                    matched.lines = Vec::new();
                }
                watch.files.fetch_add(1, Ordering::Relaxed);
                if matched.matches > 0 {
                    watch.matches.fetch_add(matched.matches, Ordering::Relaxed);
                    watch.matched_files.fetch_add(1, Ordering::Relaxed);
                    self.found.push(MatchedFile { path: path(), matches: matched.matches, lines: matched.lines });
                }
                self.cut |= matched.cut;
            }
            FileSearchOutcome::Binary => self.left_out.binary.note(path),
            FileSearchOutcome::TooLong => self.left_out.too_long.note(path),
            FileSearchOutcome::Unreadable => self.left_out.unreadable.note(path),
            FileSearchOutcome::Special | FileSearchOutcome::Stopped => {}
        }
    }
}

/// Collects the results of the searchers by the number of their batch.
#[derive(Default)]
struct SearchAccumulator {
    batches: Vec<(u64, Vec<MatchedFile>)>,
    left_out: WalkOmissions,
    /// Matches and files with matches of the batches that are searched in any case.
    counted: (u64, u64),
    cut: bool,
}

impl SearchAccumulator {
    fn count(&mut self, haul: &Haul) {
        self.counted.0 += haul.matches();
        self.counted.1 += haul.found.len() as u64;
    }

    fn take(&mut self, batch: u64, haul: Haul) {
        if !haul.found.is_empty() {
            self.batches.push((batch, haul.found));
        }
        self.left_out.add(haul.left_out);
        self.cut |= haul.cut;
    }

    /// Forgets what cannot be among the first files any more, now and then.
    fn forget_beyond(&mut self, most: usize) {
        if self.batches.len() < most.saturating_mul(2).saturating_add(1_000) {
            return;
        }
        // Every batch that is kept here has a match, so this many hold enough files.
        self.batches.sort_unstable_by_key(|(number, _)| *number);
        self.batches.truncate(most);
    }

    fn into_searched(mut self, request: &SearchRequest, watch: &Watch) -> SearchResult {
        self.batches.sort_unstable_by_key(|(number, _)| *number);
        let mut files = Vec::new();
        let mut skip = request.skip as u64;
        let mut room = request.most as u64;
        for mut file in self.batches.into_iter().flat_map(|(_, files)| files) {
            let here = if request.wanted == SearchOutputMode::Lines { file.matches } else { 1 };
            if here <= skip {
                skip -= here;
                continue;
            }
            let passed = std::mem::take(&mut skip);
            let taken = (here - passed).min(room);
            if request.wanted == SearchOutputMode::Lines {
                keep_matches(&mut file, request, passed, taken);
            }
            room -= taken;
            files.push(file);
            if room == 0 {
                break;
            }
        }
        let mut searched = SearchResult {
            files,
            matches: watch.matches.load(Ordering::Relaxed),
            matched_files: watch.matched_files.load(Ordering::Relaxed),
            searched: watch.files.load(Ordering::Relaxed),
            reach: WalkCoverage::Whole,
            left_out: self.left_out,
        };
        if watch.has_enough(request) && self.cut {
            searched.reach = WalkCoverage::StoppedEarly;
            // Searchers may have come further by chance; that says nothing that would be the same the next time.
            let at_least = through(request) + 1;
            (searched.matches, searched.matched_files) = match request.wanted {
                SearchOutputMode::Lines => (self.counted.0.max(at_least), self.counted.1),
                SearchOutputMode::Files | SearchOutputMode::Counts => (self.counted.0, self.counted.1.max(at_least)),
            };
        }
        searched
    }
}

/// Keeps so many matches of a file behind those that are passed over, with their context.
fn keep_matches(file: &mut MatchedFile, request: &SearchRequest, skip: u64, most: u64) {
    let (before, after) = (request.before as u64, request.after as u64);
    let begins: Vec<usize> = file
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.kind == LineKind::Match)
        .map(|(index, _)| index)
        .collect();
    let place = |number: u64| usize::try_from(number).ok().and_then(|number| begins.get(number).copied());
    if let Some(behind) = place(skip.saturating_add(most)) {
        file.lines.truncate(behind);
        // What stands before the next match is context of that one, not of the last.
        let last = file.lines.iter().rev().find(|line| line.kind != LineKind::Context).map_or(0, |line| line.number);
        file.lines.retain(|line| line.number <= last.saturating_add(after));
    }
    if let Some(first) = place(skip).filter(|_| skip > 0) {
        let number = file.lines[first].number;
        let begin = file.lines[..first].iter().rposition(|line| line.kind != LineKind::Context).map_or(0, |at| at + 1);
        file.lines.drain(..begin);
        file.lines.retain(|line| line.number.saturating_add(before) >= number);
    }
    file.matches = most;
}

fn stopped(watch: &Watch) -> Result<(), ToolError> {
    if watch.stop.is_cancelled() {
        return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped while searching."));
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use haft_contract::files::path::FileLocation;
    use haft_contract::files::search::{Case, IgnorePolicy, Span, Syntax};

    use super::*;

    #[test]
    fn without_time_to_count_the_total_is_a_lower_bound() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for number in 0..1_300 {
            std::fs::write(folder.path().join(format!("{number:04}")), "hit\n").expect("there is room");
        }
        let root = WorkspaceRoot::open(folder.path()).expect("it is there");
        let request = SearchRequest {
            pattern: "hit".into(),
            syntax: Syntax::Literal,
            case: Case::Sensitive,
            span: Span::Line,
            include: Vec::new(),
            exclude: Vec::new(),
            usual_excludes: Vec::new(),
            before: 0,
            after: 0,
            wanted: SearchOutputMode::Lines,
            ignored: IgnorePolicy::Skip,
            skip: 0,
            most: 5,
            line_length: 100,
        };
        let searched = |counting| {
            let watch = Watch { counting, ..Watch::new(CancellationToken::new()) };
            let found = search(&root, &Target::Inside(FileLocation::new("", Extent::Tree)), &request, &watch);
            found.map(|found| (found.reach, found.matches)).expect("it can be searched")
        };
        assert_eq!(searched(Duration::ZERO), (WalkCoverage::StoppedEarly, COUNTED_BATCHES * BATCH as u64));
        assert_eq!(searched(Duration::MAX / 4), (WalkCoverage::Whole, 1_300));
    }
}
