//! Finds out who wrote each line of a file, from the journal.
//!
//! It finds the change sets of the file from the end of the journal, across renames, back to the one that created the file.
//! Then it follows the versions forwards, and each line keeps the change set that wrote it. A line that an undo restores
//! belongs to its first author: an undo takes a second version as its parent, the one before the undone change. If a version
//! is not the one that the last change set left, the file was changed without haft.
//!
//! Not here: reading the journal (`state::journal`), what single change sets did (`contents`).

mod trail;
mod version;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use haft_contract::files::path::Target;
use haft_contract::text::encoding::decode;
use haft_contract::text::lines::LineBreak;

use super::contents::Contents;
use super::sets::Sets;
use super::{ChangeSet, FEW, HistoryError, ReadExtent, WorkspaceHistory};
use crate::state::journal::{ContentHash, Inline, Intent, IntentStep, PathState};
use trail::{Trail, moved};
use version::BlamedVersion;

/// Who wrote the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The lines, in their order.
    pub lines: Vec<BlamedLine>,
    /// The change sets that wrote some of them, by their numbers.
    pub sets: BTreeMap<u64, ChangeSet>,
    /// What cannot be known, a sentence each.
    pub warnings: Vec<String>,
}

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// Its text, without its end.
    pub text: String,
    /// Who wrote it.
    pub origin: LineOrigin,
}

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// A change set.
    ChangeSet(u64),
    /// It was there before the first change that the journal knows.
    BeforeJournal,
    /// It was written without haft, after this change set had changed the file.
    Outside {
        /// The change set.
        after: u64,
    },
}

impl WorkspaceHistory {
    /// Returns who wrote each line of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file is none, is not text or is too large, or if the journal cannot be read.
    pub fn blame(&self, target: &Target) -> Result<Blame, HistoryError> {
        let path = target.place().path();
        // First recover after a killed process: otherwise the last change may not have happened.
        self.settled(ReadExtent::Newest(1)).or_else(|_| self.read(ReadExtent::Newest(1)))?;
        // Most lines of a file that is changed often were written lately.
        for few in FEW {
            let mut trail = Trail::to(path, few);
            let blame = self.blame_along(path, &mut trail)?;
            let is_before = |line: &BlamedLine| line.origin == LineOrigin::BeforeJournal;
            if trail.is_closed() && !blame.lines.iter().any(is_before) {
                return Ok(blame);
            }
        }
        self.blame_along(path, &mut Trail::to(path, usize::MAX))
    }

    /// Returns who wrote each line, as far as the trail leads.
    fn blame_along(&self, path: &Path, trail: &mut Trail) -> Result<Blame, HistoryError> {
        let sets = Sets::of(self.journal.read_chosen(trail)?);
        let contents = Contents::new(&sets, &self.root, &self.journal);
        let no_lines = |why| HistoryError::NoLines { path: path.display().to_string(), why };
        let now = contents.now(path).ok_or_else(|| no_lines("is no file, or is too large"))?;
        let now = decode(&now).map_err(|_| no_lines("is not text"))?.text.into_owned();
        let mut walk = VersionTracker::new(&contents, trail);
        for (intent, inline) in &sets.reading.intents {
            walk.follow(intent, *inline);
        }
        let version = walk.ends_at(path, &now);
        let texts = texts(&now);
        let lines = texts.into_iter().zip(&version.origins).map(|(text, origin)| BlamedLine { text, origin: *origin });
        let lines: Vec<BlamedLine> = lines.collect();
        let numbers = lines.iter().filter_map(|line| match line.origin {
            LineOrigin::ChangeSet(number) => Some(number),
            LineOrigin::BeforeJournal | LineOrigin::Outside { .. } => None,
        });
        let numbers: HashSet<u64> = numbers.collect();
        let named = numbers.into_iter().filter_map(|number| Some((number, sets.shown_set(number)?)));
        let mut warnings = trail.warnings();
        if !sets.reading.damaged.is_empty() {
            warnings
                .push("The journal is damaged; lines that lost records wrote count as written without haft.".into());
        }
        Ok(Blame { lines, sets: named.collect(), warnings })
    }
}

/// Returns the lines of a text, without their ends.
fn texts(text: &str) -> Vec<String> {
    let lines = LineBreak::of(&[text.as_bytes()]).split(text.as_bytes());
    let line = |line: &[u8]| String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
    lines.into_iter().map(line).collect()
}

/// A step that changed a file on the trail.
struct TrailStep<'a> {
    intent: &'a Intent,
    inline: Inline,
    path: &'a Path,
    before: &'a PathState,
    after: &'a PathState,
}

/// Follows the versions of a file forwards.
struct VersionTracker<'a> {
    contents: &'a Contents<'a>,
    trail: &'a Trail,
    /// The versions that files on the trail have now.
    now: HashMap<PathBuf, Rc<BlamedVersion>>,
    /// Those that undos may return to, by their contents.
    earlier: HashMap<ContentHash, Rc<BlamedVersion>>,
    /// The last change set at each path.
    last: HashMap<PathBuf, u64>,
}

impl<'a> VersionTracker<'a> {
    fn new(contents: &'a Contents<'a>, trail: &'a Trail) -> Self {
        Self { contents, trail, now: HashMap::new(), earlier: HashMap::new(), last: HashMap::new() }
    }

