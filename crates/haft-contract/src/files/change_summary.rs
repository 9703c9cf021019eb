//! Summarizes changes of many files: how many of each kind, and the paths that matter most.
//!
//! A reader looks for removed files before new ones, and for their own files before generated ones. A tree that programs
//! make (`target`, `node_modules`, `__pycache__`) is one entry. A folder that was removed or made with everything in it is
//! one entry too. Files inside `.git` are counted, not named. Results, `haft log` and `haft diff` all use this order.
//!
//! Not here: fitting it into the columns of a terminal (`haft-cli`).

use std::collections::BTreeMap;
use std::path::Path;

use super::path::one_line;
use crate::effect::Change;
use crate::text::grouped::GroupedNumber;

/// Folders whose content programs make.
const GENERATED_FOLDERS: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "coverage",
    "venv",
    ".venv",
    "__pycache__",
    ".cache",
    ".next",
    ".gradle",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".parcel-cache",
    ".turbo",
];
/// Those of them that lie in many folders and are told together.
const SCATTERED_FOLDERS: &[&str] = &["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/// Those of them that only save work the next time. To fill one is told in a word; to remove one is named.
const CACHE_FOLDERS: &[&str] =
    &["__pycache__", ".cache", ".gradle", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".parcel-cache", ".turbo"];
/// How files end that programs make.
const GENERATED_ENDS: &[&str] =
    &[".lock", "-lock.json", "-lock.yaml", ".min.js", ".map", ".pyc", ".o", ".class", ".log"];
/// A new folder with more in it than this is one entry.
const FEW: usize = 3;

/// A path that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// Whether it is a folder, or was one where it is gone.
    pub is_folder: bool,
    /// Whether something of another kind has taken its place, such as a file that of a folder.
    pub is_replaced: bool,
    /// How many files in it were created, replaced and removed, where it is told as a whole.
    pub inside: Option<[u64; 3]>,
    /// Where it was, if it was moved as a whole.
    pub from: Option<String>,
}

/// How many paths each kind of change concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// Those that are gone.
    pub removed: u64,
    /// Those in whose place something of another kind is.
    pub replaced: u64,
    /// Those that have another content.
    pub changed: u64,
    /// New ones.
    pub created: u64,
}

/// What happened to an entry, in the order in which it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// It is gone.
    Removed,
    /// Something of another kind is in its place.
    Replaced,
    /// It has another name.
    Moved,
    /// It has another content.
    Changed,
    /// It is new.
    Created,
}

/// One path, or one folder that stands for everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryEntry {
    /// What happened to it.
    pub kind: EntryKind,
    /// Its path, in one line; of a folder that stands for what is in it with a slash at the end.
    pub name: String,
    /// The files that it stands for, where it is a folder.
    pub inside: Option<FolderChange>,
    is_generated: bool,
    /// Whether it is a cache of which nothing was removed.
    is_cache: bool,
}

/// The change to the files in a folder that stands for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderChange {
    /// The same as to the folder, with so many of them.
    Whole(u64),
    /// So many are new or gone, in a folder that was there and stays.
    Some(u64),
    /// Various things.
    Mixed(KindCounts),
}

/// What was done to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSummary {
    /// How many there are of each kind, all files counted.
    pub counts: KindCounts,
    /// The entries that matter most first.
    pub entries: Vec<SummaryEntry>,
    /// The files inside `.git` that were changed beside them; a repository that is gone is an entry.
    pub in_git: KindCounts,
}

impl KindCounts {
    fn add(&mut self, path: &ChangedPath) {
        if let Some([created, changed, removed]) = path.inside {
            self.created += created;
            self.changed += changed;
            self.removed += removed;
            return;
        }
        match kind(path) {
            EntryKind::Removed => self.removed += 1,
            EntryKind::Replaced => self.replaced += 1,
            EntryKind::Changed | EntryKind::Moved => self.changed += 1,
            EntryKind::Created => self.created += 1,
        }
    }

    fn of_tree([created, changed, removed]: [u64; 3]) -> Self {
        Self { created, changed, removed, replaced: 0 }
    }

    /// Returns these and those together.
    pub fn and(self, other: Self) -> Self {
        Self {
            removed: self.removed + other.removed,
            replaced: self.replaced + other.replaced,
            changed: self.changed + other.changed,
            created: self.created + other.created,
        }
    }

