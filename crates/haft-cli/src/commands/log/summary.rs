//! What a change set did to files, in one line: counts, then the paths that matter most.
//!
//! A person looks for what is gone before what is new, and for their own files before generated ones. A folder that was
//! removed or made with everything in it is one name. Files inside `.git` are counted and not named.

use std::path::Path;

use haft::effect::Change;
use haft::path::one_line;
use haft_workspace::history::{ChangeSet, ChangedFile};

use crate::screen::columns_of;

/// Folders whose content programs make.
const GENERATED_FOLDERS: [&str; 14] = [
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
    ".mypy_cache",
];
/// How files end that programs make.
const GENERATED_ENDS: [&str; 8] = [".lock", "-lock.json", ".min.js", ".map", ".pyc", ".o", ".class", ".log"];
/// A new folder with more in it than this is one name.
const FEW: usize = 3;

/// Columns that names need at least beside the count of files inside `.git`.
const LEAST: usize = 16;

/// How many paths each kind of change concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) removed: usize,
    pub(super) replaced: usize,
    pub(super) changed: usize,
    pub(super) created: usize,
}

impl Counts {
    pub(super) fn of(set: &ChangeSet) -> Self {
        let mut counts = Self::default();
        for file in &set.files {
            if let Some([created, changed, removed]) = file.inside {
                let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                counts.created += count(created);
                counts.changed += count(changed);
                counts.removed += count(removed);
                continue;
            }
            match (file.change, file.is_replaced) {
                (Change::Remove, _) => counts.removed += 1,
                (_, true) => counts.replaced += 1,
                (Change::Replace, false) => counts.changed += 1,
                (Change::Create, false) => counts.created += 1,
            }
        }
        counts
    }

    fn in_words(self) -> String {
        let all = [("−", self.removed), ("⇄", self.replaced), ("~", self.changed), ("+", self.created)];
        let some = all.iter().filter(|(_, count)| *count > 0);
        some.map(|(sign, count)| format!("{sign}{count}")).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the files of a change set, those that matter most first.
pub(super) fn by_importance(set: &ChangeSet) -> Vec<&ChangedFile> {
    let mut files: Vec<&ChangedFile> = set.files.iter().collect();
    files.sort_by_key(|file| rank(file));
    files
}

/// Says what was done to files, in so many columns where that is possible.
pub(super) fn line(set: &ChangeSet, columns: usize) -> String {
    let counts = Counts::of(set).in_words();
    let (names, in_git) = names(set);
    let git = match in_git {
        0 => String::new(),
        1 => "  git: 1 file".to_owned(),
        count => format!("  git: {count} files"),
    };
    let room = columns.saturating_sub(width(&counts));
    match room.checked_sub(width(&git)) {
        Some(room) if room >= LEAST || names.is_empty() => format!("{counts}{}{git}", fitting(&names, room)),
        _ => format!("{counts}{}", fitting(&names, room)),
    }
}

/// Joins the names that fit, and counts the others. The first one is shown in any case.
fn fitting(names: &[String], room: usize) -> String {
    let mut shown = String::new();
    for (index, name) in names.iter().enumerate() {
        let left = names.len() - index - 1;
        let more = if left > 0 { format!("  and {left} more") } else { String::new() };
        let needed = width(&shown) + width(name) + width(&more) + 2;
        if needed > room && index > 0 {
            let left = left + 1;
            return format!("{shown}  and {left} more");
        }
        let space = if index == 0 { "  " } else { " " };
        shown.push_str(space);
        shown.push_str(&end_of(name, room.saturating_sub(width(&more) + 2)));
    }
    shown
}

/// Shortens a name at its beginning: its end tells more.
fn end_of(name: &str, columns: usize) -> String {
    let columns = columns.max(8);
    if width(name) <= columns {
        return name.to_owned();
    }
    let sign: String = name.chars().take(1).collect();
    let mut kept: Vec<char> = Vec::new();
    let mut used = 2;
    for c in name.chars().rev() {
        used += columns_of(c);
        if used > columns {
            break;
        }
        kept.push(c);
    }
    format!("{sign}…{}", kept.iter().rev().collect::<String>())
}

/// Returns the names to show with their signs, those that matter most first, and how many files inside `.git` there are.
fn names(set: &ChangeSet) -> (Vec<String>, usize) {
    let (in_git, files): (Vec<&ChangedFile>, Vec<&ChangedFile>) =
        set.files.iter().partition(|file| is_in_git(&file.path));
    let mut shown: Vec<(Rank<'_>, String)> = Vec::new();
    let mut index = 0;
    while let Some(file) = files.get(index) {
        let inside = files[index + 1..].iter().take_while(|other| is_within(other, file)).count();
        if let Some(counts) = file.inside {
            index += 1;
            let all: u64 = counts.iter().sum();
            shown.push((rank(file), format!("{}{}/ ({all})", sign(file), one_line(&file.path))));
            continue;
        }
        let is_one_name = file.is_folder
            && match file.change {
                Change::Remove => true,
                Change::Create => inside > FEW,
                Change::Replace => false,
            };
        index += 1 + if is_one_name { inside } else { 0 };
        if is_one_name {
            let count = if inside > 0 { format!(" ({inside})") } else { String::new() };
            shown.push((rank(file), format!("{}{}/{count}", sign(file), one_line(&file.path))));
        } else if !(file.is_folder && inside > 0) {
            shown.push((rank(file), format!("{}{}", sign(file), one_line(&file.path))));
        }
    }
    shown.sort();
    (shown.into_iter().map(|(_, name)| name).collect(), in_git.iter().filter(|file| !file.is_folder).count())
}

/// Returns whether a path is in a folder, and the same was done to both.
fn is_within(file: &ChangedFile, folder: &ChangedFile) -> bool {
    let below = file.path.strip_prefix(&folder.path).is_some_and(|rest| rest.starts_with('/'));
    below && folder.is_folder && file.change == folder.change
}

fn sign(file: &ChangedFile) -> &'static str {
    match (file.change, file.is_replaced) {
        (Change::Remove, _) => "−",
        (_, true) => "⇄",
        (Change::Replace, false) => "~",
        (Change::Create, false) => "+",
    }
}

/// Whether it is inside `.git`, stays, or is generated; then the kind of change, and the path.
type Rank<'a> = (bool, bool, bool, u8, &'a str);

fn rank(file: &ChangedFile) -> Rank<'_> {
    let kind = match (file.change, file.is_replaced) {
        (Change::Remove, _) => 0,
        (_, true) => 1,
        (Change::Replace, false) => 2,
        (Change::Create, false) => 3,
    };
    (is_in_git(&file.path), kind > 1, is_generated(&file.path), kind, &file.path)
}