    /// Takes one intent.
    fn follow(&mut self, intent: &Intent, inline: Inline) {
        // What was removed may be the beginning of what is created, in either order.
        let mut removed: HashMap<PathBuf, Rc<BlamedVersion>> = HashMap::new();
        for step in &intent.steps {
            match step {
                IntentStep::Change { path, before, after, .. } if self.trail.leads_by(path.as_path()) => {
                    let path = path.path();
                    let was = self.brought_to(&path, before, inline);
                    let change = TrailStep { intent, inline, path: &path, before, after };
                    let is = self.version_after(&change, was.as_ref(), &removed);
                    removed.extend(was.filter(|_| *after == PathState::Absent).map(|was| (path.clone(), was)));
                    match is {
                        Some(is) => _ = self.now.insert(path.clone(), is),
                        None => _ = self.now.remove(&path),
                    }
                    self.last.insert(path, intent.set);
                }
                IntentStep::Move { from, to } => self.move_all(intent.set, &from.path(), &to.path()),
                IntentStep::Change { .. } | IntentStep::Tree { .. } => {}
            }
        }
    }

    fn move_all(&mut self, set: u64, from: &Path, to: &Path) {
        let paths: Vec<PathBuf> = self.trail.paths().filter(|path| path.starts_with(from)).cloned().collect();
        for path in paths {
            let Some(there) = moved(&path, from, to) else { continue };
            if let Some(version) = self.now.remove(&path) {
                self.now.insert(there.clone(), version);
            }
            self.last.extend([(path, set), (there, set)]);
        }
    }

    /// Returns the version at a path before a step; what differs from the last one that is known was written without haft.
    fn brought_to(&mut self, path: &Path, before: &PathState, inline: Inline) -> Option<Rc<BlamedVersion>> {
        let PathState::File { hash, .. } = before else { return None };
        let known = self.now.get(path).cloned();
        let version = match known {
            Some(known) if known.hash == Some(*hash) => known,
            known => {
                let bytes = self.contents.bytes(before, &PathState::Absent, inline);
                let Some(text) = bytes.as_deref().and_then(|bytes| decode(bytes).ok()) else { return known };
                let origin = self.outside(path);
                Rc::new(BlamedVersion::of(&text.text, Some(*hash), known.as_slice(), origin))
            }
        };
        if self.trail.is_returned_to(hash) {
            self.earlier.insert(*hash, Rc::clone(&version));
        }
        Some(version)
    }

    /// Returns the version that a step leaves.
    fn version_after(
        &mut self,
        change: &TrailStep<'_>,
        was: Option<&Rc<BlamedVersion>>,
        removed: &HashMap<PathBuf, Rc<BlamedVersion>>,
    ) -> Option<Rc<BlamedVersion>> {
        let TrailStep { intent, inline, path, before, after } = *change;
        let PathState::File { hash, .. } = after else { return None };
        if let Some(same) = was.filter(|was| was.hash == Some(*hash)) {
            return Some(Rc::clone(same));
        }
        let takes_back = intent.takes_back.as_ref();
        // An undo restores the old lines, with their authors.
        if let Some(earlier) = self.earlier.get(hash).filter(|_| takes_back.is_some()) {
            return Some(Rc::clone(earlier));
        }
        let bytes = self.contents.bytes(after, before, inline).or_else(|| self.contents.now(path));
        let bytes = bytes.filter(|bytes| ContentHash::of(bytes) == *hash)?;
        let text = decode(&bytes).ok()?.text.into_owned();
        let mut parents: Vec<Rc<BlamedVersion>> = was.cloned().into_iter().collect();
        for set in takes_back.iter().flat_map(|back| &back.sets) {
            parents.extend(self.before_set(*set, path));
        }
        let origin = LineOrigin::ChangeSet(intent.set);
        if let (None, None, Some(source)) = (was, takes_back, trail::source_of(intent, path)) {
            let source = removed.get(&source).cloned().or_else(|| self.at_start(intent, inline, &source));
            let renamed = source.map(|source| BlamedVersion::of(&text, Some(*hash), &[source], origin));
            if let Some(renamed) = renamed.filter(|renamed| renamed.is_much_from_elsewhere(origin)) {
                return Some(Rc::new(renamed));
            }
        }
        Some(Rc::new(BlamedVersion::of(&text, Some(*hash), &parents, origin)))
    }

    /// Returns the version that a path had before a change set.
    fn before_set(&self, set: u64, path: &Path) -> Option<Rc<BlamedVersion>> {
        let steps = self.contents.sets.intents_of(set).flat_map(|(intent, _)| &intent.steps);
        let before = steps.into_iter().find_map(|step| match step {
            IntentStep::Change { path: changed, before: PathState::File { hash, .. }, .. }
                if changed.as_path() == path =>
            {
                Some(hash)
            }
            _ => None,
        });
        self.earlier.get(before?).cloned()
    }

    /// Returns the version that a path had before an intent, where a later step of that intent removes it.
    fn at_start(&mut self, intent: &Intent, inline: Inline, source: &Path) -> Option<Rc<BlamedVersion>> {
        let before = intent.steps.iter().find_map(|step| match step {
            IntentStep::Change { path, before, .. } if path.as_path() == source => Some(before),
            _ => None,
        });
        self.brought_to(source, before?, inline)
    }

    /// Returns the version at the end.
    fn ends_at(&self, path: &Path, now: &str) -> BlamedVersion {
        let known: Vec<Rc<BlamedVersion>> = self.now.get(path).cloned().into_iter().collect();
        BlamedVersion::of(now, None, &known, self.outside(path))
    }

    fn outside(&self, path: &Path) -> LineOrigin {
        self.last.get(path).map_or(LineOrigin::BeforeJournal, |after| LineOrigin::Outside { after: *after })
    }
}