    /// Returns how many there are of all kinds.
    pub fn total(self) -> u64 {
        self.removed + self.replaced + self.changed + self.created
    }

    /// Returns the one kind that occurs; changed where several do.
    fn kind(self) -> EntryKind {
        match (self.removed, self.replaced, self.changed, self.created) {
            (_, 0, 0, 0) => EntryKind::Removed,
            (0, 0, 0, _) => EntryKind::Created,
            _ => EntryKind::Changed,
        }
    }

    /// Returns what is told of a folder and the files in it, to which this was done.
    fn told_of(self, folder: EntryKind) -> (EntryKind, Option<FolderChange>) {
        match (self.total(), self.kind(), folder) {
            (0, ..) => (folder, None),
            (all, _, EntryKind::Removed | EntryKind::Replaced | EntryKind::Moved) => {
                (folder, Some(FolderChange::Whole(all)))
            }
            (all, EntryKind::Changed, _) if all == self.changed => (EntryKind::Changed, Some(FolderChange::Whole(all))),
            (_, EntryKind::Changed, _) => (EntryKind::Changed, Some(FolderChange::Mixed(self))),
            (all, kind, _) if kind == folder => (kind, Some(FolderChange::Whole(all))),
            (all, kind, _) => (kind, Some(FolderChange::Some(all))),
        }
    }

    /// Returns the kinds that occur, with their names.
    pub fn in_words(self) -> String {
        let all = [
            ("removed", self.removed),
            ("replaced", self.replaced),
            ("changed", self.changed),
            ("created", self.created),
        ];
        let some = all.iter().filter(|(_, count)| *count > 0);
        some.map(|(word, count)| format!("{} {word}", GroupedNumber(*count))).collect::<Vec<_>>().join(", ")
    }
}

impl ChangeSummary {
    /// Sums up what was done to these paths.
    pub fn of(paths: &[ChangedPath]) -> Self {
        let mut summary = Self::default();
        let mut generated: BTreeMap<GeneratedTree, Vec<&ChangedPath>> = BTreeMap::new();
        let mut others: Vec<&ChangedPath> = Vec::new();
        for path in paths {
            summary.counts.add(path);
            match generated_tree(path) {
                _ if is_in_git(&path.path) => summary.add_git(path),
                Some(tree) => generated.entry(tree).or_default().push(path),
                None => others.push(path),
            }
        }
        summary.entries.extend(generated.iter().map(|(tree, paths)| tree.entry(paths)));
        others.sort_by(|one, other| Path::new(&one.path).cmp(Path::new(&other.path)));
        summary.add_sources(&others);
        summary.join_removed_git();
        summary.entries.sort_by(|one, other| one.rank().cmp(&other.rank()));
        summary
    }

    /// Says it in one sentence that names at most so many entries. Counts are told where not all are named.
    pub fn sentence(&self, most: usize) -> String {
        let (caches, named): (Vec<&SummaryEntry>, Vec<&SummaryEntry>) =
            self.entries.iter().partition(|entry| entry.is_filled_cache());
        let shown = &named[..named.len().min(most)];
        let more = named.len() - shown.len();
        let mut groups: Vec<String> = Vec::new();
        for group in shown.chunk_by(|one, next| one.kind == next.kind) {
            let names: Vec<String> = group.iter().map(|entry| entry.in_words()).collect();
            groups.push(format!("{} {}", group[0].kind.word(), names.join(", ")));
        }
        if more > 0 {
            groups.push(format!("and {} more", GroupedNumber(more as u64)));
        }
        if let (kind, Some(inside)) = self.in_git.told_of(EntryKind::Changed) {
            groups.push(format!("{} {}", kind.word(), inside.in_words(".git/")));
        }
        if !caches.is_empty() {
            groups.push(if groups.is_empty() { "changed caches" } else { "and caches" }.to_owned());
        }
        let named = groups.join("; ");
        if more > 0 { format!("{}: {named}", self.counts.in_words()) } else { named }
    }

    /// Files of git are counted; a repository that is gone is named.
    fn add_git(&mut self, path: &ChangedPath) {
        if !path.is_folder {
            self.in_git.add(path);
        }
        if let (EntryKind::Removed, Some(folder)) = (kind(path), path.path.strip_suffix("/HEAD"))
            && folder.ends_with(".git")
        {
            let name = format!("{}/", one_line(folder));
            let (kind, is_generated, is_cache) = (EntryKind::Removed, false, false);
            self.entries.push(SummaryEntry { kind, name, inside: None, is_generated, is_cache });
        }
    }