fn is_in_git(path: &str) -> bool {
    Path::new(path).iter().any(|part| part == ".git")
}

fn is_generated(path: &str) -> bool {
    let in_folder = Path::new(path).iter().any(|part| GENERATED_FOLDERS.iter().any(|folder| part == *folder));
    in_folder || GENERATED_ENDS.iter().any(|end| path.ends_with(end))
}

/// Returns how many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_workspace::history::{Kind, Undone};

    fn set(files: &[&str]) -> ChangeSet {
        let files = files.iter().map(|words| {
            let (sign, path) = words.split_at(1);
            let change = match sign {
                "-" => Change::Remove,
                "+" => Change::Create,
                _ => Change::Replace,
            };
            let (path, is_folder) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
            ChangedFile { path: path.to_owned(), change, is_folder, is_replaced: sign == "!", inside: None }
        });
        ChangeSet {
            number: 1,
            at: 0,
            tool: "bash".into(),
            call: "1".into(),
            session: "s".into(),
            turn: 1,
            agent: None,
            command: None,
            description: None,
            kind: Kind::Change,
            files: files.collect(),
            undone: Undone::No,
        }
    }

    #[test]
    fn what_is_gone_is_named_first_and_generated_files_last() {
        let set = set(&["~Cargo.lock", "+a.rs", "~main.rs", "-old.rs", "!src/", "~target/x"]);
        assert_eq!(line(&set, 200), "−1 ⇄1 ~3 +1  −old.rs ⇄src ~main.rs +a.rs ~Cargo.lock ~target/x");
    }

    #[test]
    fn a_folder_with_everything_in_it_is_one_name() {
        let removed = set(&["-node_modules/", "-node_modules/a", "-node_modules/b", "~src/main.rs"]);
        assert_eq!(line(&removed, 100), "−3 ~1  −node_modules/ (2) ~src/main.rs");
        let few = set(&["+src/", "+src/a"]);
        assert_eq!(line(&few, 100), "+2  +src/a");
        let many = set(&["+src/", "+src/a", "+src/b", "+src/c", "+src/d"]);
        assert_eq!(line(&many, 100), "+5  +src/ (4)");
        assert_eq!(line(&set(&["+empty/"]), 100), "+1  +empty");
    }

    #[test]
    fn files_inside_git_are_counted() {
        let set = set(&["+.git/objects/ab/", "+.git/objects/ab/c", "~.git/index", "~a"]);
        assert_eq!(line(&set, 100), "~2 +2  ~a  git: 2 files");
    }

    #[test]
    fn a_narrow_terminal_shows_what_fits() {
        let set = set(&["~a/very/long/path/to/some/file.rs", "~b", "~c"]);
        for columns in [20, 30, 33, 40, 60] {
            let line = line(&set, columns);
            assert!(width(&line) <= columns.max(30), "{columns}: {line}");
        }
        assert_eq!(line(&set, 34), "~3  ~…/to/some/file.rs  and 2 more");
    }
}