    /// Where one repository is gone and nothing else of git was changed, its files are told with it.
    fn join_removed_git(&mut self) {
        let mut gone = self.entries.iter_mut().filter(|entry| entry.name.ends_with(".git/"));
        if let (Some(entry), None) = (gone.next(), gone.next())
            && self.in_git.kind() == EntryKind::Removed
        {
            entry.inside = Some(FolderChange::Whole(std::mem::take(&mut self.in_git).total()));
        }
    }

    /// Adds paths in their order; a folder that was removed or made with everything in it is one entry.
    fn add_sources(&mut self, paths: &[&ChangedPath]) {
        let mut index = 0;
        while let Some(path) = paths.get(index) {
            let inside = paths[index + 1..].iter().take_while(|other| is_within(other, path)).count();
            let is_whole = path.is_folder
                && match path.change {
                    Change::Remove => true,
                    Change::Create => inside > FEW,
                    Change::Replace => false,
                };
            index += 1 + if is_whole { inside } else { 0 };
            let counts = path.inside.map(KindCounts::of_tree);
            if counts.is_none() && !is_whole && path.is_folder && inside > 0 {
                continue;
            }
            let slash = if counts.is_some() || is_whole { "/" } else { "" };
            let from = path.from.as_ref().map(|from| format!("{} to ", one_line(from))).unwrap_or_default();
            let of_path = kind(path);
            let (kind, inside) = match counts {
                Some(counts) => counts.told_of(of_path),
                None => (of_path, (is_whole && inside > 0).then_some(FolderChange::Whole(inside as u64))),
            };
            self.entries.push(SummaryEntry {
                kind,
                name: format!("{from}{}{slash}", one_line(&path.path)),
                inside,
                is_generated: GENERATED_ENDS.iter().any(|end| path.path.ends_with(end)),
                is_cache: false,
            });
        }
    }
}

impl SummaryEntry {
    /// Whether it stays, whether it is generated, the kind of change, and the name.
    fn rank(&self) -> (bool, bool, EntryKind, &str) {
        (self.kind > EntryKind::Replaced, self.is_generated, self.kind, &self.name)
    }

    /// Returns whether it is a cache into which something was written, and nothing more.
    fn is_filled_cache(&self) -> bool {
        self.is_cache && self.kind >= EntryKind::Changed
    }

    fn in_words(&self) -> String {
        self.inside.map_or_else(|| self.name.clone(), |inside| inside.in_words(&self.name))
    }
}

impl FolderChange {
    fn in_words(self, name: &str) -> String {
        match self {
            Self::Whole(files) => format!("{name} ({})", GroupedNumber(files).of("file")),
            Self::Some(files) => format!("{} in {name}", GroupedNumber(files).of("file")),
            Self::Mixed(counts) => format!("{name} ({})", counts.in_words()),
        }
    }
}

impl EntryKind {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Replaced => "replaced",
            Self::Moved => "moved",
            Self::Changed => "changed",
            Self::Created => "created",
        }
    }
}

/// How much a path matters among others: whether it is in `.git`, stays, or is generated; then the kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Importance(bool, bool, bool, EntryKind);

impl Importance {
    /// Returns it for a path; the least comes first.
    pub fn of(path: &ChangedPath) -> Self {
        let kind = kind(path);
        let is_generated = generated_tree(path).is_some() || GENERATED_ENDS.iter().any(|end| path.path.ends_with(end));
        Self(is_in_git(&path.path), kind > EntryKind::Replaced, is_generated, kind)
    }
}

fn kind(path: &ChangedPath) -> EntryKind {
    match path.change {
        Change::Remove => EntryKind::Removed,
        _ if path.is_replaced => EntryKind::Replaced,
        _ if path.from.is_some() => EntryKind::Moved,
        Change::Replace => EntryKind::Changed,
        Change::Create => EntryKind::Created,
    }
}

/// Returns whether a path is in a folder, and the same was done to both.
fn is_within(path: &ChangedPath, folder: &ChangedPath) -> bool {
    let below = path.path.strip_prefix(&folder.path).is_some_and(|rest| rest.starts_with('/'));
    below && folder.is_folder && path.change == folder.change
}

fn is_in_git(path: &str) -> bool {
    Path::new(path).iter().any(|part| part == ".git")
}

/// Returns whether a change only writes into trees that programs generate, as a test that fills its cache does. To remove or
/// to move such a tree is more than that.
pub fn only_writes_generated(paths: &[ChangedPath]) -> bool {
    let is_written = |path: &ChangedPath| generated_tree(path).is_some() && kind(path) >= EntryKind::Changed;
    !paths.is_empty() && paths.iter().all(is_written)
}

/// A tree that programs generate.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GeneratedTree {
    name: String,
    /// Whether there are many of its name.
    is_scattered: bool,
}

/// Returns the outermost generated tree that a path belongs to.
fn generated_tree(path: &ChangedPath) -> Option<GeneratedTree> {
    let parts: Vec<&str> = path.path.split('/').collect();
    let at = parts.iter().position(|part| GENERATED_FOLDERS.contains(part))?;
    // A file of that name is no tree, and what was moved is told by both its names.
    if path.from.is_some() || at + 1 == parts.len() && !path.is_folder && path.inside.is_none() {
        return None;
    }
    let is_scattered = SCATTERED_FOLDERS.contains(&parts[at]);
    let name = if is_scattered { parts[at].to_owned() } else { parts[..=at].join("/") };
    Some(GeneratedTree { name, is_scattered })
}

impl GeneratedTree {
    /// Makes one entry of the tree.
    fn entry(&self, paths: &[&ChangedPath]) -> SummaryEntry {
        let Self { name, is_scattered } = self;
        let is_root = |path: &&&ChangedPath| path.path.ends_with(name) && (path.is_folder || path.inside.is_some());
        let mut counts = KindCounts::default();
        paths.iter().filter(|path| !path.is_folder || path.inside.is_some()).for_each(|path| counts.add(path));
        let mut roots = paths.iter().filter(is_root).map(|root| kind(root));
        // Several folders of one name are one thing only where the same was done to all of them.
        let of_root = match roots.next() {
            Some(first) if roots.all(|root| root == first) => first,
            _ => EntryKind::Changed,
        };
        let (kind, inside) = counts.told_of(of_root);
        let is_cache = counts.removed == 0 && CACHE_FOLDERS.iter().any(|cache| name.rsplit('/').next() == Some(*cache));
        let folders: std::collections::BTreeSet<&str> =
            paths.iter().filter_map(|path| Some(&path.path[..path.path.find(name)?])).collect();
        let place =
            if *is_scattered && folders.len() > 1 { format!(" in {} folders", folders.len()) } else { String::new() };
        let name = match folders.first() {
            Some(folder) if *is_scattered && folders.len() == 1 => format!("{}{name}/", one_line(folder)),
            _ => format!("{}/{place}", one_line(name)),
        };
        SummaryEntry { kind, name, inside, is_generated: true, is_cache }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(words: &[&str]) -> Vec<ChangedPath> {
        let path = |words: &&str| {
            let (sign, path) = words.split_at(1);
            let change = match sign {
                "-" => Change::Remove,
                "+" => Change::Create,
                _ => Change::Replace,
            };
            let (path, is_folder) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
            let is_replaced = sign == "!";
            ChangedPath { path: path.to_owned(), change, is_folder, is_replaced, inside: None, from: None }
        };
        words.iter().map(path).collect()
    }

    fn sentence(words: &[&str]) -> String {
        ChangeSummary::of(&paths(words)).sentence(6)
    }

    #[test]
    fn to_fill_a_cache_is_less_than_to_remove_it_or_to_change_a_file_of_the_project() {
        for cache in [&["+node_modules/.vite/a"][..], &["+src/__pycache__/", "~target/debug/x"], &["~node_modules/"]] {
            assert!(only_writes_generated(&paths(cache)), "{cache:?}");
        }
        for more in [&[][..], &["-node_modules/"], &["+target/a", "~src/a.rs"], &["~Cargo.lock"], &["-target/a"]] {
            assert!(!only_writes_generated(&paths(more)), "{more:?}");
        }
    }

    #[test]
    fn what_is_gone_is_named_first_and_generated_files_last() {
        assert_eq!(
            sentence(&["~Cargo.lock", "+a.rs", "~main.rs", "-old.rs", "!src/", "~target/x"]),
            "removed old.rs; replaced src; changed main.rs; created a.rs; changed Cargo.lock, target/ (1 file)"
        );
    }

    #[test]
    fn three_hundred_new_files_hide_no_removed_one() {
        let created: Vec<String> = (0..300).map(|number| format!("+n{number}")).collect();
        let mut words: Vec<&str> = created.iter().map(String::as_str).collect();
        words.extend(["-z1", "-z2", "-z3"]);
        assert_eq!(sentence(&words), "3 removed, 300 created: removed z1, z2, z3; created n0, n1, n10; and 297 more");
    }

    #[test]
    fn a_tree_that_programs_make_is_one_entry() {
        assert_eq!(
            sentence(&["+.venv/", "+.venv/bin/python", "+.venv/lib/x.py", "+web/node_modules/a/b.js", "+a.py"]),
            "created a.py, .venv/ (2 files), 1 file in web/node_modules/"
        );
        assert_eq!(
            sentence(&["-a/__pycache__/x.pyc", "+b/__pycache__/y.pyc", "~b/__pycache__/z.pyc"]),
            "changed __pycache__/ in 2 folders (1 removed, 1 changed, 1 created)"
        );
        assert_eq!(sentence(&["-build", "+src/target.rs"]), "removed build; created src/target.rs");
    }

    #[test]
    fn caches_that_were_filled_are_one_word_and_those_that_are_gone_are_named() {
        let filled = ["+a/__pycache__/x.pyc", "~b/__pycache__/z.pyc", "+.pytest_cache/", "+.pytest_cache/v"];
        assert_eq!(sentence(&filled), "changed caches");
        assert_eq!(sentence(&[&["~a.py"][..], &filled].concat()), "changed a.py; and caches");
        assert_eq!(sentence(&[&["~.git/index"][..], &filled].concat()), "changed .git/ (1 file); and caches");
        assert_eq!(sentence(&["-.pytest_cache/", "-.pytest_cache/v"]), "removed .pytest_cache/ (1 file)");
        assert_eq!(sentence(&["+dist/a.js", "+a/__pycache__/x.pyc"]), "created 1 file in dist/; and caches");
        // Many of them hide nothing else.
        let many: Vec<String> = (0..30).map(|number| format!("+p{number}/__pycache__/x.pyc")).collect();
        let mut words: Vec<&str> = many.iter().map(String::as_str).collect();
        words.push("-gone.py");
        assert_eq!(sentence(&words), "removed gone.py; and caches");
    }

    #[test]
    fn files_in_a_folder_are_counted_by_what_happened_to_them() {
        let tree = |change, inside| {
            let path = ".venv".to_owned();
            let path =
                ChangedPath { path, change, is_folder: true, is_replaced: false, inside: Some(inside), from: None };
            ChangeSummary::of(&[path]).sentence(6)
        };
        assert_eq!(tree(Change::Create, [970, 0, 0]), "created .venv/ (970 files)");
        assert_eq!(tree(Change::Replace, [970, 0, 0]), "created 970 files in .venv/");
        assert_eq!(tree(Change::Replace, [0, 0, 3]), "removed 3 files in .venv/");
        assert_eq!(tree(Change::Replace, [0, 8, 0]), "changed .venv/ (8 files)");
        // What was removed and made again is not twice there.
        assert_eq!(tree(Change::Replace, [250, 4, 250]), "changed .venv/ (250 removed, 4 changed, 250 created)");
        assert_eq!(tree(Change::Remove, [0, 0, 9]), "removed .venv/ (9 files)");
    }

    #[test]
    fn a_folder_with_everything_in_it_is_one_entry() {
        assert_eq!(sentence(&["-old/", "-old/a", "-old/b", "~m.rs"]), "removed old/ (2 files); changed m.rs");
        assert_eq!(sentence(&["+src/", "+src/a"]), "created src/a");
        assert_eq!(sentence(&["+src/", "+src/a", "+src/b", "+src/c", "+src/d"]), "created src/ (4 files)");
        assert_eq!(sentence(&["+empty/"]), "created empty");
    }

    #[test]
    fn files_of_git_are_counted_and_a_repository_that_is_gone_is_named() {
        assert_eq!(
            sentence(&["+.git/objects/ab/", "+.git/objects/ab/c", "~.git/index", "~a"]),
            "changed a; changed .git/ (1 changed, 1 created)"
        );
        assert_eq!(sentence(&["~.git/index", "~.git/HEAD"]), "changed .git/ (2 files)");
        assert_eq!(sentence(&["+.git/objects/ab/c"]), "created 1 file in .git/");
        assert_eq!(sentence(&["-.git/HEAD", "-.git/index"]), "removed .git/ (2 files)");
    }
}
